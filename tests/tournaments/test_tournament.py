"""Tournaments: states, prizes, what follows on a hand; values against all deals; the loop against its twin."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from reference.all_in import classes_of, deals
from riverboat.cards.deck import Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.tournaments.fictitious_play import play_hand
from riverboat.tournaments.hand_tables import HandTables, pairs_of
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.iteration import Iteration, fictitious_play
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.run import SolvedTournament, load
from riverboat.tournaments.showdown_orders import count, count_two
from riverboat.tournaments.stage import Stage
from riverboat.tournaments.tournament import Tournament, rounded

DECK, BOARD = Deck.small(4, 2), 1


@cache
def tables() -> HandTables:
    group = classes_of(DECK)
    return HandTables.of(DECK, group, None, count(DECK, group, board=BOARD), BOARD)


# --- states and what follows ------------------------------------------------------------------


def test_states_of_the_paper() -> None:
    paper, small = Tournament(), Tournament.small()
    assert sum(len(state) == 3 for state in paper.states) == 946  # reference: C(44, 2)
    assert sum(len(state) == 2 for state in paper.states) == 44
    assert sum(len(state) == 3 for state in small.states) == 91
    assert all(sum(state) == 45 for state in paper.states)
    assert paper.fee == 10


@pytest.mark.parametrize(
    "stacks", [[3.0, 4.0, 5.0], [2.5, 3.5, 6.0], [1 / 3, 2 / 3, 14.0], [1.4, 0.8, 2.8], [0.25, 4.75]]
)
def test_rounding_keeps_means(stacks: list[float]) -> None:
    branches = list(rounded(stacks))
    assert sum(chance for chance, _ in branches) == pytest.approx(1)
    assert np.sum([chance * np.array(units) for chance, units in branches], axis=0) == pytest.approx(stacks)
    assert {sum(units) for _, units in branches} == {round(sum(stacks))}


def test_what_follows_on_a_hand() -> None:
    paper = Tournament()
    ((chance, results),) = paper.after((10, 15, 20), (3000.0, 4200.0, 6300.0))
    assert chance == 1
    assert results == [((14, 21, 10), 2), ((14, 21, 10), 0), ((14, 21, 10), 1)]  # the small blind has the button next
    ((_, results),) = paper.after((10, 15, 20), (0.0, 4500.0, 9000.0))
    assert results == [20.0, ((30, 15), 1), ((30, 15), 0)]  # nobody has the big blind twice
    ((_, results),) = paper.after((10, 15, 20), (3000.0, 0.0, 10500.0))
    assert results == [((35, 10), 1), 20.0, ((35, 10), 0)]
    ((_, results),) = paper.after((10, 15, 20), (0.0, 0.0, 13500.0))
    assert results == [20.0, 30.0, 50.0]  # two go out: by the stacks that they began with
    ((_, results),) = paper.after((10, 10, 25), (0.0, 0.0, 13500.0))
    assert results == [25.0, 25.0, 50.0]
    halves = list(paper.after((10, 15, 20), (3150.0, 4350.0, 6000.0)))
    assert [chance for chance, _ in halves] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"players": 4}, "4 players"),
        ({"chips": 1000.0}, "give a multiple"),
        ({"chips": 600.0}, "at least 3 units"),
        ({"unit": 0.0}, "unit = 0.0"),
        ({"unit": 30.0}, "a larger unit"),
        ({"payouts": (0.0,)}, "above zero"),
        ({"payouts": (4.0, 3.0, 2.0, 1.0)}, "4 payouts for 3"),
        ({"blinds": (600.0, 300.0)}, "blinds"),
    ],
)
def test_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tournament(**given)  # type: ignore[arg-type]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text("players = 2\nchips = 8\nunit = 1\nblinds = [1, 2]\npayouts = [1, 0]\n")
    read = Tournament.read(path)
    assert read == Tournament(2, 8.0, 1.0, (1.0, 2.0), 0.0, (1.0, 0.0))
    assert Tournament.from_dict(read.to_dict()) == read
    for text, message in (
        ("chip = 8", "unknown entry 'chip'"),
        ("blinds = 3", "a list of numbers"),
        ("ante = 'x'", "number"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            Tournament.read(path)


# --- hands ------------------------------------------------------------------------------------


def test_two_of_three_hands_stand_as_two() -> None:
    group = classes_of(DECK)
    two, three = count_two(DECK, group, board=BOARD), pairs_of(count(DECK, group, board=BOARD))
    assert three.wins == pytest.approx(two.wins, abs=1e-6)
    assert three.ties == pytest.approx(two.ties, abs=1e-6)
    assert three.hands / three.hands.sum() == pytest.approx(two.hands / two.hands.sum(), abs=1e-6)


@pytest.mark.parametrize("memory", [0, 5])
def test_the_loop_is_fictitious_play(memory: int) -> None:
    stage = Stage(PushFold((6, 4, 9), payouts=(50, 30, 20)), tables())
    start = np.random.default_rng(1).random((6, stage.classes)) if memory else stage.start
    first, gain = play_hand(stage, start, stage.pay, memory, 1, 0.0)
    worth = stage.counterfactual(start)
    sure = np.abs(worth[:, 0] - worth[:, 1]) > 1e-5  # the deck is small, and some classes do not care
    assert sure.mean() > 0.8
    assert first[sure] == pytest.approx((start + ((worth[:, 0] > worth[:, 1]) - start) / (memory + 1))[sure], abs=2e-3)
    mean, gain = play_hand(stage, start, stage.pay, memory, 7, 0.0)  # sums that were changed class by class
    assert stage.seen(mean).answer(stage.pay)[1].max() == pytest.approx(gain, abs=1e-4)
    again, left = play_hand(stage, mean, stage.pay, 7, 0, 0.0)
    assert left == pytest.approx(gain, abs=1e-4)
    assert np.array_equal(again, mean)
    assert fictitious_play(stage, mean, stage.pay, 7, 0)[1] == pytest.approx(gain, abs=1e-4)


# --- whole tournaments ------------------------------------------------------------------------


def tiny() -> tuple[Tournament, Iteration]:
    found = Tournament(3, 6.0, 1.0, (1.0, 2.0), 0.0, (50.0, 30.0, 20.0))
    stages = [Stage(found.spot(state), tables()) for state in found.states]
    return found, Iteration(found.game_of(stages), "pi-fp", found.chip_model, learner=play_hand, until=1e-3)


def outcomes(strategy: Array, lines: dict[str, int], players: int) -> dict[tuple[str, tuple[int, ...]], float]:
    """How often hands end in each way: all deals, all lines."""
    group, found, total = classes_of(DECK), defaultdict(float), 0
    for hands, order in deals(DECK, players, BOARD):
        total += 1
        for moves in product("JF", repeat=players):
            line, chance = "".join(moves), 1.0
            for seat, move in enumerate(moves):
                if line[:seat] in lines:
                    jam = strategy[lines[line[:seat]], group[hands[seat]]]
                    chance *= jam if move == "J" else 1 - jam
                elif move == "J":
                    chance = 0.0
            if chance:
                found[line, order] += chance
    return {key: chance / total for key, chance in found.items()}


def test_values_against_all_deals() -> None:
    """Strategies at random; hand after hand until the values do not change."""
    asked, run = tiny()
    rng = np.random.default_rng(4)
    run.strategies = [rng.random(strategy.shape) for strategy in run.strategies]
    found = run.check().values
    steps: dict[int, list[tuple[float, list[float | int]]]] = defaultdict(list)
    for n, state in enumerate(asked.states):
        stage = run.game.stages[n]
        for (line, order), chance in outcomes(run.strategies[n], stage.lines, len(state)).items():  # type: ignore[attr-defined]
            inside = [seat for seat, move in enumerate(line) if move == "J"]
            ranks = [sum(order[j] < order[i] for j in inside) if i in inside else None for i in range(len(line))]
            for part, results in asked.after(state, asked.spot(state).after(line, ranks)):
                places = [r if isinstance(r, float) else asked.place(*r) for r in results]
                steps[n].append((chance * part, places))
    values = asked.chip_model.copy()
    for _ in range(150):
        new = np.zeros_like(values)
        for n, branches in steps.items():
            first = int(run.game.place_of[n])
            for chance, places in branches:
                for seat, place in enumerate(places):
                    new[first + seat] += chance * (place if isinstance(place, float) else values[place])
        values = new
    assert found == pytest.approx(values, abs=1e-4)


def test_a_tiny_tournament_is_solved() -> None:
    asked, run = tiny()
    before = run.check().epsilon
    for _ in range(4):
        run.step()
    check = run.check()
    assert check.epsilon < 0.05 < before
    for n, state in enumerate(asked.states):
        worth = check.values[run.game.place_of[n] : run.game.place_of[n + 1]]
        assert worth.sum() == pytest.approx(sum(asked.prizes[: len(state)]), abs=1e-3)
    heads_up = check.values[: 2 * 5]
    assert np.abs(heads_up - asked.chip_model[: 2 * 5]).max() < 5  # nearly linear in chips


def test_folders(tmp_path: Path) -> None:
    asked = Tournament(2, 4.0, 1.0, (1.0, 2.0), 0.0, (1.0, 0.0))
    rng = np.random.default_rng(0)
    strategies = [rng.random((2, 169)) for _ in asked.states]
    places = 2 * len(asked.states)
    solved = SolvedTournament(asked, "pi-fp", 3, strategies, rng.random(places), rng.random(places), 1.5)
    again = load(solved.save(tmp_path / "run"))
    assert again.tournament == asked
    assert again.steps == 3
    assert np.array_equal(again.strategies, strategies)
    assert again.epsilon == solved.epsilon


def test_the_chip_model_of_places() -> None:
    paper = Tournament.small()
    first = sum(len(s) for s in paper.states[: paper.number[(7, 4, 4)]])
    assert paper.chip_model[first : first + 3] == pytest.approx(ICM((7, 4, 4), (50, 30, 20)).values)
