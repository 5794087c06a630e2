"""Tournaments: states, prizes, successors; values against all deals; the compiled loop against the generic one."""

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
from riverboat.tournaments.fictitious_play import solve_hand
from riverboat.tournaments.hand_tables import HandTables, count_three_way, count_two_way, marginal_two_way
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.run import SolvedTournament, load_tournament
from riverboat.tournaments.stage_game import PushFoldStage
from riverboat.tournaments.stochastic_games import EquilibriumIteration, fictitious_play
from riverboat.tournaments.tournament import Tournament, round_stacks

DECK, BOARD = Deck.small(4, 2), 1


@cache
def tables() -> HandTables:
    group = classes_of(DECK)
    return HandTables.from_showdowns(DECK, group, None, count_three_way(DECK, group, board=BOARD), BOARD)


# --- States and successors ---


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
    branches = list(round_stacks(stacks))
    assert sum(probability for probability, _ in branches) == pytest.approx(1)
    assert np.sum([probability * np.array(units) for probability, units in branches], axis=0) == pytest.approx(stacks)
    assert {sum(units) for _, units in branches} == {round(sum(stacks))}


def test_successors() -> None:
    paper = Tournament()
    ((probability, results),) = paper.successors((10, 15, 20), (3000.0, 4200.0, 6300.0))
    assert probability == 1
    assert results == [((14, 21, 10), 2), ((14, 21, 10), 0), ((14, 21, 10), 1)]  # the button moves to the small blind
    ((_, results),) = paper.successors((10, 15, 20), (0.0, 4500.0, 9000.0))
    assert results == [20.0, ((30, 15), 1), ((30, 15), 0)]  # no player has the big blind twice in a row
    ((_, results),) = paper.successors((10, 15, 20), (3000.0, 0.0, 10500.0))
    assert results == [((35, 10), 1), 20.0, ((35, 10), 0)]
    ((_, results),) = paper.successors((10, 15, 20), (0.0, 0.0, 13500.0))
    assert results == [20.0, 30.0, 50.0]  # two eliminations: ranked by initial stacks
    ((_, results),) = paper.successors((10, 10, 25), (0.0, 0.0, 13500.0))
    assert results == [25.0, 25.0, 50.0]
    halves = list(paper.successors((10, 15, 20), (3150.0, 4350.0, 6000.0)))
    assert [probability for probability, _ in halves] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"players": 4}, "4 players"),
        ({"chips": 1000.0}, "1000 chips, unit 300"),
        ({"chips": 600.0}, "600 chips, unit 300.*3 units"),
        ({"unit": 0.0}, "unit = 0.0"),
        ({"unit": 30.0}, "450 units: .*unit"),
        ({"payouts": (0.0,)}, r"payouts \(0\.0,\)"),
        ({"payouts": (4.0, 3.0, 2.0, 1.0)}, "4 payouts for 3"),
        ({"blinds": (600.0, 300.0)}, "blinds"),
    ],
)
def test_invalid_parameters(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tournament(**parameters)  # type: ignore[arg-type]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text("players = 2\nchips = 8\nunit = 1\nblinds = [1, 2]\npayouts = [1, 0]\n")
    read = Tournament.load(path)
    assert read == Tournament(2, 8.0, 1.0, (1.0, 2.0), 0.0, (1.0, 0.0))
    assert Tournament.from_dict(read.to_dict()) == read
    for text, message in (
        ("chip = 8", "'chip'"),
        ("blinds = 3", "blinds = 3"),
        ("ante = 'x'", "ante = 'x'"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            Tournament.load(path)


# --- Hands ---


def test_marginal_showdowns_of_three_hands() -> None:
    group = classes_of(DECK)
    two, three = count_two_way(DECK, group, board=BOARD), marginal_two_way(count_three_way(DECK, group, board=BOARD))
    assert three.wins == pytest.approx(two.wins, abs=1e-6)
    assert three.ties == pytest.approx(two.ties, abs=1e-6)
    assert three.hands / three.hands.sum() == pytest.approx(two.hands / two.hands.sum(), abs=1e-6)


@pytest.mark.parametrize("memory", [0, 5])
def test_compiled_loop_is_fictitious_play(memory: int) -> None:
    stage = PushFoldStage(PushFold((6, 4, 9), payouts=(50, 30, 20)), tables())
    start = np.random.default_rng(1).random((6, stage.classes)) if memory else stage.initial_strategy
    first, gain = solve_hand(stage, start, stage.payoffs, memory, 1, 0.0)
    values = stage.counterfactual_values(start)
    decisive = np.abs(values[:, 0] - values[:, 1]) > 1e-5  # on a small deck some classes are indifferent
    assert decisive.mean() > 0.8
    assert first[decisive] == pytest.approx(
        (start + ((values[:, 0] > values[:, 1]) - start) / (memory + 1))[decisive], abs=2e-3
    )
    mean, gain = solve_hand(stage, start, stage.payoffs, memory, 7, 0.0)  # with incremental updates of sums
    assert stage.response_problem(mean).best_response(stage.payoffs)[1].max() == pytest.approx(gain, abs=1e-4)
    again, remaining_gain = solve_hand(stage, mean, stage.payoffs, 7, 0, 0.0)
    assert remaining_gain == pytest.approx(gain, abs=1e-4)
    assert np.array_equal(again, mean)
    assert fictitious_play(stage, mean, stage.payoffs, 7, 0)[1] == pytest.approx(gain, abs=1e-4)


# --- Whole tournaments ---


def tiny() -> tuple[Tournament, EquilibriumIteration]:
    tournament = Tournament(3, 6.0, 1.0, (1.0, 2.0), 0.0, (50.0, 30.0, 20.0))
    stages = [PushFoldStage(tournament.spot(state), tables()) for state in tournament.states]
    return tournament, EquilibriumIteration(
        tournament.make_game(stages), "pi-fp", tournament.icm_values, stage_solver=solve_hand, until=1e-3
    )


def outcomes(strategy: Array, lines: dict[str, int], players: int) -> dict[tuple[str, tuple[int, ...]], float]:
    """Compute the probability of each outcome of a hand over all deals and lines."""
    group, totals, total = classes_of(DECK), defaultdict(float), 0
    for hands, order in deals(DECK, players, BOARD):
        total += 1
        for moves in product("JF", repeat=players):
            line, probability = "".join(moves), 1.0
            for seat, move in enumerate(moves):
                if line[:seat] in lines:
                    jam = strategy[lines[line[:seat]], group[hands[seat]]]
                    probability *= jam if move == "J" else 1 - jam
                elif move == "J":
                    probability = 0.0
            if probability:
                totals[line, order] += probability
    return {key: probability / total for key, probability in totals.items()}


def test_values_against_all_deals() -> None:
    """Compare with value iteration over all deals, for random strategies."""
    tournament, run = tiny()
    rng = np.random.default_rng(4)
    run.strategies = [rng.random(strategy.shape) for strategy in run.strategies]
    values_by_chain = run.check().values
    steps: dict[int, list[tuple[float, list[float | int]]]] = defaultdict(list)
    for n, state in enumerate(tournament.states):
        stage = run.game.stages[n]
        for (line, order), probability in outcomes(run.strategies[n], stage.lines, len(state)).items():  # type: ignore[attr-defined]
            all_in = [seat for seat, move in enumerate(line) if move == "J"]
            ranks = [sum(order[j] < order[i] for j in all_in) if i in all_in else None for i in range(len(line))]
            for branch_probability, results in tournament.successors(
                state, tournament.spot(state).final_stacks(line, ranks)
            ):
                indices = [r if isinstance(r, float) else tournament.seat_index(*r) for r in results]
                steps[n].append((probability * branch_probability, indices))
    values = tournament.icm_values.copy()
    for _ in range(150):
        new = np.zeros_like(values)
        for n, branches in steps.items():
            first = int(run.game.first_seat_index[n])
            for probability, indices in branches:
                for seat, index in enumerate(indices):
                    new[first + seat] += probability * (index if isinstance(index, float) else values[index])
        values = new
    assert values_by_chain == pytest.approx(values, abs=1e-4)


def test_a_tiny_tournament_is_solved() -> None:
    tournament, run = tiny()
    initial = run.check().epsilon
    for _ in range(4):
        run.step()
    check = run.check()
    assert check.epsilon < 0.05 < initial
    for n, state in enumerate(tournament.states):
        state_values = check.values[run.game.first_seat_index[n] : run.game.first_seat_index[n + 1]]
        assert state_values.sum() == pytest.approx(sum(tournament.prizes[: len(state)]), abs=1e-3)
    heads_up = check.values[: 2 * 5]
    assert np.abs(heads_up - tournament.icm_values[: 2 * 5]).max() < 5  # nearly linear in chips


def test_folders(tmp_path: Path) -> None:
    tournament = Tournament(2, 4.0, 1.0, (1.0, 2.0), 0.0, (1.0, 0.0))
    rng = np.random.default_rng(0)
    strategies = [rng.random((2, 169)) for _ in tournament.states]
    num_pairs = 2 * len(tournament.states)
    solved = SolvedTournament(tournament, "pi-fp", 3, strategies, rng.random(num_pairs), rng.random(num_pairs), 1.5)
    again = load_tournament(solved.save(tmp_path / "run"))
    assert again.tournament == tournament
    assert again.steps == 3
    assert np.array_equal(again.strategies, strategies)
    assert again.epsilon == solved.epsilon


def test_icm_values_of_states() -> None:
    paper = Tournament.small()
    first = sum(len(s) for s in paper.states[: paper.state_index[(7, 4, 4)]])
    assert paper.icm_values[first : first + 3] == pytest.approx(ICM((7, 4, 4), (50, 30, 20)).values)
