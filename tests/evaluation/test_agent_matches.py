"""Duplicate matches between agents: exact values, reproducibility, and invalid input."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from random_blueprints import random_blueprint
from reference.matches import hand_payoffs
from riverboat.agents.baselines import BASELINES, BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.duel import duel
from riverboat.evaluation.matches.match import play_match, round_robin
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules, read_game

NOLIMIT, LIMIT, LEDUC = (read_game(name) for name in ("nolimit-200bb", "limit", "leduc"))
FOLD, CALL, RAISE, RANDOM, RULES = (BaselineAgent(name) for name in BASELINES)


def played(first, second, rules: PokerRules, hands: int, seed: int = 0, **more) -> list[HandRecords]:
    kept: list[HandRecords] = []
    play_match(first, second, rules, hands, seed, observe=kept.append, **more)
    return kept


# --- Results ---


def test_known_results() -> None:
    """An agent that always folds loses its blinds: 50 in the small blind; in the big blind a raise takes 100 as
    well."""
    assert play_match(FOLD, RAISE, NOLIMIT, 2000).mbb_per_game == -750
    assert play_match(FOLD, RAISE, NOLIMIT, 2000).ci95 == 0
    # Both put in the same chips with any cards: every pair is even.
    even = play_match(CALL, RAISE, NOLIMIT, 2000)
    assert (even.mbb_per_game, even.ci95) == (0, 0)
    against_caller = play_match(CALL, FOLD, NOLIMIT, 40_000)  # 50 in one seat, a fair lottery for 100 in the other
    assert abs(against_caller.mbb_per_game - 250) < 2.5 * against_caller.ci95


@pytest.mark.parametrize("rules", [NOLIMIT, LIMIT, LEDUC, replace(NOLIMIT, stacks=(700, 1510))], ids=lambda r: r.name)
def test_winnings_follow_the_rules(rules: PokerRules) -> None:
    """Check cards, lines and results of each hand."""
    (hands,) = played(RANDOM, RULES, rules, 300)
    assert hands.number.tolist() == list(range(300))
    showdowns = 0
    for i in range(300):
        state = BettingState.start(rules)
        for move in hands.moves[i, : hands.length[i]].tolist():
            state = state.play(move)
        assert state.actor == TERMINAL
        assert list(state.actions) == hands.moves[i, : hands.length[i]].tolist()
        cards = hands.cards[i].tolist()
        assert len(set(cards)) == len(cards)
        hole, board = rules.hole, tuple(cards[2 * rules.hole :])
        holes = (tuple(cards[:hole]), tuple(cards[hole : 2 * hole]))
        assert hand_payoffs(state, holes, board) == tuple(hands.won[i])
        showdowns += state.folded is None
        assert hands.players(i) == (("random", "rule-based") if i % 2 == 0 else ("rule-based", "random"))
    assert 0 < showdowns < 300
    assert np.array_equal(hands.cards[0::2], hands.cards[1::2])  # duplicate


def test_result_is_the_mean_of_pairs() -> None:
    (hands,) = played(RANDOM, RULES, LIMIT, 400)
    match = play_match(RANDOM, RULES, LIMIT, 400)
    pairs = (hands.won[0::2, 0] - hands.won[1::2, 0]) / 2
    assert match.chips.mean == pytest.approx(pairs.mean())
    assert match.ci95 == pytest.approx(1.96 * pairs.std(ddof=1) / 200**0.5 * 100, rel=1e-3)
    assert match.mbb_per_game == pytest.approx(pairs.mean() * 100)  # a big blind is 10 chips
    assert set(match.record()) == {"mbb_per_game", "bb_per_100", "ci95", "hands", "pairs", "seed"}
    assert str(match).startswith("random against rule-based: ")


def test_results_do_not_depend_on_batches() -> None:
    whole = played(RANDOM, BaselineAgent("random", seed=5), NOLIMIT, 500, seed=3)
    parts = played(RANDOM, BaselineAgent("random", seed=5), NOLIMIT, 500, seed=3, batch_pairs=7)
    assert (len(whole), len(parts)) == (1, 36)
    for field in ("number", "cards", "length", "won"):
        assert np.array_equal(getattr(whole[0], field), np.concatenate([getattr(part, field) for part in parts]))
    results = {play_match(RANDOM, RULES, NOLIMIT, 500, 3, batch_pairs=batch).chips for batch in (1, 7, 250, 4096)}
    assert len(results) == 1
    assert play_match(RANDOM, RULES, NOLIMIT, 500, 4).chips not in results


@pytest.mark.parametrize("agent", [RANDOM, RULES, RAISE], ids=lambda agent: agent.name)
def test_an_agent_against_itself_wins_nothing(agent: BaselineAgent) -> None:
    match = play_match(agent, agent, NOLIMIT, 1000)
    assert (match.chips.mean, match.chips.half_width) == (0, 0)


def test_blueprints_play_as_in_a_duel() -> None:
    """The compiled duel of two strategies over one tree has the same mean."""
    first, second = random_blueprint("leduc", 1), random_blueprint("leduc", 2)
    wanted = duel(first, second, 400_000, seed=1)
    match = play_match(BlueprintAgent(first), BlueprintAgent(second, seed=3), LEDUC, 200_000, seed=2)
    error = (wanted.ci95**2 + match.ci95**2) ** 0.5 / 1.96
    assert abs(match.mbb_per_game - wanted.mbb_per_game) < 4 * error
    assert abs(wanted.mbb_per_game) > 6 * error  # a wrong sign would fail


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    play_match(CALL, FOLD, NOLIMIT, 100, progress=lambda *at: seen.append(at), batch_pairs=20)
    assert seen == [(40, 100), (80, 100), (100, 100)]


# --- Invalid input ---


@dataclass
class Fixed:
    answer: object
    name: str = "fixed"

    def check_rules(self, rules: PokerRules) -> None:
        if rules.limit:
            raise InputError("fixed does not play limit games")

    def act(self, views: Observations):
        return self.answer(views)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda views: np.full(len(views), 150), r"agent 'fixed', MATCHSTATE:1:0::\|....: .*'r150'"),
        (lambda views: np.full(len(views), -5), "agent 'fixed', MATCHSTATE.*-5"),
        (lambda views: np.zeros(len(views) + 1, np.int32), r"agent 'fixed'.*int32 \("),
        (lambda views: np.zeros(len(views)), "float64"),
    ],
)
def test_invalid_actions(answer, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        play_match(Fixed(answer), CALL, NOLIMIT, 20)


def test_invalid_matches() -> None:
    with pytest.raises(InputError, match="hands=7"):
        play_match(CALL, FOLD, NOLIMIT, 7)
    with pytest.raises(InputError, match="fixed"):
        play_match(CALL, Fixed(None), LIMIT, 8)
    with pytest.raises(InputError, match="batch_pairs=0"):
        play_match(CALL, FOLD, NOLIMIT, 8, batch_pairs=0)
    with pytest.raises(InputError, match="1 agents"):
        round_robin({"a": CALL}, NOLIMIT)


# --- Round robins ---


def test_round_robin() -> None:
    seen: list[tuple[int, int]] = []
    agents = {"folder": FOLD, "caller": CALL, "raiser": RAISE}
    table = round_robin(agents, NOLIMIT, 2000, seed=6, progress=lambda *at: seen.append(at))
    assert table.mbb_between(0, 2) == (-750, 0)
    assert table.mbb_between(2, 0) == (750, 0)
    assert table.mbb_between(1, 2) == (0, 0)
    assert table.mean_mbb(2) == 375
    assert table.ranking[0] == 2
    assert table.matches[0, 1].chips == play_match(FOLD, CALL, NOLIMIT, 2000, 6).chips
    rows = table.rows()
    assert rows[0] == ["mbb/g", "raiser", "caller", "folder", "mean"]
    assert rows[1] == ["raiser", "", "+0 ± 0", "+750 ± 0", "+375"]
    assert str(table).splitlines()[0].split() == rows[0]
    record = table.record()
    assert [match["agents"] for match in record["matches"]] == [
        ["folder", "caller"],
        ["folder", "raiser"],
        ["caller", "raiser"],
    ]
    assert record["mean_mbb_per_game"]["raiser"] == 375
    assert seen[-1] == (6000, 6000)


# --- Agents that learn ---


class Student:
    """Agent that calls, and stores the hands that it observes."""

    def __init__(self, name: str = "student") -> None:
        self.name, self.seen = name, []

    def check_rules(self, rules: PokerRules) -> None:
        pass

    def act(self, views: Observations):
        return CALL.act(views)

    def observe(self, hands: HandRecords) -> None:
        self.seen.append(hands)


def test_observed_hands_hide_unseen_cards() -> None:
    student, all_cards = Student(), []
    play_match(RULES, student, NOLIMIT, 400, observe=all_cards.append, batch_pairs=50)
    assert len(student.seen) == len(all_cards) == 4
    folds = showdowns = 0
    for seen, full in zip(student.seen, all_cards, strict=True):
        assert np.array_equal(seen.moves, full.moves)
        for i, seat in enumerate(seen.seat_of("student").tolist()):
            state = full.betting(i)
            assert seen.hole(i, seat) == full.hole(i, seat)
            if state.folded is None:
                showdowns += 1
                assert seen.cards[i].tolist() == full.cards[i].tolist()
            else:
                folds += 1
                assert seen.hole(i, 1 - seat) == ()
                assert seen.board(i) == full.board(i)[: NOLIMIT.board_sizes[state.street]]
    assert min(folds, showdowns) > 20


def test_observed_hands_against_itself() -> None:
    first, second = Student(), Student()
    play_match(first, second, LEDUC, 40)
    assert first.seen[0].names == ("student", "student-2")
    assert len(second.seen[0]) == 40


def test_a_match_ends_by_the_clock() -> None:
    """The hands that were played are those that a shorter match would have."""
    result = play_match(RAISE, RANDOM, LEDUC, hands=10_000_000, seed=3, seconds=0.2)
    assert 4 <= result.hands < 10_000_000
    assert result.chips == play_match(RAISE, RANDOM, LEDUC, hands=result.hands, seed=3).chips
