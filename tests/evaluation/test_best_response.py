"""Best responses in the full game: against the general tree, against enumeration, and by hand."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from reference.response import response_value
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.evaluation.best_response import exact, traversal
from riverboat.evaluation.best_response.exact import BestResponseExecution, estimate_cost, quality
from riverboat.evaluation.best_response.lower_bound import lower_bound
from riverboat.evaluation.best_response.traversal import RESPONDERS, PieceStoppedError, ResponsePlan, ResponseTraversal
from riverboat.evaluation.matches.duel import baseline_strategy
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import ActionMenu, one_size_menu, parse_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.games.registry import game_from_spec
from riverboat.solvers.tabular import best_response
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

ALL_IN = parse_menu('preflop = ["a"]\nflop = ["50%, a", "a"]\nmost_raises = [2, 2, 1]')


def blueprint(
    rules: PokerRules, menu: ActionMenu | None, cards: CardAbstraction, seed: int, dtype: str = "f4"
) -> Blueprint:
    """Return a blueprint with random weights, a third of them zero."""
    rng = np.random.default_rng(seed)
    tree = compile_action_tree(rules, menu)
    tables = [rng.integers(0, 100, (cards.counts[s], int(tree.width[s]))) for s in range(rules.rounds)]
    zero = [rng.random(table.shape) < 1 / 3 for table in tables]
    return Blueprint(
        rules, menu, tree, cards, tuple(np.where(z, 0, t).astype(np.float32) for t, z in zip(tables, zero, strict=True))
    )


def bucketed(rules: PokerRules, counts: tuple[int, ...], seed: int) -> CardAbstraction:
    """Return an abstraction with random buckets."""
    rng = np.random.default_rng(seed)
    whole = lossless_abstraction(rules.board[1:], rules.deck)
    streets = tuple(
        StreetBuckets(n, rng.integers(0, n, (1, whole.counts[s])).astype(np.uint16)) for s, n in enumerate(counts)
    )
    return CardAbstraction(streets, rules.board[1:], rules.deck)


# --- General trees ---


def from_table(name: str, table: Strategy) -> Blueprint:
    """Convert a strategy of a registered one-card game to a lossless blueprint, whose deck ends with the ace."""
    rules = read_game(name)
    tree, cards = compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)
    names = dict(zip("JQK", "QKA", strict=True))

    def card(text: str) -> str:
        return names[text[0]] + (text[1:] or "s")

    average = [np.zeros((cards.counts[s], int(tree.width[s])), np.float32) for s in range(rules.rounds)]
    for name_of, row in table.items():
        hand, _, line = name_of.partition(":")
        first, *later = line.split("/")
        board = parse_cards(card(later[0])) if later else ()
        node = tree.find(first + "/" + later[1] if later else first)
        bucket = cards.bucket(parse_cards(card(hand)), board)
        at = int(tree.slot[node])
        average[len(board)][bucket, at : at + len(row)] = [row[move] for move in tree.actions(node)]
    return Blueprint(rules, None, tree, cards, tuple(average))


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_agrees_with_tabular_best_response(name: str) -> None:
    """CFR treats suits alike, so its strategies are strategies of canonical hands; early ones are highly
    exploitable."""
    solver = CFR(compile_game(game_from_spec(name)), "dcfr")
    before = np.inf
    for iterations in (1, 3, 1000):
        solver.step(iterations)
        table = solver.average()
        wanted, found = best_response.quality(table), quality(from_table(name, table))
        assert found.best == pytest.approx(wanted.best, abs=1e-6)  # tables of float32
        assert found.values == pytest.approx(wanted.values, abs=1e-6)
        assert found.exploitability < before
        before = found.exploitability
    assert 0 < before < 2e-3
    # Values of the games to the first player: -1/18 (Kuhn 1950), -0.0856064 by linear programming.
    assert found.values[0] == pytest.approx({"kuhn": -1 / 18, "leduc": -0.0856064}[name], abs=2e-3)


# --- By hand ---


def test_kuhn_by_hand() -> None:
    """A caller loses 2 to a king that bets, 0 to a queen, and wins 1 from a jack: 1/3. A folder loses the ante."""
    rules = read_game("kuhn")
    like = blueprint(rules, None, lossless_abstraction((), rules.deck), 0)
    called, folded = quality(baseline_strategy("call", like)), quality(baseline_strategy("fold", like))
    assert called.best == pytest.approx((1 / 3, 1 / 3))
    assert called.values == pytest.approx((0, 0))
    assert folded.best == pytest.approx((1, 1))
    assert folded.mbb_per_game == pytest.approx(1000)


def test_always_fold_loses_750_mbb() -> None:
    """Half a blind as small blind and one as big blind: 750 mbb/g. Checking for free loses no more."""
    rules = read_game("bench-3x20")
    like = blueprint(rules, one_size_menu("100%"), lossless_abstraction(rules.board[1:], rules.deck), 0)
    found = quality(baseline_strategy("fold", like))
    assert found.best == pytest.approx((1, 2))
    assert found.mbb_per_game == pytest.approx(750)


# --- Enumeration ---

TINY = {
    "one card, two boards": (
        PokerRules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=3, suits=2, hole=1),
        ALL_IN,
    ),
    "two cards": (PokerRules(blinds=(2, 1), stacks=(7, 7), board=(0, 1), ranks=3, suits=2), ALL_IN),
    "six cards of three suits and no board": (
        PokerRules(blinds=(1, 1), stacks=(9, 9), board=(0,), ranks=2, suits=3),
        ALL_IN,
    ),
    "limit": (
        PokerRules(
            limit=True, blinds=(2, 1), raise_sizes=(2, 2, 4), most_raises=(1, 1, 1), board=(0, 1, 1), ranks=3, suits=2
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", TINY)
def test_agrees_with_enumeration(name: str) -> None:
    rules, menu = TINY[name]
    cards = bucketed(rules, (4, 3, 3)[: rules.rounds], 1)
    strategy = blueprint(rules, menu, cards, 2)
    found = quality(strategy)
    assert found.best == pytest.approx([response_value(strategy, seat) for seat in (0, 1)], abs=1e-9)
    assert found.values[0] == pytest.approx(response_value(strategy, 0, respond=False), abs=1e-9)
    assert found.exploitability > 0.01


def test_cuts_and_public_buckets() -> None:
    """Buckets may depend on the previous bucket, and on the public bucket of the first board."""
    rules = PokerRules(blinds=(2, 1), stacks=(7, 7), board=(0, 1, 1), ranks=4, suits=2, hole=1)
    whole, rng = lossless_abstraction((1, 1), rules.deck), np.random.default_rng(3)
    values = [rng.integers(0, 100, (1, n)).astype(np.uint16) for n in whole.counts]
    cuts = [np.array([[50]], np.uint16), *(np.sort(rng.integers(0, 100, (n, 1)), axis=1) for n in (2, 4))]
    streets = [StreetBuckets(n, v, cuts=c.astype(np.uint16)) for n, v, c in zip((2, 4, 8), values, cuts, strict=True)]
    recalls = CardAbstraction(tuple(streets), (1, 1), rules.deck)
    boards = len(canonical_boards(1, rules.deck)[0])
    public = PublicBuckets((np.arange(boards) % 2).astype(np.int32), 1, rules.deck)
    streets = [StreetBuckets(2, (np.arange(whole.counts[0]) % 2).astype(np.uint16)[None])]
    for shown in (1, 2):
        made = cluster_private(public, shown, lambda _, hands, __: hands % 3)
        streets.append(StreetBuckets(int(made.first[-1]), made.labels, made.layer, first=made.first))
    splits = CardAbstraction(tuple(streets), (1, 1), rules.deck, public)
    for cards in (recalls, splits):
        strategy = blueprint(rules, ALL_IN, cards, 4)
        found = quality(strategy)
        assert found.best == pytest.approx([response_value(strategy, seat) for seat in (0, 1)], abs=1e-9)


# --- Execution ---


def test_threads_do_not_change_results() -> None:
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size_menu("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    one, two = quality(strategy), quality(strategy, threads=2)
    assert (one.best, one.values, one.boards) == (two.best, two.values, two.boards)
    work = estimate_cost(strategy.tree)
    assert one.boards == sum(work.boards)
    assert one.mbb_per_game == pytest.approx(1000 * one.exploitability / 2)


def test_pieces_are_stored_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted run loses only its current pieces; a resumed run gives the same bits."""
    monkeypatch.setattr(traversal, "MAX_PIECES", 7)
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size_menu("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    whole, seen = quality(strategy, self_play=False), []

    class Enough(Exception):
        pass

    def stop(done: int, count: int) -> None:
        seen.append((done, count))
        if done == 3:
            raise Enough

    with pytest.raises(Enough):
        quality(strategy, self_play=False, means=BestResponseExecution(folder=tmp_path / "walk", progress=stop))
    assert len(list((tmp_path / "walk").glob("piece-*"))) == 3
    with pytest.raises(InputError, match="--resume"):
        quality(strategy, self_play=False, means=BestResponseExecution(folder=tmp_path / "walk"))
    again = BestResponseExecution(folder=tmp_path / "walk", resume=True, progress=lambda *now: seen.append(now))
    found = quality(strategy, threads=2, self_play=False, means=again)
    assert (found.best, found.boards) == (whole.best, whole.boards)
    assert np.isnan(found.values).all()
    assert found.nash_conv == pytest.approx(sum(whole.best))
    pieces = seen[0][1]
    assert [done for done, _ in seen] == list(range(1, pieces + 1))
    other = blueprint(rules, one_size_menu("100%"), strategy.cards, 7)
    with pytest.raises(InputError, match="piece-"):
        quality(other, self_play=False, means=again)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="needs riverboat[cluster]")
def test_pieces_over_ray() -> None:
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size_menu("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    here, there = quality(strategy), quality(strategy, threads=2, means=BestResponseExecution(cluster="local"))
    assert (here.best, here.values, here.boards) == (there.best, there.values, there.boards)


@pytest.mark.slow
def test_flops_against_the_spot_engine() -> None:
    """Values of all hands on a flop, over all turns and rivers in float32, agree with an independent engine."""
    rules = replace(read_game("limit"), most_raises=(1, 1, 1, 1))
    strategy = blueprint(rules, None, bucketed(rules, (20, 30, 40, 50), 8), 9)
    tree = strategy.tree
    walk = ResponseTraversal(strategy, ResponsePlan.build(tree, RESPONDERS, np.float32))
    after = [
        n for n in range(len(tree)) if tree.actor[n] >= 0 and tree.street[n] == 1 and tree.street[tree.parent[n]] == 0
    ]
    for flop in ("8h8d3c", "Ks7s2s"):
        board = np.array([sorted(parse_cards(flop))], np.uint8)
        gained = walk.evaluate_boards(walk.make_workspace(), board, np.ones(1), np.ones(1, np.int64))
        for line in ("cc/", "rc/"):
            wanted = blueprint_values(strategy, line, flop)
            node, some = strategy.tree.find(line), wanted.opponent_weight > 0
            for seat in (0, 1):
                mine, found = some[seat], gained[seat * len(after) + after.index(node)]
                net = (wanted.best_response[seat] - wanted.spent[seat]) * wanted.opponent_weight[seat]
                assert found[mine] == pytest.approx(net[mine], abs=1e-5 * np.abs(net[mine]).max())


@pytest.mark.slow
def test_a_response_is_at_least_as_good_as_the_strategy_itself() -> None:
    rules = read_game("bench-2x52")
    cards = lossless_abstraction((3,), rules.deck)
    strategy = blueprint(rules, one_size_menu("100%"), cards, 7)
    found = quality(strategy)
    assert found.boards == 1 + 1755  # flops up to suits
    for best, value in zip(found.best, found.values, strict=True):
        assert best > value


def test_time_limit() -> None:
    rules = read_game("limit")
    tree = compile_action_tree(rules)
    work = estimate_cost(tree)
    assert work.boards[:2] == (1, 1755)
    assert all(more > less for less, more in pairwise(work.boards))
    cards = lossless_abstraction((3, 1, 1), rules.deck)
    tables = tuple(
        np.broadcast_to(np.zeros(int(w), np.uint8), (n, int(w))) for n, w in zip(cards.counts, tree.width, strict=True)
    )
    with pytest.raises(InputError, match=r"minutes on 1 threads.* 10 .*most_minutes"):
        quality(Blueprint(rules, None, tree, cards, tables))


def test_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = read_game("kuhn")
    monkeypatch.setattr(exact, "MAX_BYTES", 100)
    with pytest.raises(MemoryLimitError, match="1 threads"):
        quality(blueprint(rules, None, lossless_abstraction((), rules.deck), 0))
    leduc = read_game("leduc")
    with pytest.raises(MemoryLimitError, match="1 threads"):
        lower_bound(blueprint(leduc, None, lossless_abstraction((1,), leduc.deck), 0), 10)


def test_invalid_threads() -> None:
    rules = read_game("kuhn")
    with pytest.raises(InputError, match="threads=0"):
        quality(blueprint(rules, None, lossless_abstraction((), rules.deck), 0), threads=0)


def test_a_piece_can_be_stopped_between_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interruption waits for one board of the second street if that is slow, not for a whole piece."""
    monkeypatch.setattr(traversal, "GROUP_WORK", 0.0)
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size_menu("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    walk = ResponseTraversal(strategy, ResponsePlan.build(strategy.tree, RESPONDERS))
    walk.num_pieces, asked = 2, []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 3

    room = walk.make_workspace()
    with pytest.raises(PieceStoppedError, match="piece 1"):
        walk.evaluate_piece(1, room, stop)
    assert room.boards_visited[1] == 3
