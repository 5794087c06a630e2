"""Control variates of local best response: no bias over all deals, lower variance, settings, and runs in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from evaluation.test_local_best_response import LEDUC, PAIRS, SHORT, UNEQUAL, random_agent
from reference.local_best_response import Responder as Reference
from riverboat.agents.registry import make_agent
from riverboat.api.evaluate import lbr
from riverboat.core.errors import InputError
from riverboat.evaluation import lbr_traversal
from riverboat.evaluation.lbr_traversal import LbrTraversal
from riverboat.evaluation.local_best_response import LbrSums, local_best_response
from riverboat.evaluation.local_responder import SETTINGS, LocalResponder, raises_by_street
from riverboat.games.holdem import betting_rules
from riverboat.games.holdem.betting_rules import IN_PROGRESS
from riverboat.games.holdem.rules import PokerRules, read_game

# --- No bias: all outcomes of all random choices, each with its probability ---


@dataclass
class Outcomes:
    """Random generator that replays one path of choices and records the alternatives."""

    path: list[int]
    alternatives: list[int] = field(default_factory=list)
    probability: float = 1.0
    intervals: list[tuple[float, float]] = field(default_factory=list)

    def choose(self, probabilities: list[float]) -> int:
        position = len(self.alternatives)
        choice = self.path[position] if position < len(self.path) else 0
        self.alternatives.append(len(probabilities))
        self.probability *= probabilities[choice]
        return choice

    def random(self) -> float:
        low, high = self.intervals[self.choose([high - low for low, high in self.intervals])]
        return (low + high) / 2

    def permutation(self, cards: list[int]) -> np.ndarray:
        card = cards[self.choose([1 / len(cards)] * len(cards))]
        return np.array([*(other for other in cards if other != card), card])


class EnumeratedDeal(lbr_traversal._LbrDeal):
    """Deal whose samples are chosen by `Outcomes`; with `values`, state values are random numbers."""

    values: np.random.Generator | None = None
    table: dict[tuple[object, ...], float]

    def _split_trajectories(self, node, branches):
        shares = np.array([child.sampling_weight for child in branches.children])
        steps = np.cumsum(np.where(shares < shares.sum(), shares / max(shares.sum(), 1e-300), 0.0))
        ends = np.unique(np.concatenate([[0.0, 1.0], np.ceil(steps) - steps]))
        self.rng.intervals = [(low, high) for low, high in pairwise(ends) if high - low > 1e-12]
        return super()._split_trajectories(node, branches)

    def _value(self, *key: object) -> float:
        assert self.values is not None
        if key not in self.table:
            self.table[key] = float(self.values.normal(0.0, 3.0))
        return self.table[key]

    def _mean_after_cards(self, node) -> float:
        """Return the mean of the values of the next street, which sum over as many pairs as before the cards."""
        state = betting_rules.deal_street(self.book, node.state)
        missing = self.rules.board_sizes[state.street] - len(node.board)
        assert missing == 1
        boards = [(*node.board, card) for card in self.cards if card not in node.board]
        pairs = self.showdowns.count_hand_pairs
        return pairs(len(node.board)) * float(
            np.mean([self._value(node.moves, board) / pairs(len(node.board) + 1) for board in boards])
        )

    def _branches(self, front):
        found = super()._branches(front)
        if self.values is None:
            return found
        out = []
        for node, branches in zip(front, found, strict=True):
            children = []
            for k, child in enumerate(branches.children):
                after = child.make()
                on_street = after.state.over == IN_PROGRESS
                value = self._value(node.moves, node.board, k) if on_street else self._mean_after_cards(after)
                children.append(child._replace(state_value=value))
            out.append(replace(branches, state_value=self._value(node.moves, node.board), children=children))
        return out


def expectations(
    traversal: LbrTraversal, seat: int, values: np.random.Generator | None = None
) -> tuple[float, float, float]:
    """Return the expectations of the value and of the corrected value over all outcomes, and the mean |correction|."""
    rules, table = traversal.responder.rules, dict[tuple[object, ...], float]()
    first_cards = [tuple(order) for order in _first_boards(rules)]
    plain = corrected = size = total = 0.0
    for cards in first_cards:
        path: list[int] | None = []
        margins: dict[tuple[int, ...], np.ndarray] = {}
        while path is not None:
            outcomes = Outcomes(path)
            deal = EnumeratedDeal(traversal, seat, list(cards), margins, outcomes)  # type: ignore[arg-type]
            deal.values, deal.table = values, table
            sample = deal.sample()
            probability = outcomes.probability / len(first_cards)
            total += probability
            plain += probability * sample.value
            corrected += probability * sample.corrected
            size += probability * abs(sample.corrected - sample.value)
            chosen = [*path, *[0] * (len(outcomes.alternatives) - len(path))]
            while chosen and chosen[-1] + 1 == outcomes.alternatives[len(chosen) - 1]:
                chosen.pop()
            path = [*chosen[:-1], chosen[-1] + 1] if chosen else None
    assert total == pytest.approx(1, abs=1e-9)
    return plain, corrected, size


def _first_boards(rules: PokerRules) -> Iterator[list[int]]:
    """Yield the deck with each card first, for games whose first board has one card."""
    deck = rules.deck.cards.tolist()
    for card in deck:
        yield [card, *(other for other in deck if other != card)]


@cache
def reference(rules: PokerRules, seed: int, actions: str, start: int, seat: int) -> float:
    return Reference(random_agent(rules, seed), rules, actions, start).value(seat)


CASES = [
    (LEDUC, "fcpa", 0),
    (PAIRS, "fcpa", 0),
    pytest.param(LEDUC, "fc", 0, marks=pytest.mark.slow),
    pytest.param(SHORT, "fcpa", 1, marks=pytest.mark.slow),
    pytest.param(UNEQUAL, "56", 0, marks=pytest.mark.slow),
    pytest.param(UNEQUAL, "fcpa", 2, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("rules", "actions", "start"), CASES)
def test_no_bias_over_all_deals(rules: PokerRules, actions: str, start: int) -> None:
    """Over all boards and sampled lines, both estimates have the value of the reference implementation."""
    traversal = LbrTraversal(LocalResponder(random_agent(rules), rules, actions, start), 1, 0)
    for seat in (0, 1):
        plain, corrected, size = expectations(traversal, seat)
        wanted = reference(rules, 2, actions, start, seat)
        assert plain == pytest.approx(wanted, abs=1e-9)
        assert corrected == pytest.approx(wanted, abs=1e-9)
        assert size > 0.01  # there are corrections


@pytest.mark.parametrize("seed", [3, 4, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 20))])
def test_no_bias_for_any_state_values(seed: int) -> None:
    """Random agents and random state values; before a card the value is the mean over the card."""
    rules = (LEDUC, SHORT)[seed % 2] if seed > 4 else LEDUC
    traversal = LbrTraversal(LocalResponder(random_agent(rules, seed), rules, "fcpa", 0), 1, 0)
    for seat in (0, 1):
        plain, corrected, size = expectations(traversal, seat, np.random.default_rng(seed))
        assert corrected == pytest.approx(plain, abs=1e-9)
        assert size > 0.01


def test_lower_variance() -> None:
    """With the shipped agent; both estimates come from the same deals."""
    agent = make_agent("default")
    found = local_best_response(agent, agent.rules, start="turn", hands=240, trajectories=4)
    assert found.variance_factor is not None
    assert found.variance_factor > 1.2
    assert abs(found.chips.mean - found.raw.mean) < 3 * found.raw.half_width


# --- Settings ---


def test_settings_are_the_columns_of_the_published_table() -> None:
    """fold and call; call, call, pot, pot; call, call, 56, 56; call, 56, fold and call twice."""
    nolimit = read_game("nolimit-200bb")
    found = {
        name: tuple(
            None if raises is None else len(raises)
            for raises in raises_by_street(setting.actions, nolimit.streets.index(setting.start), 4)
        )
        for name, setting in SETTINGS.items()
    }
    assert found == {
        "fold-call": (None, None, None, None),
        "pot-turn": (None, None, 1, 1),
        "56-turn": (None, None, 53, 53),
        "56-flop": (None, 53, None, None),
    }
    assert {name: setting.start for name, setting in SETTINGS.items()} == {
        "fold-call": "preflop",
        "pot-turn": "turn",
        "56-turn": "turn",
        "56-flop": "flop",
    }


@pytest.mark.parametrize("setting", SETTINGS)
def test_always_fold_in_each_setting(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of always-fold of the published table."""
    monkeypatch.setattr("riverboat.cards.equity.batch_equities.preflop_equities", lambda: np.full((169, 169), 0.5))
    wanted = 250 if setting == "fold-call" else 750
    assert lbr("always-fold", setting=setting, hands=16).response.mbb_per_game == pytest.approx(
        wanted, abs=1e-4
    )  # margins of hands are float32


def test_actions_by_street() -> None:
    """After `56` on the flop the responder does not raise on the turn, but folds and calls."""
    responder = LocalResponder(random_agent(SHORT), SHORT, "56,fc", 1)
    assert [raises is None for raises in responder.raises] == [True, False, True]
    found = local_best_response(random_agent(SHORT), SHORT, actions="fcpa,fc", start="flop", hands=400)
    assert found.record()["actions"] == "fcpa,fc"


def test_invalid_settings() -> None:
    with pytest.raises(InputError, match="'pot-river'"):
        lbr("always-fold", setting="pot-river", hands=8, game="leduc")
    with pytest.raises(InputError, match="give it alone"):
        lbr("always-fold", setting="fold-call", start="flop", hands=8, game="leduc")
    with pytest.raises(InputError, match="2 sets for 1 streets"):
        lbr("always-fold", actions="fc,56", start="flop", hands=8, game="leduc")
    with pytest.raises(InputError, match="'56x'"):
        lbr("always-fold", actions="fc,56x", hands=8, game="leduc")


# --- Runs in pieces ---


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """The result of a run in two parts, with other threads, is that of one run; the file is a result for ledgers."""
    options = {"game": "leduc", "walkers": 4, "seed": 3}
    whole = lbr("rule-based", hands=80, **options)  # type: ignore[arg-type]
    lbr("rule-based", hands=32, out=tmp_path / "run", **options)  # type: ignore[arg-type]
    half = json.loads((tmp_path / "run" / "lbr.json").read_text())
    assert half["deals"] == half["sums"]["deals"] == 4
    both = lbr("rule-based", hands=80, out=tmp_path / "run", resume=True, threads=2, **options)  # type: ignore[arg-type]
    assert both.response.sums == whole.response.sums
    assert both.response.seconds > half["seconds"]
    stored = json.loads((tmp_path / "run" / "lbr.json").read_text())
    assert stored["mbb_per_game"] == pytest.approx(whole.response.mbb_per_game)
    assert stored["sums"] == json.loads(json.dumps(whole.to_dict()))["sums"]


def test_every_checkpoint_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed after any checkpoint has lost nothing before it."""
    monkeypatch.setattr("riverboat.evaluation.local_best_response.SECONDS_PER_CHECKPOINT", 0.0)
    agent, stored = random_agent(LEDUC), []
    options = {"hands": 40, "trajectories": 4, "seed": 5}
    whole = local_best_response(agent, LEDUC, checkpoint=lambda result: stored.append(result.sums), **options)
    assert [sums.deals for sums in stored] == [2, 3, 4, 5, 5]
    for sums in stored:
        assert local_best_response(agent, LEDUC, sums=sums, **options).sums == whole.sums


def test_runs_of_other_seeds_add_up() -> None:
    agent = random_agent(LEDUC)
    one, other = (local_best_response(agent, LEDUC, hands=160, trajectories=4, seed=seed) for seed in (1, 2))
    both = one.sums + other.sums
    assert both.deals == 40
    assert both.corrected.mean == pytest.approx((one.chips.mean + other.chips.mean) / 2)
    assert LbrSums() + one.sums == one.sums


def test_invalid_runs(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(InputError, match="out="):
        lbr("always-fold", game="leduc", hands=8, resume=True)
    lbr("always-fold", game="leduc", hands=8, out=folder, resume=True)
    with pytest.raises(InputError, match="--resume"):
        lbr("always-fold", game="leduc", hands=8, out=folder)
    with pytest.raises(InputError, match="its seed is 0, not 1"):
        lbr("always-fold", game="leduc", hands=8, seed=1, out=folder, resume=True)
    with pytest.raises(InputError, match="its about is"):
        lbr("always-call", game="leduc", hands=8, out=folder, resume=True)
    with pytest.raises(InputError, match="each of 2 workers"):
        lbr("always-fold", game="leduc", hands=8, threads=2, workers=2)


@pytest.mark.slow
def test_processes_do_not_change_results() -> None:
    one, two = (lbr("rule-based", game="leduc", hands=80, walkers=4, workers=count) for count in (1, 2))
    assert one.response.sums == two.response.sums
