"""OpenSpiel games as trees, and conversion of strategies to OpenSpiel policies and back."""

from __future__ import annotations

import builtins
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy as policies  # noqa: E402
from open_spiel.python.algorithms import expected_game_score, exploitability  # noqa: E402

from pyspiel_kinds import small_game_type  # noqa: E402
from riverboat.core.errors import InputError  # noqa: E402
from riverboat.formats.open_spiel_games import load_open_spiel_game  # noqa: E402
from riverboat.games import registry  # noqa: E402
from riverboat.games.base import CHANCE, TERMINAL, ComparisonPayoff, HistoryGame  # noqa: E402
from riverboat.strategies.open_spiel import from_open_spiel, to_open_spiel  # noqa: E402
from riverboat.strategies.tabular import Strategy, Tree  # noqa: E402
from riverboat.trees.compile import compile_game, to_history_tree  # noqa: E402
from riverboat.trees.history import HistoryTree  # noqa: E402

KUHN, LEDUC = "open_spiel:kuhn_poker", "open_spiel:leduc_poker"
DICE = "open_spiel:liars_dice(dice_sides=3)"
RPS = "open_spiel:matrix_rps"
GOOFSPIEL = "open_spiel:goofspiel(num_cards=3,imp_info=True)"
ORDERED_GOOFSPIEL = "open_spiel:goofspiel(num_cards=4,imp_info=True,points_order=descending)"
HANABI, BRIDGE = "open_spiel:tiny_hanabi", "open_spiel:tiny_bridge_2p"
LOADED = [KUHN, LEDUC, DICE, RPS, GOOFSPIEL, ORDERED_GOOFSPIEL, HANABI, "open_spiel:python_kuhn_poker"]
NATIVE = ["kuhn", "leduc", "kuhn:cards=5", "kuhn:cards=4,suits=2,cap=3", "kuhn:stack=5,cards=4", "leduc:ranks=2,cap=1"]


def tree_of(spec: str) -> Tree:
    return compile_game(registry.game_from_spec(spec))


def random_strategy(tree: Tree, seed: int) -> Strategy:
    """Return random weights, some of them zero."""
    random = np.random.default_rng(seed)
    return Strategy.from_sums(tree, random.exponential(size=tree.table_size) * (random.random(tree.table_size) < 0.8))


def counts(tree: HistoryTree) -> tuple[int, int, int, int]:
    """Return the numbers of chance nodes, decisions, terminals and information sets."""
    actor = tree.nodes.actor
    return int((actor == CHANCE).sum()), int((actor >= 0).sum()), int((actor == TERMINAL).sum()), tree.infoset_count


def own_counts(game: Any) -> tuple[int, int, int, int]:
    """Return the same numbers by recursion over pyspiel's states."""
    chance = decisions = terminals = 0
    infosets = set()
    work = [game.new_initial_state()]
    while work:
        state = work.pop()
        if state.is_terminal():
            terminals += 1
            continue
        if state.is_chance_node():
            chance += 1
        else:
            decisions += 1
            infosets.add((state.current_player(), state.information_state_string()))
        work.extend(state.child(action) for action in state.legal_actions())
    return chance, decisions, terminals, len(infosets)


def value(strategy: Strategy) -> np.ndarray:
    """Return the expected payoffs by recursion over the histories. [players]"""
    tree = to_history_tree(strategy.tree)
    table = strategy.probabilities if tree is strategy.tree else strategy.probabilities[tree.origin]

    def below(node: int) -> np.ndarray:
        data, width = int(tree.nodes.data[node]), int(tree.nodes.width[node])
        if tree.nodes.actor[node] == TERMINAL:
            return tree.payoffs[data]
        source = tree.chance if tree.nodes.actor[node] == CHANCE else table
        return sum(p * below(child) for p, child in zip(source[data : data + width], tree.children(node), strict=True))

    return below(0)


def value_there(policy: Any) -> np.ndarray:
    """Return the expected payoffs by OpenSpiel. [players]"""
    everybody = [policy] * policy.game.num_players()
    return np.asarray(expected_game_score.policy_value(policy.game.new_initial_state(), everybody))


# --- trees ---


@pytest.mark.parametrize("spec", LOADED)
def test_counts_agree_with_pyspiel(spec: str) -> None:
    game = load_open_spiel_game(spec.removeprefix("open_spiel:"))
    assert isinstance(game, HistoryGame)
    assert (game.name, game.unit, game.players) == (spec, "points", 2)
    assert counts(HistoryTree.from_game(game)) == own_counts(game.game)


@pytest.mark.parametrize(("spec", "golden"), [(KUHN, (4, 24, 30, 12)), (LEDUC, (157, 3780, 5520, 936))])
def test_golden_counts(spec: str, golden: tuple[int, ...]) -> None:
    assert counts(tree_of(spec)) == golden


@pytest.mark.parametrize("spec", [pytest.param("open_spiel:liars_dice", marks=pytest.mark.slow), BRIDGE])
def test_counts_of_larger_games(spec: str) -> None:
    game = load_open_spiel_game(spec.removeprefix("open_spiel:"))
    assert counts(HistoryTree.from_game(game)) == own_counts(game.game)


def test_names_agree_with_open_spiel() -> None:
    tree = tree_of(KUHN)
    assert [i.name for i in tree.infosets()][:3] == ["0", "1p", "0pb"]
    assert tree.infoset("2pb").actions == ("Pass", "Bet")
    assert tree.labels(0) == ("Deal:0", "Deal:1", "Deal:2")


def test_simultaneous_moves_become_hidden_turns() -> None:
    tree = tree_of(RPS)
    assert counts(tree) == (0, 4, 9, 2)
    assert np.allclose(value(Strategy.uniform(tree)), 0)
    tree.check_zero_sum()


def test_more_and_fewer_than_two_players() -> None:
    three = tree_of("open_spiel:kuhn_poker(players=3)")
    assert three.players == 3
    assert counts(three) == own_counts(pyspiel.load_game("kuhn_poker(players=3)"))
    assert load_open_spiel_game("blackjack").players == 1


def test_information_sets_of_two_players_have_different_names() -> None:
    """phantom_ttt shows both players the same empty board."""
    first = load_open_spiel_game("phantom_ttt").root()
    second = first.child(0)
    assert (first.actor, second.actor) == (0, 1)
    name = first.infoset()
    assert second.infoset() == name + " (player 1)"
    assert first.infoset() == name


class Blind(pyspiel.State):
    """Two players who see nothing choose one after the other; OpenSpiel gives them the same information state."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.chosen: list[int] = []

    def current_player(self) -> int:
        return len(self.chosen) if len(self.chosen) < 2 else pyspiel.PlayerId.TERMINAL

    def is_terminal(self) -> bool:
        return len(self.chosen) == 2

    def _legal_actions(self, _: int) -> list[int]:
        return [0, 1, 2]

    def _apply_action(self, action: int) -> None:
        self.chosen.append(action)

    def _action_to_string(self, _: int, action: int) -> str:
        return "go" if action < 2 else "stay"

    def returns(self) -> list[float]:
        return [float(self.chosen[0] - self.chosen[1]), float(self.chosen[1] - self.chosen[0])]

    def information_state_string(self, *_: int) -> str:
        return "dark"

    def __str__(self) -> str:
        return str(self.chosen)


class BlindGame(pyspiel.Game):
    kind = small_game_type("riverboat_blind", 2)

    def __init__(self, params: Any = None) -> None:
        info = pyspiel.GameInfo(
            num_distinct_actions=3,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-2.0,
            max_utility=2.0,
            utility_sum=0.0,
            max_game_length=2,
        )
        super().__init__(self.kind, info, params or {})

    def new_initial_state(self) -> Blind:
        return Blind(self)


pyspiel.register_game(BlindGame.kind, BlindGame)


def test_a_game_with_ambiguous_names() -> None:
    """Players and actions that share a name get different ones in the tree; a policy, which is keyed by name, is
    rejected.
    """
    tree = tree_of("open_spiel:riverboat_blind")
    assert [(i.name, i.actions) for i in tree.infosets()] == [
        ("dark", ("go #0", "go #1", "stay")),
        ("dark (player 1)", ("go #0", "go #1", "stay")),
    ]
    with pytest.raises(InputError, match="'dark'"):
        to_open_spiel(Strategy.uniform(tree))


# --- strategies ---


@pytest.mark.parametrize("spec", [*LOADED, *NATIVE])
def test_round_trip(spec: str) -> None:
    tree = tree_of(spec)
    strategy = random_strategy(tree, 1)
    policy = to_open_spiel(strategy)
    assert np.allclose(policy.action_probability_array.sum(axis=1), 1)
    assert np.all(policy.action_probability_array[policy.legal_actions_mask == 0] == 0)
    back = from_open_spiel(tree, policy)
    assert back.mapping() == strategy.mapping()
    assert back.provenance["policy"] == "TabularPolicy"


@pytest.mark.parametrize("spec", [*LOADED, *NATIVE])
def test_expected_values_agree(spec: str) -> None:
    for seed in (2, 3):
        strategy = random_strategy(tree_of(spec), seed)
        assert value_there(to_open_spiel(strategy)) == pytest.approx(value(strategy), abs=1e-12)


@pytest.mark.parametrize("spec", ["kuhn", "leduc"])
def test_unrolled_trees_convert_too(spec: str) -> None:
    tree = tree_of(spec)
    strategy = random_strategy(tree, 4)
    unrolled = to_history_tree(tree)
    same = Strategy(unrolled, strategy.probabilities[unrolled.origin])
    policy = to_open_spiel(same)
    assert np.array_equal(policy.action_probability_array, to_open_spiel(strategy).action_probability_array)
    assert from_open_spiel(unrolled, policy).mapping() == strategy.mapping()


@pytest.mark.parametrize(
    ("spec", "nash_conv"),
    [("kuhn", 11 / 12), (KUHN, 11 / 12), ("leduc", 4.747222222222222), (LEDUC, 4.747222222222222)],
)
def test_nash_conv_of_uniform_play(spec: str, nash_conv: float) -> None:
    policy = to_open_spiel(Strategy.uniform(tree_of(spec)))
    assert exploitability.nash_conv(policy.game, policy) == pytest.approx(nash_conv, abs=1e-12)


def test_kuhn_row_by_row() -> None:
    tree = tree_of("kuhn")
    policy = to_open_spiel(Strategy.from_mapping(tree, {"J:": {"c": 0.75, "r": 0.25}, "Q:cr": {"f": 0.4, "c": 0.6}}))
    assert policy.policy_for_key("0").tolist() == [0.75, 0.25]
    assert policy.policy_for_key("1pb").tolist() == [0.4, 0.6]


@pytest.mark.slow
def test_bluff_with_one_die_each_is_liars_dice() -> None:
    """The conversion compares all payoffs, so the star is OpenSpiel's six: wild, and the highest face."""
    tree = tree_of("bluff:1,1")
    strategy = random_strategy(tree, 5)
    policy = to_open_spiel(strategy)
    assert str(policy.game) == "liars_dice()"
    assert policy.policy_for_key("2 1-6")[12] == strategy["2:1-*"]["bluff"]
    assert from_open_spiel(tree, policy).mapping() == strategy.mapping()


@pytest.mark.slow
def test_bluff_values_agree() -> None:
    strategy = random_strategy(tree_of("bluff:1,1"), 6)
    assert value_there(to_open_spiel(strategy)) == pytest.approx(value(strategy), abs=1e-12)


def test_other_kinds_of_policies() -> None:
    tree = tree_of("leduc")
    uniform = Strategy.uniform(tree)
    game = pyspiel.load_game("leduc_poker")
    assert from_open_spiel(tree, policies.UniformRandomPolicy(game)).mapping() == uniform.mapping()
    assert from_open_spiel(tree, pyspiel.UniformRandomPolicy(game)).mapping() == uniform.mapping()
    kuhn = from_open_spiel(tree_of("kuhn"), policies.FirstActionPolicy(pyspiel.load_game("python_kuhn_poker")))
    assert kuhn["K:r"] == {"f": 1.0, "c": 0.0}


# --- no-limit games against universal_poker ---


def universal(ante: int, total: int, betting: str = "nolimit") -> Any:
    """Return no-limit Leduc as universal_poker: stacks of `total` with the ante, which is a blind there."""
    return pyspiel.load_game(
        f"universal_poker(betting={betting},numPlayers=2,numRounds=2,blind={ante} {ante},stack={total} {total},"
        f"numSuits=2,numRanks=3,numHoleCards=1,numBoardCards=0 1,firstPlayer=1 1,bettingAbstraction=fullgame)"
    )


@pytest.mark.parametrize("stack", [1, 3, 5])
def test_no_limit_leduc_agrees_with_universal_poker(stack: int) -> None:
    """History by history: actions, information sets, chance and payoffs."""
    tree = tree_of(f"leduc:stack={stack},menu=*")
    policy = to_open_spiel(random_strategy(tree, 7))
    assert counts(to_history_tree(tree)) == own_counts(universal(1, stack + 1)) == own_counts(policy.game)


def test_no_limit_leduc_with_stack_12_has_the_same_lines() -> None:
    """Every betting line with its payoff, for one deal: a pair of queens against a king."""
    hands, board = (2, 4), 3
    names = {"Fold": "f", "Call": "c"}
    theirs: Counter[tuple[str, float]] = Counter()
    state = universal(1, 13).new_initial_state()
    state.apply_action(hands[0])
    state.apply_action(hands[1])
    stack = [(state, "")]
    while stack:
        state, line = stack.pop()
        if state.is_terminal():
            theirs[line, state.returns()[0]] += 1
        elif state.is_chance_node():
            stack.append((state.child(board), line + "/"))
        else:
            for action in state.legal_actions():
                move = state.action_to_string(action).partition("move=")[2]
                stack.append((state.child(action), line + names.get(move, move.replace("Bet", "r"))))

    ours: Counter[tuple[str, float]] = Counter()
    work = [(registry.game_from_spec("leduc:stack=12,menu=*").root(), "")]
    while work:
        here, line = work.pop()
        if here.actor == TERMINAL:
            pay = here.payoff()
            if isinstance(pay, ComparisonPayoff):
                a, b = (pay.strengths[p][hands[p]] for p in (0, 1))
                ours[line, (pay.win if a > b else pay.tie if a == b else pay.lose)[0]] += 1
            else:
                ours[line, pay.payoffs[0]] += 1
        elif here.actor == CHANCE:
            work.append((here.child(board), line + "/"))
        else:
            work.extend((here.child(k), line + move) for k, move in enumerate(here.actions()))
    assert ours == theirs


def test_the_smallest_bet_differs_with_a_larger_ante() -> None:
    """In universal_poker the minimum bet is the blind, which represents the ante; here it is one chip."""
    with pytest.raises(InputError, match=r"\('c', 'r3', 'r4', 'r5', 'r6'\) here and \['Call', 'Bet4'"):
        to_open_spiel(Strategy.uniform(tree_of("leduc:ante=2,stack=4")))


# --- errors ---


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kuhn_pokr", r"'kuhn_pokr'.*'kuhn_poker'"),
        ("", "game 'open_spiel:'"),
        ("kuhn_poker(players=2", "Missing closing bracket"),
        ("kuhn_poker(foo=3)", "Unknown parameter 'foo'"),
        ("kuhn_poker(players=99)", "max_num_players"),
        ("misere(game=kuhn_pokr())", "Unknown game 'kuhn_pokr'"),
        ("efg_game(filename=/nowhere.efg)", "OpenSpiel says"),
        ("bridge_uncontested_bidding", "'open_spiel:bridge_uncontested_bidding'"),
        ("backgammon", "information_state_string"),
        ("mfg_garnet", "mean-field"),
    ],
)
def test_unsupported_games(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        registry.game_from_spec(f"open_spiel:{spec}")


@pytest.mark.parametrize(
    ("alias", "spec"),
    [
        ("liars_dice", "bluff"),
        ("liars_dice:2,1", "bluff:2,1"),
        ("kuhn_poker:cards=4", "kuhn:cards=4"),
        ("leduc_poker", "leduc"),
        ("rock_paper_scissors", "rps"),
    ],
)
def test_names_of_open_spiel_find_our_games(alias: str, spec: str) -> None:
    """Artifacts store our name."""
    game = registry.game_from_spec(alias)
    assert game.name == registry.game_from_spec(spec).name
    assert registry.spec_of(game) == spec
    assert registry.is_safe_spec(alias)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("liars_dize", "liars_dice"),
        ("goofspiel(num_cards=4)", r"open_spiel:goofspiel\(num_cards=4\)"),
        ("liars_dice(dice_sides=4)", r"open_spiel:liars_dice\(dice_sides=4\)"),
        ("leduk", "leduc"),
    ],
)
def test_unknown_names_get_a_suggestion(name: str, suggestion: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{suggestion}'"):
        registry.game_from_spec(name)


def test_errors_during_traversal() -> None:
    """OpenSpiel accepts every size in limit games, and then finds the sizes illegal."""
    game = universal(1, 13, "limit")
    with pytest.raises(InputError, match=r"after \[0, 1[0-9, ]*\]: OpenSpiel says"):
        tree_of(f"open_spiel:{game}")


def test_without_pyspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "pyspiel":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match=r"install riverboat\[openspiel\]"):
        load_open_spiel_game("kuhn_poker")


def test_pyspiel_is_imported_late() -> None:
    modules = "riverboat.formats.open_spiel_games, riverboat.strategies.open_spiel"
    code = f"import sys, {modules}; sys.exit('pyspiel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_games_that_cannot_be_converted() -> None:
    with pytest.raises(InputError, match=r"coin_toss.*open_spiel:NAME"):
        to_open_spiel(Strategy.uniform(tree_of("coin_toss")))
    with pytest.raises(InputError, match=r"kuhn .*leduc_poker\(\)"):
        from_open_spiel(tree_of("kuhn"), policies.UniformRandomPolicy(pyspiel.load_game("leduc_poker")))
    with pytest.raises(InputError, match=r"menu='100%/a'.* 13 "):
        to_open_spiel(Strategy.uniform(tree_of("kuhn:stack=5,menu=100%/a")))
    with pytest.raises(InputError, match=r"2 players.* 3"):
        from_open_spiel(tree_of("kuhn"), policies.UniformRandomPolicy(pyspiel.load_game("kuhn_poker(players=3)")))


def test_different_rules_are_found() -> None:
    kuhn = policies.UniformRandomPolicy(pyspiel.load_game("kuhn_poker"))
    leduc = policies.UniformRandomPolicy(pyspiel.load_game("leduc_poker"))
    dice = policies.UniformRandomPolicy(pyspiel.load_game("liars_dice(bidding_rule=reset-quantity)"))
    for spec, policy, what in [
        ("kuhn:cards=4", kuhn, "chance"),
        ("kuhn:bet=2", kuhn, r"\[-3.0, 3.0\] here and \[-2.0, 2.0\]"),
        ("kuhn:cap=2", kuhn, "here and"),
        ("leduc:stack=3", leduc, "here and"),
        ("bluff:1,1", dice, "here and"),
        (LEDUC, kuhn, "chance"),
    ]:
        with pytest.raises(InputError, match=what):
            from_open_spiel(tree_of(spec), policy)
    with pytest.raises(InputError, match="chance"):
        to_open_spiel(Strategy.uniform(to_history_tree(tree_of("kuhn:cards=4"))))


def test_policies_that_do_not_fit() -> None:
    game = pyspiel.load_game("kuhn_poker")
    tree = tree_of("kuhn")
    with pytest.raises(InputError, match="'1p'"):
        from_open_spiel(tree, policies.TabularPolicy(game, players=[0]))
    wrong = policies.TabularPolicy(game)
    wrong.policy_for_key("0pb")[:] = [0.5, 0.6]
    with pytest.raises(InputError, match=r"'0pb'.*\[0.5, 0.6\]"):
        from_open_spiel(tree, wrong)
    simultaneous = pyspiel.load_game("matrix_rps")
    with pytest.raises(InputError, match="convert_to_turn_based"):
        from_open_spiel(tree_of(RPS), policies.UniformRandomPolicy(simultaneous))
