"""Statistics of players from hand records."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riverboat.agents.baselines import BaselineAgent
from riverboat.cli.players import hands as command
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.formats.hand_files import gather_hands, open_hand_writer
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import HandRecords, RecordedHand, build_records, trace_decisions
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.opponents.statistics import STATISTICS, FrequencyEstimate, player_statistics

RULES = PokerRules(blinds=(10, 5), stacks=(400, 900), name="table")


def played(*lines: tuple[str, str, str], rules: PokerRules = RULES) -> HandRecords:
    """Hands with names by seat and a line; all cards are hidden."""
    ended = [BettingState.from_line(rules, line) for _, _, line in lines]
    names = [(first, second) for first, second, _ in lines]
    return build_records([RecordedHand(k, names[k], ended[k], ((), (), ())) for k in range(len(lines))], rules)


def test_traced_decisions_equal_the_rules() -> None:
    """The compiled replay against the state machine, with stacks and antes that differ from hand to hand."""
    records: list[HandRecords] = []
    for ante, stacks in ((0, (900, 900)), (0, (700, 1510)), (7, (20_000, 20_000))):
        rules = PokerRules(blinds=(100, 50), stacks=stacks, ante=ante, name="table")
        play_match(BaselineAgent("random"), BaselineAgent("rule-based"), rules, 40, observe=records.append)
    for hands in records:
        found, k = trace_decisions(hands), 0
        for i in range(len(hands)):
            state = BettingState.start(hands.rules_of(i))
            for move in hands.moves[i, : hands.length[i]].tolist():
                expected = (i, state.turn, state.street, state.raises, state.to_call, max(state.spent), move)
                assert expected == (
                    found.hand[k], found.seat[k], found.street[k], found.raises[k], found.to_call[k], found.larger_total[k],
                    found.action[k],
                )  # fmt: skip
                assert (
                    None if found.previous_aggressor[k] < 0 else found.previous_aggressor[k]
                ) == state.previous_aggressor
                assert hands.names[found.player[k]] == hands.players(i)[state.turn]
                state, k = state.play(move), k + 1
        assert k == len(found)


def test_statistics_by_hand() -> None:
    """Opportunities counted by hand: `a` sits in seat 0 (big blind) in the first hands, then in seat 1 (dealer)."""
    hands = played(
        ("a", "b", "r30r90c/r100f"),  # a three-bets and bets the flop
        ("a", "b", "r30c/cr60f"),  # b makes a continuation bet, a folds
        ("a", "b", "r30c/cr60c/cc/cc"),  # a calls, showdown
        ("a", "b", "cc/cc/cc/cc"),  # only b puts in chips voluntarily
        ("a", "b", "f"),  # a has no decision
        ("b", "a", "r30c/cc/cc/cc"),  # a raises, and checks back
        ("b", "a", "f"),
        ("b", "a", "r30c/r45r80f"),  # b bets first: no opportunity for a to bet; a raises
        ("b", "a", "r400c///"),  # called all-in: both see the flop
    )
    statistics = player_statistics(hands, trace_decisions(hands), "a")
    found = {name: (share.count, share.opportunities) for name, share in statistics.frequencies.items()}
    assert found == {
        "vpip": (3 + 3, 8),
        "pfr": (1 + 3, 8),
        "three_bet": (1, 3),
        "continuation_bet": (1, 2),
        "fold_to_continuation_bet": (1, 2),
        "went_to_showdown": (2 + 2, 7),
    }
    assert set(found) == set(STATISTICS)
    flop = {
        position: (s.count, s.opportunities)
        for (street, position), s in statistics.aggression.items()
        if street == "flop"
    }
    assert flop == {"big blind": (1, 3), "dealer": (1, 1)}
    other = player_statistics(hands, trace_decisions(hands), "b")
    assert (other["fold_to_continuation_bet"].count, other["fold_to_continuation_bet"].opportunities) == (1, 1)
    with pytest.raises(InputError, match="'nobody'"):
        player_statistics(hands, trace_decisions(hands), "nobody")


@pytest.mark.parametrize(
    ("count", "chances", "low", "high"),
    # Brown, Cai & DasGupta 2001 call it the score interval; these are its closed forms for 0 and n of n.
    [(0, 10, 0.0, 3.8414588 / 13.8414588), (10, 10, 10 / 13.8414588, 1.0), (0, 0, 0.0, 1.0)],
)
def test_wilson(count: int, chances: int, low: float, high: float) -> None:
    share = FrequencyEstimate(count, chances)
    assert share.interval == pytest.approx((low, high), abs=1e-8)
    assert (share.frequency is None) == (chances == 0)


def test_wilson_coverage() -> None:
    rng = np.random.default_rng(1)
    inside = [s.low <= 0.1 <= s.high for s in (FrequencyEstimate(int(k), 40) for k in rng.binomial(40, 0.1, 4000))]
    assert 0.93 < np.mean(inside) < 0.98


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.phhs"
    with open_hand_writer(path) as write:
        play_match(
            BaselineAgent("always-raise"), BaselineAgent("always-call"), read_game("nolimit-200bb"), 40, observe=write
        )
    with path.open("a") as file:
        file.write("[99]\nvariant = 'PO'\n")
    command([path], plot=tmp_path / "facts.png", json=True)
    printed = json.loads(capsys.readouterr().out)
    assert (printed["hands"], printed["refused"]) == (40, {"a field is missing": 1})
    caller = next(player for player in printed["players"] if player["player"] == "always-call")
    assert caller["vpip"]["share"] == 1.0
    assert caller["pfr"]["share"] == 0.0
    assert caller["went_to_showdown"]["share"] == 1.0
    assert caller["aggression"]["flop"]["dealer"]["share"] in (None, 0.0)
    assert (tmp_path / "facts.png").stat().st_size > 5000
    command([path], players=["always-raise"])
    text = capsys.readouterr().out
    assert "1 × a field is missing" in text
    assert "PFR" in text
    assert gather_hands([path]).hands is not None
    with pytest.raises(InputError, match=r"always-rise.*always-raise"):
        command([path], players=["always-rise"])
