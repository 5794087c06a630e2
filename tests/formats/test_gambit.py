"""Gambit's files: compared with Gambit's own results on the same games, and with known games."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import gambit
from riverboat.core.errors import GameFileError, InputError, RecallError, ZeroSumError
from riverboat.formats.gambit import load_efg, load_nfg, loads_efg, loads_nfg
from riverboat.games.base import CHANCE, TERMINAL, HistoryGame
from riverboat.games.registry import game_from_spec
from riverboat.trees.history import HistoryTree, unroll
from riverboat.trees.public import PublicTree

DATA = gambit.DATA
EFG = sorted(DATA.glob("*.efg"))
NFG = sorted(DATA.glob("*.nfg"))
GAMBIT = gambit.load()
HEAD = 'EFG 2 R "test" { "A" "B" }\n'


def preorder(game: Any) -> list[Any]:
    work, found = [game.root()], []
    while work:
        state = work.pop()
        found.append(state)
        work += [state.child(k) for k in reversed(range(len(state.actions())))]
    return found


def assert_same_tree(ours: Any, theirs: gambit.Facts) -> None:
    """Compare shape, actors, labels, probabilities, information sets and payoffs."""
    assert ours.players == theirs["players"]
    sets: dict[int, str] = {}
    for state, (kind, *facts) in zip(preorder(ours), theirs["nodes"], strict=True):
        if kind == "end":
            assert state.actor == TERMINAL
            assert state.payoffs() == pytest.approx(facts[0], abs=1e-12)
            continue
        labels = facts[0] if kind == "chance" else facts[1]
        assert all(a == b or b.startswith("_") for a, b in zip(state.actions(), labels, strict=True))
        assert len(set(state.actions())) == len(labels)
        if kind == "chance":
            assert state.actor == CHANCE
            assert state.probabilities() == pytest.approx(facts[1])
        else:
            assert state.actor == kind
            assert sets.setdefault(facts[0], state.infoset()) == state.infoset()
    assert len(set(sets.values())) == len(sets)
    assert_same_payoffs(ours, theirs, list(sets.values()))


def expected(tree: HistoryTree, choose: Callable[[int], Any]) -> Any:
    """Return the expected payoff of each player if information set i is played by the probabilities `choose(i)`."""
    reach = np.zeros(len(tree.nodes.actor))
    reach[0] = 1.0
    total = np.zeros(tree.players)
    for node, actor in enumerate(tree.nodes.actor):
        place, width = tree.nodes.data[node], tree.nodes.width[node]
        if actor == TERMINAL:
            total += reach[node] * tree.payoffs[place]
            continue
        chances = tree.chance[place : place + width] if actor == CHANCE else choose(int(tree.node_infoset[node]))
        for child, p in zip(tree.children(node), chances, strict=True):
            reach[child] = reach[node] * p
    return total


def assert_same_payoffs(ours: Any, theirs: gambit.Facts, sets: list[str]) -> None:
    """Compare the payoffs of mixed and pure profiles."""
    tree = HistoryTree.from_game(ours)
    info = list(tree.infosets())
    widths = {i.name: len(i.actions) for i in info}
    assert set(widths) == set(sets)
    for plan, values in zip(gambit.plans([widths[name] for name in sets]), theirs["values"], strict=True):
        play = dict(zip(sets, plan, strict=True))
        assert expected(tree, lambda i, play=play: play[info[i].name]) == pytest.approx(values)  # type: ignore[misc]


def assert_same_table(ours: Any, theirs: gambit.Facts) -> None:
    assert [list(labels) for labels in ours.labels] == theirs["labels"]
    assert len(theirs["cells"]) * ours.players == ours.table.size
    for cell, payoffs in theirs["cells"]:
        assert ours.table[tuple(cell)].tolist() == pytest.approx(payoffs)


# --- comparison with Gambit ---


@pytest.mark.parametrize("name", GAMBIT["trees"])
def test_trees_agree_with_gambit(name: str) -> None:
    """Our own files, and random games as Gambit writes them."""
    theirs = GAMBIT["trees"][name]
    written = loads_efg(theirs["written"])
    assert_same_tree(written, theirs)
    if name.startswith("random"):
        assert written.name == name
    if name.endswith(".efg"):
        ours = load_efg(DATA / name)
        assert isinstance(ours, HistoryGame)
        assert (f"{ours.name}.efg", ours.unit) == (name, "points")
        assert_same_tree(ours, theirs)


@pytest.mark.parametrize("name", GAMBIT["tables"])
def test_tables_agree_with_gambit(name: str) -> None:
    theirs = GAMBIT["tables"][name]
    assert_same_table(loads_nfg(theirs["written"]), theirs)
    if name.endswith(".nfg"):
        ours = load_nfg(DATA / name)
        assert isinstance(ours, HistoryGame)
        assert (f"{ours.name}.nfg", ours.unit) == (name, "points")
        assert_same_table(ours, theirs)


def test_every_file_has_a_recorded_result() -> None:
    assert {path.name for path in EFG} <= set(GAMBIT["trees"])
    assert {path.name for path in NFG} <= set(GAMBIT["tables"])


needs_gambit = pytest.mark.skipif(find_spec("pygambit") is None, reason="needs riverboat[peers]")


@needs_gambit
@pytest.mark.slow
def test_recorded_results_agree_with_gambit() -> None:
    now, recorded = gambit.ask(), gambit.load()
    for kind in ("trees", "tables"):
        assert now[kind].keys() >= recorded[kind].keys()
        for name, facts in recorded[kind].items():
            assert now[kind][name] == facts, name


@needs_gambit
@pytest.mark.slow
def test_the_catalogue_of_gambit() -> None:
    import pygambit as gbt

    for _, game in gambit.catalogue(gbt):
        if game.is_tree:
            assert_same_tree(loads_efg(game.to_efg()), gambit.tree_facts(game))
        text = game.to_nfg()
        assert_same_table(loads_nfg(text), gambit.table_facts(gambit.read(gbt.read_nfg, text)))


# --- known games ---


def test_kuhn_agrees_with_the_native_kuhn() -> None:
    tree = HistoryTree.from_game(load_efg(DATA / "kuhn.efg"))
    native = unroll(PublicTree(game_from_spec("kuhn")))
    assert tree.infoset_count == native.infoset_count == 12
    assert tree.shared
    for player in (0, 1):
        tree.check_recall(player)
    tree.check_zero_sum()
    uniform = [expected(t, lambda i: (0.5, 0.5)) for t in (tree, native)]
    assert uniform[0] == pytest.approx(uniform[1])
    assert uniform[0] == pytest.approx([0.125, -0.125])
    # The native names are a card and a line; those of the file say the same in words.
    lines = {"": "", ":c": " after a check", ":r": " after a bet", ":cr": " after check, bet"}
    words = {i.name: i.name[0] + lines[i.name[1:] if i.player or len(i.name) > 2 else ""] for i in native.infosets()}
    rng = np.random.default_rng(3)
    plan = {words[i.name]: rng.dirichlet(np.ones(2)) for i in native.infosets()}
    ours, theirs = list(tree.infosets()), list(native.infosets())
    assert expected(tree, lambda i: plan[ours[i].name]) == pytest.approx(
        expected(native, lambda i: plan[words[theirs[i].name]])
    )


def test_by_file_name() -> None:
    game = game_from_spec(str(DATA / "horse.efg"))
    assert isinstance(game, HistoryGame)
    assert game.players == 3
    assert game_from_spec(str(DATA / "named.nfg")).name == "named"


def test_outcomes_are_summed_along_the_path() -> None:
    start = load_efg(DATA / "tolls.efg").root()
    high, low = start.child(0), start.child(1)
    assert start.actions() == ("high", "low")
    assert start.infoset() == 'which "road"?'
    assert (high.probabilities(), high.infoset()) == ((1 / 3, 2 / 3), "")
    assert high.child(0).child(0).payoffs() == pytest.approx((-0.5 - 0.125 + 3, 0.5 + 1))
    assert high.child(0).child(1).payoffs() == pytest.approx((-0.5 - 0.125 - 2, 0.5 - 0.5))
    assert high.child(1).child(0).payoffs() == pytest.approx((-0.5 - 0.125 - 0.5 + 3, 0.5 + 0.5 + 1))
    assert high.child(1).child(1).payoffs() == pytest.approx((-0.5 - 0.125 - 0.5, 0.5 + 0.5))
    assert high.child(0).infoset() == high.child(1).infoset() == "town"
    assert low.child(0).payoffs() == pytest.approx((-0.5 + 10 - 2, 0.5 + 2.5 - 0.5))
    assert low.child(1).child(0).payoffs() == pytest.approx((-0.5 + 10 - 0.5 + 3, 0.5 + 2.5 + 0.5 + 1))


def test_labels_and_names_are_unique() -> None:
    root = load_efg(DATA / "labels.efg").root()
    assert root.actions() == ("go_1", "go_2", "stop", "m4")
    assert root.child(1).actions() == ("go_2", "go_1", "go_3")
    assert root.child(2).actions() == ("m2", "m1")
    states = [root, root.child(1), root.child(2), root.child(3), root.child(3).child(0)]
    assert [s.infoset() for s in states] == ["P1.1", "P1.2", "P2.1", "P2.2", "own"]


def test_infosets_of_one_player_may_share_a_name() -> None:
    tail = 't "" 0\n'
    game = loads_efg(HEAD + 'p "" 1 1 "same" { "a" } 0\np "" 1 2 "same" { "a" } 0\np "" 2 2 "P9.9" { "a" } 0\n' + tail)
    states = [game.root(), game.root().child(0), game.root().child(0).child(0)]
    assert [s.infoset() for s in states] == ["P1.1", "P1.2", "P9.9"]


def test_imperfect_recall_is_rejected_by_name() -> None:
    tree = HistoryTree.from_game(load_efg(DATA / "forgetful.efg"))
    tree.check_zero_sum()
    tree.check_recall(1)
    with pytest.raises(RecallError, match=r"forgetful: .* 'second'"):
        tree.check_recall(0)
    driver = loads_efg(HEAD + 'p "" 1 1 "exit?" { "on" "off" } 0\np "" 1 1 0\nt "" 0\nt "" 0\nt "" 0\n')
    with pytest.raises(RecallError, match=r"exit\?"):
        HistoryTree.from_game(driver).check_recall(0)


def test_general_sum_games_are_rejected() -> None:
    with pytest.raises(ZeroSumError, match="tolls"):
        HistoryTree.from_game(load_efg(DATA / "tolls.efg")).check_zero_sum()
    with pytest.raises(ZeroSumError, match="3 players"):
        HistoryTree.from_game(load_efg(DATA / "horse.efg")).check_zero_sum()


def test_deep_trees() -> None:
    depth = 20_000
    nodes = "".join(f'p "" {k % 2 + 1} {k} "" {{ "on" "off" }} 0\nt "" 1 "" {{ {1} {-1} }}\n' for k in range(depth))
    game = loads_efg(HEAD + nodes + 't "" 0\n')
    assert len(game.nodes) == 2 * depth + 1
    tree = HistoryTree.from_game(game)
    assert (tree.infoset_count, tree.depth) == (depth, depth + 1)
    with pytest.raises(GameFileError, match=f"line {2 * depth} ") as caught:
        loads_efg(HEAD + nodes)
    assert caught.value.line == 2 * depth + 1


def test_one_player_and_one_node() -> None:
    game = loads_efg('EFG 2 R "solo" { "Me" }\nt "" 1 "o" { 7 }')
    assert (game.name, game.players, game.root().actor, game.root().payoffs()) == ("solo", 1, TERMINAL, (7.0,))
    table = loads_nfg('NFG 1 R "solo" { "Me" } { 2 } 1 2')
    assert (table.name, table.players, table.table.tolist()) == ("solo", 1, [[1.0], [2.0]])


def test_names() -> None:
    assert loads_efg('EFG 2 R "title" { "A" } t "" 0', name="mine").name == "mine"
    assert loads_efg('EFG 2 R "" { "A" } t "" 0').name == "efg"
    assert loads_nfg('NFG 1 R "" { "A" } { 1 } 0').name == "nfg"
    assert loads_efg('EFG 2 R "a \\"b\\" \\\\ \\n" { "A" } t "" 0').name == 'a "b" \\ \\n'


@pytest.mark.parametrize(
    ("word", "value"),
    [("7", 7), ("-7", -7), ("+7.", 7), (".5", 0.5), ("-1.5E-2", -0.015), ("1e3", 1000), ("-1/3", -1 / 3), ("007", 7)],
)
def test_numbers(word: str, value: float) -> None:
    assert loads_efg(f'EFG 2 R "" {{ "A" }} t "" 1 "" {{{word}}}').root().payoffs() == (value,)
    assert loads_nfg(f'NFG 1 R "" {{ "A" }} {{ 1 }} {word}').table.tolist() == [[value]]


def test_spacing_and_commas_do_not_matter(tmp_path: Path) -> None:
    plain = HEAD + 'c "" 1 "" { "a" 1/2 "b" 1/2 } 0\nt "" 1 "o" { 1 2 }\nt "" 2 "p" { 3 4 }\n'
    dense = plain.replace("\n", " ").replace(" 1 2 ", "1,2").replace("{ 3 4 }", "{3 ,\t4,}").replace('" "', '"\r\n, "')
    assert [s.payoffs() for s in leaves(loads_efg(dense))] == [s.payoffs() for s in leaves(loads_efg(plain))]
    windows = tmp_path / "windows.efg"
    windows.write_bytes(b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    assert [s.payoffs() for s in leaves(load_efg(windows))] == [(1.0, 2.0), (3.0, 4.0)]


def leaves(game: Any) -> list[Any]:
    return [node for node in game.nodes if node.actor == TERMINAL]


# --- random trees ---

LABELS = st.text(alphabet='ab"\\ {},\n/é', min_size=1, max_size=4)
NUMBERS = st.one_of(
    st.integers(-99, 99).map(lambda x: (str(x), float(x))),
    st.fractions(-9, 9, max_denominator=9).map(lambda x: (str(x), x.numerator / x.denominator)),
    st.floats(-1e20, 1e20).map(lambda x: (repr(x), x)),
)


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Writer:
    """Draws a tree node by node, writes it as a file, and records what a reader should find."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw
        self.players = draw(st.integers(1, 3))
        self.lines = [f"EFG 2 R {quote(draw(LABELS))} {{ {' '.join(quote('P') for _ in range(self.players))} }}"]
        if draw(st.booleans()):
            self.lines.append(quote(draw(LABELS)))
        self.sets: dict[tuple[int, int], tuple[str, list[str], list[tuple[int, int]]]] = {}
        self.outcomes: dict[int, list[tuple[str, float]]] = {}
        self.nodes: list[tuple[int, int, list[str], list[float], list[float]]] = []
        self.node(3, [0.0] * self.players)

    def node(self, depth: int, before: list[float]) -> None:
        player = self.draw(st.integers(-2 if self.nodes else -1, self.players - 1)) if depth else TERMINAL
        place = len(self.nodes)
        self.nodes.append((TERMINAL, 0, [], [], []))
        if player == TERMINAL:
            total, outcome = self.outcome(before)
            self.lines.append(f"t {quote(self.draw(LABELS))} {outcome}")
            self.nodes[place] = (TERMINAL, 0, [], [], total)
            return
        number = self.draw(st.integers(1, 3))
        mover = "c" if player == CHANCE else f"p {player + 1}"
        kind, _, owner = mover.partition(" ")
        known = (player, number) in self.sets
        if not known:
            moves = self.draw(st.lists(LABELS, min_size=1, max_size=3, unique=True))
            weights = [self.draw(st.integers(1, 9)) for _ in moves]
            odds = [(w, sum(weights)) for w in weights]
            self.sets[player, number] = self.draw(st.just("") | LABELS), moves, odds
        name, moves, odds = self.sets[player, number]
        shown = [quote(m) + (f" {a}/{b}" if player == CHANCE else "") for m, (a, b) in zip(moves, odds, strict=True)]
        definition = f"{quote(name)} {{ {' '.join(shown)} }}" if not known or self.draw(st.booleans()) else ""
        total, outcome = self.outcome(before)
        self.lines.append(f"{kind} {quote('')} {owner} {number} {definition} {outcome}")
        self.nodes[place] = (player, number, moves, [a / b for a, b in odds], total)
        for _ in moves:
            self.node(depth - 1, total)

    def outcome(self, before: list[float]) -> tuple[list[float], str]:
        number = self.draw(st.integers(0, 4))
        if number == 0:
            return before, "0"
        known = number in self.outcomes
        if not known:
            self.outcomes[number] = [self.draw(NUMBERS) for _ in range(self.players)]
        words = self.draw(st.sampled_from([" ", ", ", ","])).join(word for word, _ in self.outcomes[number])
        text = f' "o" {{ {words} }}' if not known or self.draw(st.booleans()) else ""
        return [a + b for a, (_, b) in zip(before, self.outcomes[number], strict=True)], f"{number}{text}"


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_trees_round_trip(data: st.DataObject) -> None:
    written = Writer(data.draw)
    game = loads_efg("\n".join(written.lines))
    assert game.players == written.players
    found: dict[tuple[int, int], str] = {}
    work, visited = [game.root()], []
    while work:
        state = work.pop()
        visited.append(state)
        work += [state.child(k) for k in reversed(range(len(state.actions())))]
    for state, (actor, number, moves, odds, total) in zip(visited, written.nodes, strict=True):
        assert state.actor == actor
        assert state.actions() == tuple(moves)
        if actor == TERMINAL:
            assert state.payoffs() == tuple(total)
        elif actor == CHANCE:
            assert state.probabilities() == tuple(odds)
        else:
            assert found.setdefault((actor, number), state.infoset()) == state.infoset()
    assert len(set(found.values())) == len(found)
    tree = HistoryTree.from_game(game)
    assert (tree.infoset_count, len(tree.nodes.actor)) == (len(found), len(visited))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_files_raise_game_file_errors(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([*EFG, *NFG]))
    text = path.read_text()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 30)))
    damaged = text[:start] + data.draw(st.text(alphabet='"{}\\ \n,ctp019-/.eER', max_size=4)) + text[stop:]
    problem = None
    try:
        (loads_efg if path.suffix == ".efg" else loads_nfg)(damaged)
    except GameFileError as error:
        problem = error
    assert problem is None or (problem.problem and 1 <= problem.line <= damaged.count("\n") + 1)


# --- malformed files ---

PLAY = 'p "" 1 1 "i" { "a" "b" } 0\n'
ENDS = 't "" 1 "o" { 1 2 }\nt "" 2 "p" { 3, 4 }\n'
BAD_EFG = {
    "empty": ("", 1, "EFG"),
    "other format": ('\nNFG 1 R "" { "A" }', 2, "found NFG"),
    "version": (HEAD.replace("2", "3"), 1, "EFG version 3"),
    "kind": (HEAD.replace("R", "X"), 1, "found X"),
    "title": ('EFG 2 R { "A" }', 1, "found {"),
    "no players": ('EFG 2 R "t"\n{ }', 2, "players"),
    "player is a number": ('EFG 2 R "t" {\n2 }', 2, "found 2 (after line 1)"),
    "players not closed": ('EFG 2 R "t" { "A"\n', 1, "a player's name"),
    "no nodes": (HEAD + '"comment"\n\n', 2, "no nodes"),
    "two comments": (
        HEAD + '"comment"\n"another"\n' + PLAY + ENDS,
        3,
        'found "another" (after line 2)',
    ),
    "node": (HEAD + PLAY + 'x "" 1\n', 3, "found x (after line 2)"),
    "long token": (HEAD + "x" * 50, 2, f"found {'x' * 40}…"),
    "node name": (HEAD + "p 1 1\n", 2, "the node's name in quotes, but found 1"),
    "never ends": (HEAD + PLAY + 't "" 1 "o\n { 1 2 }\n', 3, '"'),
    "player": (HEAD + PLAY.replace("1 1", "3 1") + ENDS, 2, "player 3"),
    "player zero": (HEAD + PLAY.replace("1 1", "0 1") + ENDS, 2, "player 0"),
    "player no number": (
        HEAD + PLAY.replace("1 1", "one 1") + ENDS,
        2,
        "found one",
    ),
    "huge number": (HEAD + PLAY.replace("1 1", "1 " + "9" * 5000), 2, "the information set"),
    "underscore": (HEAD + 't "" 1 "" { 1_0 2 }', 2, "but found 1_0"),
    "undefined set": (
        HEAD + 'p "" 1 5 0\n' + ENDS,
        2,
        "information set 5 of player 1",
    ),
    "no moves": (HEAD + 'p "" 1 1 "i" { } 0\n', 2, "information set 1 of player 1"),
    "moves not closed": (HEAD + 'p "" 1 1 "i" { "a" "b" 0\n' + ENDS, 2, "in quotes, but found 0"),
    "other moves": (
        HEAD + PLAY + PLAY.replace('"b"', '"c"') + ENDS + 't "" 0',
        3,
        '{ "a" "b" } in line 2, but here { "a" "c" }',
    ),
    "fewer moves": (
        HEAD + PLAY + PLAY.replace('"b"', "") + ENDS,
        3,
        '{ "a" "b" } in line 2, but here { "a" }',
    ),
    "other name": (
        HEAD + PLAY + PLAY.replace('"i"', '"j"') + ENDS + 't "" 0',
        3,
        '"i" in line 2, but here "j"',
    ),
    "no outcome": (
        HEAD + 'p "" 1 1 "i" { "a" "b" }\n' + ENDS,
        3,
        "found t (after line 2)",
    ),
    "unknown outcome": (
        HEAD + PLAY + 't "" 1\nt "" 1 "o" { 1 2 }\n',
        3,
        "outcome 1 ",
    ),
    "missing payoffs": (HEAD + PLAY + 't "" 1 "o"\nt "" 0\n', 3, "outcome 1 "),
    "few payoffs": (HEAD + PLAY + 't "" 1 "o" { 1 }\nt "" 0\n', 3, "outcome 1 has 1 "),
    "many payoffs": (HEAD + PLAY + 't "" 0\nt "" 1 "o" { 1 2 3 }\n', 4, "outcome 1 has 3 "),
    "payoffs not closed": (HEAD + PLAY + 't "" 1 "o" { 1 2\nt "" 0', 4, "found t (after line 3)"),
    "not a number": (
        HEAD + PLAY + 't "" 1 "o" { 1 two }\nt "" 0',
        3,
        "found two",
    ),
    "nan": (HEAD + PLAY + 't "" 1 "o" { 1 nan }\nt "" 0', 3, "found nan"),
    "by zero": (HEAD + PLAY + 't "" 1 "o" { 1 1/0 }\nt "" 0', 3, "1/0 "),
    "too large": (HEAD + PLAY + 't "" 1 "o" { 1\n1e999 }\nt "" 0', 4, "1e999 "),
    "other payoffs": (
        HEAD + PLAY + 't "" 1 "o" { 1 2 }\nt "" 1 "o" { 1 2.5 }\n',
        4,
        "1 2 in line 3, but here 1 2.5",
    ),
    "outcome zero": (HEAD + PLAY + 't "" 0 "o" { 1 2 }\n', 3, "outcome 0 "),
    "outcome zero, unnamed": (HEAD + PLAY + 't "" 0 { 1 2 }\n', 3, "outcome 0 "),
    "sum": (
        HEAD + PLAY + 'c "" 1 "i" { "a" 1/2 "b" 0.4 } 0\n' + ENDS,
        3,
        "information set 1 of chance sum to 0.9",
    ),
    "sum of rounded thirds": (
        HEAD + 'c "" 1 "" { "a" .333333 "b" .333333 "c" .333333 } 0\n',
        2,
        "sum to 0.999999",
    ),
    "sum, in many lines": (HEAD + 'c "" 1 "" {\n"a" 1/2\n"b" 1/4\n} 0\n' + ENDS, 2, "sum to 0.75"),
    "negative": (HEAD + 'c "" 1 "" { "a" -1/2 "b" 3/2 } 0\n' + ENDS, 2, "a probability of -0.5"),
    "no probability": (
        HEAD + 'c "" 1 "" { "a" "b" } 0\n' + ENDS,
        2,
        'found "b"',
    ),
    "other probabilities": (
        HEAD + 'c "" 1 "" { "a" 1/2 "b" 1/2 } 0\nt "" 0\nc "" 1 "" { "a" 1/4 "b" 3/4 } 0\n',
        4,
        '{ "a" 0.5 "b" 0.5 } in line 2, but here { "a" 0.25 "b" 0.75 }',
    ),
    "ends early": (HEAD + PLAY + 't "" 0\n\n\n', 3, "the node in line 2"),
    "ends in a node": (HEAD + PLAY + 't ""\n', 3, "the outcome"),
    "more nodes": (HEAD + PLAY + ENDS + '\nt "" 0\n', 6, "found t"),
}


@pytest.mark.parametrize(("text", "line", "problem"), BAD_EFG.values(), ids=BAD_EFG.keys())
def test_malformed_trees(text: str, line: int, problem: str) -> None:
    with pytest.raises(GameFileError) as caught:
        loads_efg(text, name="bad")
    assert problem in caught.value.problem
    assert (caught.value.path, caught.value.line) == ("bad", line)
    assert str(caught.value).startswith(f"bad, line {line}: ")


TABLE = 'NFG 1 R "t" { "A" "B" }'
LISTED = TABLE + ' { 2 1 }\n{ { "x" 1 2 }\n{ "y" 3 4 } }\n'
BAD_NFG = {
    "version": (TABLE.replace("1", "2"), 1, "NFG version 2"),
    "no strategies": (TABLE + "\n1 2", 2, "found 1 (after line 1)"),
    "few players": (TABLE + "\n{ 2 }\n1 2 3 4", 2, "1 players for 2 players"),
    "empty": (TABLE + "\n{ 2 0 }\n", 2, "0 strategies"),
    "empty list": (TABLE + '\n{ { "a" }\n{ } }\n', 3, "0 strategies"),
    "strategy": (TABLE + '\n{ { "a" b } }\n', 2, "found b"),
    "few": (TABLE + " { 2 2 }\n1 2 3 4\n5 6 7\n", 3, "player 2 for combination 4 of 4"),
    "more": (TABLE + " { 2 1 }\n1 2 3 4\n5\n", 3, "found 5"),
    "word": (TABLE + " { 2 1 }\n1 2\n3 x\n", 3, "found x"),
    "outcome with few": (TABLE + ' { 1 1 }\n{ { "x" 1 } } 1\n', 2, 'player 2 in outcome "x"'),
    "outcome with more": (
        TABLE + ' { 1 1 }\n{ { "x" 1 2 3 } } 1\n',
        2,
        'outcome "x"',
    ),
    "no such outcome": (LISTED + "1\n3\n", 5, "outcome 3: "),
    "negative outcome": (LISTED + "1 -1\n", 4, "outcome -1: "),
    "few outcomes": (LISTED + "1\n", 4, "combination 2 of 2"),
    "more outcomes": (LISTED + "1 2 2\n", 4, "found 2"),
    "huge": (TABLE + " { 999999999 999999999 }\n1 2", 2, "combination 2 of 999999998000000001"),
}


@pytest.mark.parametrize(("text", "line", "problem"), BAD_NFG.values(), ids=BAD_NFG.keys())
def test_malformed_tables(text: str, line: int, problem: str) -> None:
    with pytest.raises(GameFileError) as caught:
        loads_nfg(text)
    assert problem in caught.value.problem
    assert (caught.value.path, caught.value.line) == ("<nfg>", line)


def test_malformed_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.efg"
    path.write_text(HEAD + PLAY)
    with pytest.raises(GameFileError, match=r"bad\.efg, line 2: ") as caught:
        load_efg(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("load", [load_efg, load_nfg])
def test_unreadable_files(load: Callable[[Path], Any], tmp_path: Path) -> None:
    binary = tmp_path / "binary.efg"
    binary.write_bytes(b"EFG 2 R \xff\xfe")
    for path in (tmp_path / "missing.efg", tmp_path, binary):
        with pytest.raises(InputError, match=r"^game file ") as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert not isinstance(caught.value, GameFileError)
