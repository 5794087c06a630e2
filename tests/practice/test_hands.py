"""Reports of played hands: statistics, results without all-in luck, preflop ranges, and reviews of heads-up pots."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.formats.site_samples import GG_POKER, ONGAME, POKER_STARS, SAMPLES

from riverboat.cards.notation import format_cards, parse_cards
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import rank
from riverboat.cli.players import hands
from riverboat.core.errors import InputError
from riverboat.formats.sites.reader import ReadHands, read_text
from riverboat.games.holdem.betting_rules import CALL, FOLD
from riverboat.games.holdem.table_hands import TableHand
from riverboat.practice.hands.pots import heads_up_players, review_pot, reviewable
from riverboat.practice.hands.ranges import DEFAULT_FILE, PreflopAction, RangeLibrary, preflop_action
from riverboat.practice.hands.report import make_report, session_report, write_phhs
from riverboat.practice.hands.results import all_in_winnings, money, stake_results
from riverboat.practice.hands.statistics import table_statistics


def sample_hand(name: str) -> TableHand:
    (text,) = (sample.text for sample in SAMPLES if sample.name == name)
    (hand,) = read_text(text).hands
    return hand


def table(actions: list[tuple[int, int]], holes: dict[int, str], board: str, **fields: object) -> TableHand:
    """A six-handed hand with stacks of 100 big blinds, in cents: SB, BB, UTG, HJ, CO, BTN are players 0 to 5."""
    cards = tuple(parse_cards(holes.get(k, "")) for k in range(6))
    values = {"stacks": (10000,) * 6, "collected": (0,) * 6, "rake": 0, "hero": 5} | fields
    return TableHand(
        names=("Small", "Big", "Under", "Jack", "Cut", "Hero"), blinds=(50, 100, 0, 0, 0, 0), actions=tuple(actions),
        big_blind=100, holes=cards, boards=(parse_cards(board),), antes=(0,) * 6, **values,  # type: ignore[arg-type]
    )  # fmt: skip


FOLDED = [(2, FOLD), (3, FOLD), (4, FOLD)]
SINGLE_RAISED = [*FOLDED, (5, 250), (0, FOLD), (1, CALL)]


# --- statistics ---


def test_statistics_count_opportunities_by_position_and_street() -> None:
    flop = [(1, CALL), (5, 200), (1, 600), (5, CALL)]
    turn = [(1, CALL), (5, CALL)]
    river = [(1, 1000), (5, FOLD)]
    raised = table([*SINGLE_RAISED, *flop, *turn, *river], {5: "AsKd"}, "2c7dJhKs3d")
    three_bet = table([*FOLDED, (5, 250), (0, 900), (1, FOLD), (5, FOLD)], {5: "AsKd"}, "")
    limped = table(
        [(2, CALL), (3, FOLD), (4, FOLD), (5, FOLD), (0, FOLD), (1, CALL), (1, CALL), (2, 100), (1, FOLD)], {}, "2c7dJh"
    )
    hero = table_statistics([(raised, 5), (three_bet, 5), (limped, 5)])
    expected = {
        ("vpip", "BTN", "all"): (2, 3),
        ("pfr", "all", "all"): (2, 3),
        ("steal", "BTN", "all"): (2, 2),
        ("fold_to_three_bet", "all", "all"): (1, 1),
        ("three_bet", "all", "all"): (0, 0),
        ("c_bet", "all", "flop"): (1, 1),
        ("c_bet", "all", "turn"): (0, 0),
        ("wtsd", "all", "all"): (0, 1),
        ("aggression", "all", "flop"): (1, 2),
        ("aggression", "all", "river"): (0, 1),
    }
    found = {key: (hero.get(*key).count, hero.get(*key).opportunities) for key in expected}
    assert found == expected
    big = table_statistics([(raised, 1), (three_bet, 1), (limped, 1)])
    assert (big.get("fold_to_c_bet", "BB", "flop").count, big.get("fold_to_c_bet", "BB", "flop").opportunities) == (
        0,
        1,
    )
    assert (big.get("check_raise", "BB", "flop").count, big.get("check_raise").opportunities) == (1, 2)
    assert (big.get("vpip").count, big.get("vpip").opportunities) == (1, 3)
    assert hero.hands == {"BTN": 3, "all": 3}
    json.dumps(hero.to_dict())


# --- results ---


def brute_force_equity(first: str, second: str, board: str, dead: str = "") -> float:
    known = {*parse_cards(first), *parse_cards(second), *parse_cards(board), *parse_cards(dead)}
    left = [card for card in range(52) if card not in known]
    need = 5 - len(parse_cards(board))
    total = wins = 0.0
    for cards in combinations(left, need):
        runout = (*parse_cards(board), *cards)
        one, two = rank((*parse_cards(first), *runout)), rank((*parse_cards(second), *runout))
        total += 1
        wins += 1.0 if one > two else 0.5 if one == two else 0.0
    return wins / total


def test_all_ins_are_worth_their_exact_equity() -> None:
    actions = [*SINGLE_RAISED, (1, CALL), (5, 9750), (1, CALL)]
    hand = table(actions, {5: "AsKd", 1: "JdTd"}, "2c7dJhKs3d", collected=(0, 0, 0, 0, 0, 20000), rake=50)
    expected = all_in_winnings(hand)
    assert expected is not None
    share = brute_force_equity("AsKd", "JdTd", "2c7dJh")
    assert expected[5] == pytest.approx(share * 20050 * (1 - 50 / 20050) - 10000)
    assert sum(expected) == pytest.approx(-50)
    (result,) = stake_results([(hand, 5)])
    assert (result.won, result.expected, result.all_ins) == (100.0, pytest.approx(expected[5] / 100), 1)


def test_side_pots_have_equities_of_their_own() -> None:
    hand = sample_hand("three all-in with a side pot")
    expected = all_in_winnings(hand)
    assert expected is not None
    assert sum(expected) == pytest.approx(-50)
    order = {name: k for k, name in enumerate(hand.names)}
    hero, second = order["Hero"], order["Player2"]
    held = {k: format_cards(hand.holes[k]) for k in range(3)}
    turn = sample_hand("run it twice after the turn")  # two boards, all-in on the flop
    assert all_in_winnings(turn) is not None
    keep = 1 - hand.rake / 2400
    from riverboat.cards.equity.equities import equity

    main = equity(held[hero], held[second], held[order["Player3"]]).shares[0]
    side = equity(held[hero], held[second], dead=hand.holes[order["Player3"]]).shares[0]
    assert expected[hero] == pytest.approx(keep * (1200 * main + 1200 * side) - 1000)


def test_dead_cards_cannot_be_dealt() -> None:
    from riverboat.cards.equity.equities import equity

    board, dead = "2c7dJhKs", "QhQs"
    found = equity("AsKd", "JdTd", board=board, dead=parse_cards(dead)).shares[0]
    assert found == pytest.approx(brute_force_equity("AsKd", "JdTd", board, dead))
    with pytest.raises(InputError, match="hands only"):
        equity("AA", "KK", dead=parse_cards("2c"))


def test_hands_without_an_all_in_keep_their_result() -> None:
    for name in ("steal", "showdown with a mucked hand, timeouts, disconnections and chat"):
        assert all_in_winnings(sample_hand(name)) is None


def test_results_are_grouped_by_stake_and_currency() -> None:
    played = [(hand, max(hand.hero, 0)) for sample in SAMPLES for hand in read_text(sample.text).hands]
    results = stake_results(played)
    assert sum(result.hands for result in results) == len(SAMPLES)
    assert {"$0.05/$0.10", "€0.05/€0.10", "tournaments"} <= {result.stake for result in results}
    assert len([result for result in results if result.stake.endswith("/$0.10")]) == 1  # also without a small blind
    assert money(-5, "GBP", 100) == "-£0.05"


# --- preflop ranges ---


@pytest.mark.parametrize(
    ("actions", "player", "expected"),
    [
        (SINGLE_RAISED, 5, ("open", "BTN", "")),
        (SINGLE_RAISED, 1, ("call", "BB", "BTN")),
        ([(2, 250), (3, FOLD), (4, FOLD), (5, 800), (0, FOLD), (1, FOLD), (2, CALL)], 5, ("three_bet", "BTN", "UTG")),
        (
            [(2, 250), (3, FOLD), (4, FOLD), (5, 800), (0, FOLD), (1, FOLD), (2, CALL)],
            2,
            ("call_three_bet", "UTG", "BTN"),
        ),
        ([*FOLDED, (5, 250), (0, 900), (1, FOLD), (5, 2200), (0, CALL)], 0, ("call_four_bet", "SB", "BTN")),
        ([*FOLDED, (5, 250), (0, 900), (1, FOLD), (5, 2200), (0, CALL)], 5, ("four_bet", "BTN", "SB")),
        ([*FOLDED, (5, FOLD), (0, CALL), (1, CALL)], 0, ("limp", "SB", "")),
        ([*FOLDED, (5, FOLD), (0, CALL), (1, CALL)], 1, ("check", "BB", "")),
        ([*FOLDED, (5, FOLD), (0, CALL), (1, 300), (0, CALL)], 1, ("raise_limpers", "BB", "")),
    ],
)
def test_preflop_actions_are_recognized(
    actions: list[tuple[int, int]], player: int, expected: tuple[str, str, str]
) -> None:
    found = preflop_action(table(actions, {}, "2c7dJh"), player)
    assert (found.action, found.position, found.opponent) == expected
    assert RangeLibrary.load().find(found).range.combos > 0


def test_the_library_of_the_package_has_every_action() -> None:
    library = RangeLibrary.load()
    for section, entries in library.sections.items():
        for key, text in entries.items():
            assert 0 < Range.parse(text).percent < 100, (section, key)
    for action in ("open", "limp", "check", "call", "three_bet", "call_three_bet", "four_bet", "call_four_bet"):
        assert library.find(PreflopAction(action, "BTN", "BB", True, heads_up=True)).range.combos
    assert library.find(PreflopAction("open", "BTN", heads_up=True)).entry == "heads-up open, any"
    assert "Source:" in DEFAULT_FILE.read_text(encoding="utf-8")


def test_entries_of_an_own_file_replace_those_of_the_package(tmp_path: Path) -> None:
    own = tmp_path / "ranges.toml"
    own.write_text('[call]\n"BB vs BTN" = "22+"\n', encoding="utf-8")
    library = RangeLibrary.load(own)
    assert library.find(PreflopAction("call", "BB", "BTN")).text == "22+"
    assert library.find(PreflopAction("call", "BB", "UTG")).text == RangeLibrary.load().sections["call"]["BB vs UTG"]
    for text, message in (
        ('[cal]\nany = "22+"', "section"),
        ('[call]\nBX = "22+"', "write a position"),
        ('[call]\nBB = "2x+"', "BB"),
        ("[call]\nBB = 3", "must be a text"),
        ("call = 3", "must be a section"),
        ("[call", "TOML|line"),
    ):
        own.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            RangeLibrary.load(own)


# --- reviews ---


def shallow(hole: str, last: list[tuple[int, int]]) -> TableHand:
    """A 3-bet pot with little behind, so that it is solved in a moment: button against small blind."""
    preflop = [*FOLDED, (5, 250), (0, 1000), (1, FOLD), (5, CALL)]
    return table(
        [*preflop, (0, CALL), (5, CALL), (0, CALL), (5, CALL), *last], {5: hole}, "2c7dJhKs3d", stacks=(1800,) * 6
    )


def test_only_heads_up_pots_with_known_cards_are_reviewed() -> None:
    hand = shallow("AsKd", [(0, CALL), (5, CALL)])
    assert heads_up_players(hand) == (0, 5)
    assert reviewable(hand, 5)
    assert not reviewable(hand, 0)  # unknown cards
    assert heads_up_players(sample_hand("three all-in with a side pot")) is None
    assert heads_up_players(sample_hand("steal")) is None
    with pytest.raises(InputError, match="no heads-up pot"):
        review_pot(hand, 0, RangeLibrary.load())


def test_folding_the_nuts_on_the_river_costs_the_pot() -> None:
    hand = shallow("KdKc", [(0, 400), (5, FOLD)])
    review = review_pot(hand, 5, RangeLibrary.load(), threads=1)
    assert (review.pot, review.stack) == (2100, 800)
    assert [chosen.name for chosen in review.ranges] == ["SB 3-bets BTN", "BTN calls the 3-bet of SB"]
    flop, turn, river = review.decisions
    assert (flop.words, turn.words, river.words) == ("check", "check", "fold")
    assert river.best.startswith(("raise to", "call"))
    # three kings beat every hand: a call wins the pot of 2,100 and the bet of 400, and a fold loses the best of that
    assert {words: ev for words, _, ev in river.options}["call"] == pytest.approx(2500, rel=1e-5)
    assert river.ev_lost is not None
    assert 2400 < river.ev_lost <= 2100 + 800 + 1
    assert review.ev_lost == pytest.approx(sum(decision.ev_lost or 0 for decision in review.decisions))
    for decision in review.decisions:
        assert decision.verdict is not None
        total = sum(p for _, p, _ in decision.options)
        assert total == pytest.approx(1, abs=1e-6)
    json.dumps(review.to_dict())
    report = make_report(ReadHands([hand], files=1), review=5)
    assert report.reviewable == 1
    worst_review, worst = report.worst[0]
    assert (worst_review.hand, worst.street, worst.words) == (hand, 3, "fold")
    json.dumps(report.to_dict())


def test_the_report_reads_files_and_names_players(tmp_path: Path) -> None:
    file = tmp_path / "evening.txt"
    file.write_text("\n\n".join(s.text for s in [*POKER_STARS, *GG_POKER, *ONGAME]), encoding="utf-8")
    report = session_report([file])
    assert report.statistics.player == "Hero"
    assert report.to_dict()["hands"] == len(POKER_STARS) + len(GG_POKER) + len(ONGAME)
    other = session_report([file], players=["Player2", "a1b2c3d4"])
    assert len(other.played) > len(GG_POKER)
    with pytest.raises(InputError, match="Player22"):
        session_report([file], players=["Player22"])
    with pytest.raises(InputError, match="review=-1"):
        session_report([file], review=-1)


def test_random_hands_of_the_range_agree_with_the_weights() -> None:
    """A hand of the player outside of its range gets a small weight, so that it can be reviewed."""
    hand = shallow("7s2d", [(0, CALL), (5, CALL)])
    review = review_pot(hand, 5, RangeLibrary.load(), threads=1)
    assert all(decision.ev_lost is not None for decision in review.decisions)
    assert np.isfinite(review.ev_lost)


# --- the command ---


def test_the_command_prints_writes_and_reads_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "hands", tmp_path / "evening.phhs"
    folder.mkdir()
    for sample in SAMPLES:
        name = f"{sample.site} {sample.name}".replace("/", "-")
        (folder / f"{name}.txt").write_text(sample.text, encoding="utf-8")
    omaha = SAMPLES[0].text.replace("Hold'em No Limit", "Omaha Pot Limit").replace("#1001", "#77")
    (folder / "zz.txt").write_text(omaha, encoding="utf-8")
    hands([folder], out=out)
    text = capsys.readouterr().out
    assert f"{len(SAMPLES)} hands of {len(SAMPLES) + 1} files read in " in text
    assert "a minute); 1 refused" in text
    for word in (
        "another game",
        "zz.txt:1",
        "$0.05/$0.10",
        "by position",
        "VPIP",
        "W$SD",
        "heads-up pots can be reviewed",
    ):
        assert word in text
    hands([out], json=True)
    facts = json.loads(capsys.readouterr().out)
    assert facts["hands"] == len(SAMPLES)
    assert facts["refused"] == []
    assert {row["statistic"] for row in facts["statistics"]["frequencies"]} >= {"vpip", "pfr", "aggression"}
    hands([folder / "zz.txt", out], players=["Hero"], json=True)
    (refusal,) = json.loads(capsys.readouterr().out)["refused"]
    assert (Path(refusal["file"]).name, refusal["line"], refusal["reason"]) == ("zz.txt", 1, "another game")
    with pytest.raises(InputError, match=r"none can be read: another game \(1\).*zz.txt:1: omaha"):
        hands([folder / "zz.txt"])
    with pytest.raises(InputError, match=r"\.phhs"):
        hands([folder], out=tmp_path / "evening.txt")


def test_the_command_prints_the_most_expensive_decisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "one.phhs"
    write_phhs(file, [shallow("KdKc", [(0, 400), (5, FOLD)])])
    hands([file], players=["Hero"], review=3)
    text = capsys.readouterr().out
    for word in (
        "most expensive decisions of 1 heads-up pots",
        "river",
        "fold",
        "SB 3-bets BTN [three_bet, SB]",
        "solved from the river",
    ):
        assert word in text
