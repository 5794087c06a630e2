"""Local best response: known values, a slow twin that tries everything, and the exact best response above it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from random_blueprints import random_blueprint
from reference.local_best_response import Responder as Twin
from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.claims import EXACT
from riverboat.core.errors import InputError
from riverboat.evaluation.local_best_response.choice import Node, Responder
from riverboat.evaluation.local_best_response.estimate import local_best_response
from riverboat.evaluation.local_best_response.traversal import Walk
from riverboat.evaluation.quality import quality
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.actions import moves_of, play_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import one_size
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.strategies.blueprint import BlueprintStrategy

NOLIMIT, LIMIT, LEDUC = read_game("nolimit-200bb"), read_game("limit"), read_game("leduc")
# One card each: two deals to the board, and stacks that end quickly.
SHORT = Rules(blinds=(2, 1), stacks=(8, 8), board=(0, 1, 1), hole=1, ranks=3, suits=2, name="short")
UNEQUAL = replace(SHORT, stacks=(13, 7), name="unequal")
# Two cards each.
PAIRS = Rules(blinds=(2, 1), stacks=(9, 9), board=(0, 1), hole=2, ranks=3, suits=3, name="pairs")


def random_agent(rules: Rules, seed: int = 2) -> BlueprintAgent:
    menu = None if rules.limit else one_size("100%")
    tree, cards = compile_actions(rules, menu), lossless(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    sums = tuple(rng.random((cards.counts[s], int(tree.width[s])), np.float32) for s in range(rules.rounds))
    return BlueprintAgent(BlueprintStrategy(rules, menu, tree, cards, sums))


# --- known values -----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [NOLIMIT, LIMIT], ids=lambda rules: rules.name)
@pytest.mark.parametrize(("actions", "value"), [("fc", 250), ("fcpa", 750), ("56", 750)])
def test_always_fold(rules: Rules, actions: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind of a half comes by itself; the big one has to be bet for: Lisý and Bowling's table has 250, 750 and 750."""
    # the table of starting hands takes half a minute; who never shows a hand is beaten with any
    monkeypatch.setattr("riverboat.cards.equity.batch_equities.preflop_table", lambda: np.full((169, 169), 0.5))
    found = local_best_response(Yardstick("always-fold"), rules, actions=actions, hands=16)
    assert found.mbb_per_game == pytest.approx(value, abs=1e-6)
    assert found.ci95 == pytest.approx(0, abs=1e-6)
    assert found.by_seat == pytest.approx([rules.big_blind / 2, 0 if actions == "fc" else rules.big_blind])


@pytest.mark.parametrize("start", ["turn", "river"])
def test_always_fold_later(start: str) -> None:
    found = local_best_response(Yardstick("always-fold"), NOLIMIT, start=start, hands=16)
    assert found.mbb_per_game == pytest.approx(750, abs=1e-6)


def test_who_never_folds_is_raised_with_more_than_half() -> None:
    """In Kuhn's game against a caller: K wins 2 with a raise, Q breaks even, J checks and loses 1."""
    found = local_best_response(Yardstick("always-call"), read_game("kuhn"), hands=600)
    assert found.by_seat == pytest.approx([1 / 3, 1 / 3], abs=1e-9)


# --- the slow twin ----------------------------------------------------------------------------


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
def test_every_hand_takes_the_twins_move(actions: str, rules: Rules, line: str, board: tuple[int, ...]) -> None:
    """All hands at once against one at a time, with the agent's range after its moves of the line."""
    agent = random_agent(rules)
    state = Betting.from_line(rules, line)
    twin, mine, seat = Twin(agent, rules, actions), Responder(agent, rules, actions, 0), state.turn
    other, now = mine.showdowns.live(board).astype(float), Betting.start(rules)
    for move in moves_of(rules, line):
        if now.turn != seat:
            rows = twin.asked(now.line, board[: rules.board_sizes[now.street]])
            other *= [rows[hand].get(show_move(move, rules), 0.0) for hand in twin.hands]
        now = play_move(now, move)
    assert other.any()
    node = Node(moves_of(rules, line), board, state.at, other, other)
    raised = mine.after_raises(node)
    mine.ask(raised)
    chosen = mine.choose(node, raised, lambda ranges: mine.showdowns.won(board, ranges))
    taken = 0
    for h, hand in enumerate(twin.hands):
        if set(hand) & set(board):
            continue
        others = {o: w for o, w in zip(twin.hands, other.tolist(), strict=True) if w and not set(o) & set(hand)}
        (move,) = [move for move, hands in chosen if hands[h]]
        assert show_move(move, rules) == twin.choice(state, board, hand, others, seat)
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
def test_the_mean_is_the_twins(rules: Rules, actions: str, start: str) -> None:
    """The sample has the right mean in both seats: every deal and every move with its weight."""
    agent = random_agent(rules)
    twin = Twin(agent, rules, actions, rules.streets.index(start))
    found = local_best_response(agent, rules, actions=actions, start=start, hands=16_000, walkers=60)
    wanted = 1000 * (twin.value(0) + twin.value(1)) / 2 / rules.big_blind
    assert abs(found.mbb_per_game - wanted) < 2 * found.ci95
    assert found.ci95 < 0.3 * max(abs(wanted), 400)


@pytest.mark.slow
def test_intervals_cover() -> None:
    """Of 60 intervals over deals about 57 have the twin's value inside."""
    agent = random_agent(LEDUC)
    twin = Twin(agent, LEDUC, "fcpa")
    wanted = 1000 * (twin.value(0) + twin.value(1)) / 2 / LEDUC.big_blind
    runs = [local_best_response(agent, LEDUC, hands=600, walkers=10, seed=seed) for seed in range(60)]
    assert sum(abs(found.mbb_per_game - wanted) <= found.ci95 for found in runs) >= 50
    assert {found.chips.count for found in runs} == {30}


# --- never above the best response ---------------------------------------------------------------


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
    """No-limit, where all legal bets have a place in the tree of the exact response."""
    rules = Rules(blinds=(2, 1), stacks=(6, 6), board=(0, 1), hole=1, ranks=3, suits=2, name="tiny")
    for seed in range(3):
        agent = random_agent(rules, seed)
        exact = quality(agent)
        assert exact.kind == EXACT
        for actions in ("fc", "fcpa", "56"):
            for seat in (0, 1):
                assert Twin(agent, rules, actions).value(seat) <= exact.best[seat] + 1e-9


# --- runs -------------------------------------------------------------------------------------


def test_equal_seeds_mean_equal_results_on_any_number_of_threads() -> None:
    agent = random_agent(SHORT)
    one, two, other = (
        local_best_response(agent, SHORT, hands=800, seed=seed, threads=threads)
        for seed, threads in ((7, 1), (7, 3), (8, 1))
    )
    assert one.chips == two.chips != other.chips
    assert one.by_seat == two.by_seat


def test_what_is_asked_together_changes_nothing() -> None:
    """Whichever lines before the first cards are known already, as other threads leave them."""
    responder = Responder(random_agent(SHORT), SHORT, "fcpa", 0)
    first = Walk(responder, 32, 7)
    wanted = [first.deal(number) for number in range(4)]
    for line in first.first:
        for known in ({line}, first.first.keys() - {line}):
            walk = Walk(responder, 32, 7)
            walk.first.update({key: first.first[key] for key in known})
            assert [walk.deal(number) for number in range(4)] == wanted, known


def test_answers_that_are_alike_for_all_hands_are_kept_as_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of `random` are, which bets every number of chips: nothing else changes."""
    agents = Yardstick("random"), Yardstick("rule-based")
    plain = [local_best_response(agent, SHORT, hands=200) for agent in agents]
    monkeypatch.setattr("riverboat.evaluation.local_best_response.choice._WIDE", 0)
    for agent, wanted in zip(agents, plain, strict=True):
        found = local_best_response(agent, SHORT, hands=200)
        assert (found.chips.mean, found.chips.half_width) == pytest.approx((wanted.chips.mean, wanted.chips.half_width))


def test_hands_are_rounded_up_to_deals_and_time_ends_a_run() -> None:
    told: list[float] = []
    found = local_best_response(Yardstick("always-call"), LEDUC, hands=1001, walkers=10, progress=told.append)
    assert (found.hands, found.chips.count) == (1020, 51)
    assert told[-1] == 1.0
    short = local_best_response(Yardstick("always-call"), LEDUC, hands=None, seconds=0.0, walkers=10)
    assert (short.hands, short.chips.count) == (40, 2)
    record = found.record()
    assert {"mbb_per_game", "ci95", "hands", "actions", "from", "is"} <= set(record)
    assert record["from"] == "preflop"
    assert np.mean(record["by_seat"]) == pytest.approx(record["mbb_per_game"])


class Folder:
    """Answers, and wrongly."""

    name = "folder"

    def __init__(self, change) -> None:
        self.change = change

    def strategies(self, places, draw=None):
        return self.change(Yardstick("always-fold").strategies(places))


def test_what_is_refused() -> None:
    caller = Yardstick("always-call")
    with pytest.raises(InputError, match="unknown set of actions 'fcp'"):
        local_best_response(caller, LEDUC, actions="fcp")
    with pytest.raises(InputError, match="unknown street 'turn'"):
        local_best_response(caller, LEDUC, start="turn")
    with pytest.raises(InputError, match="give one of the two"):
        local_best_response(caller, LEDUC, hands=10, seconds=1.0)
    with pytest.raises(InputError, match="hands=3"):
        local_best_response(caller, LEDUC, hands=3)
    with pytest.raises(InputError, match="no strategies"):
        local_best_response("leduc", LEDUC)  # type: ignore[arg-type]
    raked = Rules(blinds=(2, 1), stacks=(8, 8), board=(0, 1), hole=1, ranks=3, suits=2, pot=3)
    with pytest.raises(InputError, match="local best responses are known"):
        local_best_response(caller, raked)
    half = Folder(lambda found: replace(found, probabilities=found.probabilities / 2))
    with pytest.raises(InputError, match=r"'folder' after r: probabilities of a hand sum to 0.5"):
        local_best_response(half, LEDUC)
    gone = Folder(lambda found: replace(found, moves=np.where(found.moves == -1, 1, found.moves)))
    with pytest.raises(InputError, match=r"'folder' after .*: its move 'r' is illegal"):
        local_best_response(gone, LEDUC)
