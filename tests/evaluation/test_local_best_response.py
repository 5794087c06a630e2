"""Local best response: known values, a slow reference, and the exact best response as an upper bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from random_blueprints import random_blueprint
from reference.local_best_response import Responder as Twin
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.claims import EXACT
from riverboat.core.errors import InputError
from riverboat.evaluation.local_best_response import LbrNode, LbrTraversal, LocalResponder, local_best_response
from riverboat.evaluation.quality import quality
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.strategies.blueprint import Blueprint

NOLIMIT, LIMIT, LEDUC = read_game("nolimit-200bb"), read_game("limit"), read_game("leduc")
# One card each: two deals to the board, and stacks that end quickly.
SHORT = PokerRules(blinds=(2, 1), stacks=(8, 8), board=(0, 1, 1), hole=1, ranks=3, suits=2, name="short")
UNEQUAL = replace(SHORT, stacks=(13, 7), name="unequal")
# Two cards each.
PAIRS = PokerRules(blinds=(2, 1), stacks=(9, 9), board=(0, 1), hole=2, ranks=3, suits=3, name="pairs")


def random_agent(rules: PokerRules, seed: int = 2) -> BlueprintAgent:
    menu = None if rules.limit else one_size_menu("100%")
    tree, cards = compile_action_tree(rules, menu), lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    sums = tuple(rng.random((cards.counts[s], int(tree.width[s])), np.float32) for s in range(rules.rounds))
    return BlueprintAgent(Blueprint(rules, menu, tree, cards, sums))


# --- Known values ---


@pytest.mark.parametrize("rules", [NOLIMIT, LIMIT], ids=lambda rules: rules.name)
@pytest.mark.parametrize(("actions", "value"), [("fc", 250), ("fcpa", 750), ("56", 750)])
def test_always_fold(rules: PokerRules, actions: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a blind is won without a bet, the big blind only by betting: 250, 750 and 750 in the table of Lisý and
    Bowling.
    """
    # the table of starting hands takes half a minute; it does not matter against an agent that never shows a hand
    monkeypatch.setattr("riverboat.cards.equity.batch_equities.preflop_equities", lambda: np.full((169, 169), 0.5))
    found = local_best_response(BaselineAgent("always-fold"), rules, actions=actions, hands=16)
    assert found.mbb_per_game == pytest.approx(value, abs=1e-4)  # margins of hands are float32
    assert found.ci95 == pytest.approx(0, abs=1e-4)
    assert found.by_seat == pytest.approx([rules.big_blind / 2, 0 if actions == "fc" else rules.big_blind], abs=1e-5)


@pytest.mark.parametrize("start", ["turn", "river"])
def test_always_fold_later(start: str) -> None:
    found = local_best_response(BaselineAgent("always-fold"), NOLIMIT, start=start, hands=16)
    assert found.mbb_per_game == pytest.approx(750, abs=1e-6)


def test_always_call_is_raised_with_the_better_half() -> None:
    """In Kuhn poker against a caller: K wins 2 with a raise, Q breaks even, J checks and loses 1."""
    found = local_best_response(BaselineAgent("always-call"), read_game("kuhn"), hands=600)
    assert found.by_seat == pytest.approx([1 / 3, 1 / 3], abs=1e-9)


# --- Reference implementation ---


@pytest.mark.parametrize("actions", ["fc", "fcpa", "56"])
@pytest.mark.parametrize(
    ("rules", "line", "board"),
    [
        (SHORT, "", ()),
        (SHORT, "cr6c/c", (51,)),
        (UNEQUAL, "r6", ()),
        (SHORT, "cc/cc/", (51, 46)),
        (PAIRS, "r6c/", (50,)),
    ],
    ids=["first", "flop", "unequal", "turn", "pairs"],
)
def test_actions_against_the_reference(actions: str, rules: PokerRules, line: str, board: tuple[int, ...]) -> None:
    """All hands at once agree with one hand at a time, with the agent's range after the line."""
    agent = random_agent(rules)
    state = BettingState.from_line(rules, line)
    twin, mine, seat = Twin(agent, rules, actions), LocalResponder(agent, rules, actions, 0), state.turn
    other, now = mine.showdowns.live_hands(board).astype(float), BettingState.start(rules)
    for move in BettingState.from_line(rules, line).actions:
        if now.turn != seat:
            rows = twin.asked(now.line, board[: rules.board_sizes[now.street]])
            other *= [rows[hand].get(format_action(move, rules), 0.0) for hand in twin.hands]
        now = now.play(move)
    assert other.any()
    node = LbrNode(BettingState.from_line(rules, line).actions, board, state.compact, other, other)
    raised = mine.raise_children(node)
    mine.query_agent(raised)
    utility = mine.utilities(node, raised, lambda ranges: mine.showdowns.wins(board, ranges))
    chosen = mine.choose(node, raised, utility)
    taken = 0
    for h, hand in enumerate(twin.hands):
        if set(hand) & set(board):
            continue
        others = {o: w for o, w in zip(twin.hands, other.tolist(), strict=True) if w and not set(o) & set(hand)}
        (move,) = [move for move, hands in chosen if hands[h]]
        assert format_action(move, rules) == twin.choice(state, board, hand, others, seat)
        taken += 1
    assert taken >= 4


@pytest.mark.parametrize(
    ("rules", "actions", "start"),
    [
        (LEDUC, "fcpa", "preflop"),
        (PAIRS, "fcpa", "preflop"),
        pytest.param(LEDUC, "fc", "preflop", marks=pytest.mark.slow),
        pytest.param(SHORT, "fcpa", "flop", marks=pytest.mark.slow),
        pytest.param(UNEQUAL, "56", "preflop", marks=pytest.mark.slow),
    ],
)
def test_mean_against_the_reference(rules: PokerRules, actions: str, start: str) -> None:
    """The sampled mean is unbiased in both seats."""
    agent = random_agent(rules)
    twin = Twin(agent, rules, actions, rules.streets.index(start))
    found = local_best_response(agent, rules, actions=actions, start=start, hands=16_000, trajectories=60)
    wanted = 1000 * (twin.value(0) + twin.value(1)) / 2 / rules.big_blind
    assert abs(found.mbb_per_game - wanted) < 2 * found.ci95
    assert found.ci95 < 0.3 * max(abs(wanted), 400)


@pytest.mark.slow
def test_intervals_cover() -> None:
    """About 57 of 60 intervals over deals contain the reference value."""
    agent = random_agent(LEDUC)
    twin = Twin(agent, LEDUC, "fcpa")
    wanted = 1000 * (twin.value(0) + twin.value(1)) / 2 / LEDUC.big_blind
    runs = [local_best_response(agent, LEDUC, hands=600, trajectories=10, seed=seed) for seed in range(60)]
    assert sum(abs(found.mbb_per_game - wanted) <= found.ci95 for found in runs) >= 50
    assert {found.chips.count for found in runs} == {30}


# --- Never above the best response ---


@pytest.mark.parametrize("actions", ["fc", "fcpa", "56"])
@pytest.mark.parametrize("seed", range(4))
def test_never_above_the_exact_best_response(actions: str, seed: int) -> None:
    agent = BlueprintAgent(random_blueprint("leduc", seed))
    exact = quality(agent)
    assert exact.kind == EXACT
    for seat in (0, 1):
        assert Twin(agent, LEDUC, actions).value(seat) <= exact.best[seat] + 1e-9
    found = local_best_response(agent, LEDUC, actions=actions, hands=2_000)
    assert found.mbb_per_game - found.ci95 <= exact.claims[0].value


@pytest.mark.slow
def test_never_above_it_off_the_tree() -> None:
    """In no-limit games the tree of the exact response contains all legal bets."""
    rules = PokerRules(blinds=(2, 1), stacks=(6, 6), board=(0, 1), hole=1, ranks=3, suits=2, name="tiny")
    for seed in range(3):
        agent = random_agent(rules, seed)
        exact = quality(agent)
        assert exact.kind == EXACT
        for actions in ("fc", "fcpa", "56"):
            for seat in (0, 1):
                assert Twin(agent, rules, actions).value(seat) <= exact.best[seat] + 1e-9


# --- Execution ---


def test_threads_do_not_change_results() -> None:
    agent = random_agent(SHORT)
    one, two, other = (
        local_best_response(agent, SHORT, hands=800, seed=seed, threads=threads)
        for seed, threads in ((7, 1), (7, 3), (8, 1))
    )
    assert one.chips == two.chips != other.chips
    assert one.by_seat == two.by_seat


def test_cached_lines_do_not_change_results() -> None:
    """Results do not depend on which preflop lines are cached, as other threads leave them."""
    responder = LocalResponder(random_agent(SHORT), SHORT, "fcpa", 0)
    first = LbrTraversal(responder, 32, 7)
    wanted = [first.evaluate_deal(number) for number in range(4)]
    for line in first.preflop_branches:
        for known in ({line}, first.preflop_branches.keys() - {line}):
            walk = LbrTraversal(responder, 32, 7)
            walk.preflop_branches.update({key: first.preflop_branches[key] for key in known})
            assert [walk.evaluate_deal(number) for number in range(4)] == wanted, known


def test_compact_strategies_do_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strategies such as those of `random`, with a column for every bet, are stored as one row."""
    agents = BaselineAgent("random"), BaselineAgent("rule-based")
    plain = [local_best_response(agent, SHORT, hands=200) for agent in agents]
    monkeypatch.setattr("riverboat.evaluation.local_responder.MANY_ACTIONS", 0)
    for agent, wanted in zip(agents, plain, strict=True):
        found = local_best_response(agent, SHORT, hands=200)
        assert (found.chips.mean, found.chips.half_width) == pytest.approx((wanted.chips.mean, wanted.chips.half_width))


def test_sample_size_and_time_limit() -> None:
    told: list[float] = []
    found = local_best_response(BaselineAgent("always-call"), LEDUC, hands=1001, trajectories=10, progress=told.append)
    assert (found.hands, found.chips.count) == (1020, 51)
    assert told[-1] == 1.0
    short = local_best_response(BaselineAgent("always-call"), LEDUC, hands=None, seconds=0.0, trajectories=10)
    assert (short.hands, short.chips.count) == (40, 2)
    record = found.record()
    assert {"mbb_per_game", "ci95", "hands", "actions", "from", "is"} <= set(record)
    assert record["from"] == "preflop"
    assert np.mean(record["by_seat"]) == pytest.approx(record["mbb_per_game"])


class Folder:
    """Agent with invalid strategies."""

    name = "folder"

    def __init__(self, change) -> None:
        self.change = change

    def strategies(self, places, draw=None):
        return self.change(BaselineAgent("always-fold").strategies(places))


def test_invalid_input() -> None:
    caller = BaselineAgent("always-call")
    with pytest.raises(InputError, match="'fcp'"):
        local_best_response(caller, LEDUC, actions="fcp")
    with pytest.raises(InputError, match="'turn'"):
        local_best_response(caller, LEDUC, start="turn")
    with pytest.raises(InputError, match="hands=10, seconds=1"):
        local_best_response(caller, LEDUC, hands=10, seconds=1.0)
    with pytest.raises(InputError, match="hands=3"):
        local_best_response(caller, LEDUC, hands=3)
    with pytest.raises(InputError, match="agent 'str'"):
        local_best_response("leduc", LEDUC)  # type: ignore[arg-type]
    raked = PokerRules(blinds=(2, 1), stacks=(8, 8), board=(0, 1), hole=1, ranks=3, suits=2, pot=3)
    with pytest.raises(InputError, match="local best responses"):
        local_best_response(caller, raked)
    half = Folder(lambda found: replace(found, probabilities=found.probabilities / 2))
    with pytest.raises(InputError, match=r"'folder' after r: .*0\.5"):
        local_best_response(half, LEDUC)
    gone = Folder(lambda found: replace(found, moves=np.where(found.moves == -1, 1, found.moves)))
    with pytest.raises(InputError, match=r"'folder' after .*'r'"):
        local_best_response(gone, LEDUC)
