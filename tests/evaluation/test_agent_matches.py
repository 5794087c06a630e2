"""Duplicate matches between agents: against exact values, the same for a seed, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.agents.baselines import YARDSTICKS, Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.duel import duel
from riverboat.evaluation.matches.match import play_match, round_robin
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import moves_of, play_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import values
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.records.hand_records import Hands

NOLIMIT, LIMIT, LEDUC = (read_game(name) for name in ("nolimit-200bb", "limit", "leduc"))
FOLD, CALL, RAISE, RANDOM, RULES = (Yardstick(name) for name in YARDSTICKS)


def played(first, second, rules: Rules, hands: int, seed: int = 0, **more) -> list[Hands]:
    kept: list[Hands] = []
    play_match(first, second, rules, hands, seed, observe=kept.append, **more)
    return kept


# --- results ----------------------------------------------------------------------------------


def test_known_results() -> None:
    """Always folding loses the blinds it posts: 50 in the small blind; in the big one a raise takes 100 as well."""
    assert play_match(FOLD, RAISE, NOLIMIT, 2000).mbb_per_game == -750
    assert play_match(FOLD, RAISE, NOLIMIT, 2000).ci95 == 0
    # Both put in what the other does, whatever the cards: every pair is even.
    even = play_match(CALL, RAISE, NOLIMIT, 2000)
    assert (even.mbb_per_game, even.ci95) == (0, 0)
    against_caller = play_match(CALL, FOLD, NOLIMIT, 40_000)  # 50 in one seat, a fair lottery for 100 in the other
    assert abs(against_caller.mbb_per_game - 250) < 2.5 * against_caller.ci95


@pytest.mark.parametrize("rules", [NOLIMIT, LIMIT, LEDUC, replace(NOLIMIT, stacks=(700, 1510))], ids=lambda r: r.name)
def test_every_hand_is_paid_by_the_rules(rules: Rules) -> None:
    """Cards, lines and results, one hand at a time."""
    (hands,) = played(RANDOM, RULES, rules, 300)
    assert hands.number.tolist() == list(range(300))
    showdowns = 0
    for i in range(300):
        state = Betting.start(rules)
        for move in hands.moves[i, : hands.length[i]].tolist():
            state = play_move(state, move)
        assert state.actor == TERMINAL
        assert list(moves_of(rules, state.line)) == hands.moves[i, : hands.length[i]].tolist()
        cards = hands.cards[i].tolist()
        assert len(set(cards)) == len(cards)
        hole, board = rules.hole, tuple(cards[2 * rules.hole :])
        holes = (tuple(cards[:hole]), tuple(cards[hole : 2 * hole]))
        assert values(state, holes, board) == tuple(hands.won[i])
        showdowns += state.folded is None
        assert hands.players(i) == (("random", "rule-based") if i % 2 == 0 else ("rule-based", "random"))
    assert 0 < showdowns < 300
    assert np.array_equal(hands.cards[0::2], hands.cards[1::2])  # duplicate


def test_the_result_is_the_mean_of_pairs() -> None:
    (hands,) = played(RANDOM, RULES, LIMIT, 400)
    match = play_match(RANDOM, RULES, LIMIT, 400)
    pairs = (hands.won[0::2, 0] - hands.won[1::2, 0]) / 2
    assert match.chips.mean == pytest.approx(pairs.mean())
    assert match.ci95 == pytest.approx(1.96 * pairs.std(ddof=1) / 200**0.5 * 100, rel=1e-3)
    assert match.mbb_per_game == pytest.approx(pairs.mean() * 100)  # a big blind is 10 chips
    assert set(match.record()) == {"mbb_per_game", "bb_per_100", "ci95", "hands", "pairs", "seed"}
    assert str(match).startswith("random against rule-based: ")


def test_equal_seeds_mean_equal_matches_whatever_the_batches() -> None:
    whole = played(RANDOM, Yardstick("random", seed=5), NOLIMIT, 500, seed=3)
    parts = played(RANDOM, Yardstick("random", seed=5), NOLIMIT, 500, seed=3, pairs_at_once=7)
    assert (len(whole), len(parts)) == (1, 36)
    for field in ("number", "cards", "length", "won"):
        assert np.array_equal(getattr(whole[0], field), np.concatenate([getattr(part, field) for part in parts]))
    results = {play_match(RANDOM, RULES, NOLIMIT, 500, 3, pairs_at_once=batch).chips for batch in (1, 7, 250, 4096)}
    assert len(results) == 1
    assert play_match(RANDOM, RULES, NOLIMIT, 500, 4).chips not in results


@pytest.mark.parametrize("agent", [RANDOM, RULES, RAISE], ids=lambda agent: agent.name)
def test_an_agent_against_itself_wins_nothing(agent: Yardstick) -> None:
    match = play_match(agent, agent, NOLIMIT, 1000)
    assert (match.chips.mean, match.chips.half_width) == (0, 0)


def test_blueprints_play_as_in_a_duel() -> None:
    """Another way to the same mean: the compiled duel of two strategies over one tree."""
    first, second = random_blueprint("leduc", 1), random_blueprint("leduc", 2)
    wanted = duel(first, second, 400_000, seed=1)
    match = play_match(BlueprintAgent(first), BlueprintAgent(second, seed=3), LEDUC, 200_000, seed=2)
    error = (wanted.ci95**2 + match.ci95**2) ** 0.5 / 1.96
    assert abs(match.mbb_per_game - wanted.mbb_per_game) < 4 * error
    assert abs(wanted.mbb_per_game) > 6 * error  # so that a wrong sign would show


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    play_match(CALL, FOLD, NOLIMIT, 100, progress=lambda *at: seen.append(at), pairs_at_once=20)
    assert seen == [(40, 100), (80, 100), (100, 100)]


# --- what is refused --------------------------------------------------------------------------


@dataclass
class Fixed:
    answer: object
    name: str = "fixed"

    def check_rules(self, rules: Rules) -> None:
        if rules.limit:
            raise InputError("fixed does not play limit games")

    def act(self, views: Views):
        return self.answer(views)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda views: np.full(len(views), 150), r"agent 'fixed', MATCHSTATE:1:0::\|....: illegal action 'r150'"),
        (lambda views: np.full(len(views), -5), "-5 is no move|illegal action 'r-5'"),
        (lambda views: np.zeros(len(views) + 1, np.int32), "one whole number for each"),
        (lambda views: np.zeros(len(views)), "float64"),
    ],
)
def test_what_no_agent_may_do(answer, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        play_match(Fixed(answer), CALL, NOLIMIT, 20)


def test_what_is_no_match() -> None:
    with pytest.raises(InputError, match="hands=7"):
        play_match(CALL, FOLD, NOLIMIT, 7)
    with pytest.raises(InputError, match="does not play limit"):
        play_match(CALL, Fixed(None), LIMIT, 8)
    with pytest.raises(InputError, match="pairs_at_once=0"):
        play_match(CALL, FOLD, NOLIMIT, 8, pairs_at_once=0)
    with pytest.raises(InputError, match="two or more"):
        round_robin({"a": CALL}, NOLIMIT)


# --- round robins -----------------------------------------------------------------------------


def test_round_robin() -> None:
    seen: list[tuple[int, int]] = []
    agents = {"folder": FOLD, "caller": CALL, "raiser": RAISE}
    table = round_robin(agents, NOLIMIT, 2000, seed=6, progress=lambda *at: seen.append(at))
    assert table.mbb(0, 2) == (-750, 0)
    assert table.mbb(2, 0) == (750, 0)
    assert table.mbb(1, 2) == (0, 0)
    assert table.mean(2) == 375
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


# --- agents that learn --------------------------------------------------------------------------


class Student:
    """Calls, and remembers what it was shown."""

    def __init__(self, name: str = "student") -> None:
        self.name, self.seen = name, []

    def check_rules(self, rules: Rules) -> None:
        pass

    def act(self, views: Views):
        return CALL.act(views)

    def observe(self, hands: Hands) -> None:
        self.seen.append(hands)


def test_agents_that_learn_are_shown_their_hands_as_they_saw_them() -> None:
    student, all_cards = Student(), []
    play_match(RULES, student, NOLIMIT, 400, observe=all_cards.append, pairs_at_once=50)
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


def test_an_agent_that_learns_from_itself_sees_one_side_at_a_time() -> None:
    first, second = Student(), Student()
    play_match(first, second, LEDUC, 40)
    assert first.seen[0].names == ("student", "student-2")
    assert len(second.seen[0]) == 40
