"""Repeated play by safe and unsafe rules."""

from __future__ import annotations

import numpy as np
import pytest

from reference import safe_exploitation as twin
from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.games.small.normal_form import rpst
from riverboat.games.small.poker import kuhn
from riverboat.opponents.repeated_games import EXPLOITATION_RULES, MatchConventions, play_matches
from riverboat.opponents.safe_responses import PlanVertices, enumerate_vertices
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.trees.compile import compile_game

VALUE = -1 / 18  # Kuhn 1950
# Probability of betting after a check and of calling, with J, Q and K (Kuhn 1950).
EQUILIBRIUM = np.array([[1 / 3, 0], [0, 1 / 3], [1, 1]])
SAFE = [name for name, rule in EXPLOITATION_RULES.items() if rule.safe]


@pytest.fixture(scope="module")
def ours() -> PlanVertices:
    return enumerate_vertices(SequenceForm(compile_game(kuhn())), 0)


def behaviour(ours: PlanVertices, bold: Array) -> Array:
    """Behavior strategies by sequences, from [card, after a check or a bet] for each opponent."""
    form = ours.form
    names = [i.name for i in form.histories.infosets()]
    out = np.ones((len(bold), 13))
    for index, i in enumerate(form.treeplexes[1].infosets):
        card, line = names[i].split(":")
        p = bold[:, "JQK".index(card), "cr".index(line)]
        out[:, 1 + 2 * index], out[:, 2 + 2 * index] = 1 - p, p
    return out


@pytest.mark.parametrize("reveal", ["always", "showdown"])
@pytest.mark.parametrize("rule", EXPLOITATION_RULES)
def test_matches_equal_the_reference(ours: PlanVertices, rule: str, reveal: str) -> None:
    """Hand by hand as a reference with linear programs over pure strategies; a nemesis from hand 25 on.

    The prior is not an equilibrium here: against one, several plans do equally well.
    """
    rng = np.random.default_rng(7)
    bold, prior = rng.random((2, 3, 2)), rng.random((3, 2))
    opponents, convention = behaviour(ours, bold), MatchConventions(reveal=reveal)
    found = play_matches(ours, rule, opponents, behaviour(ours, prior[None])[0], 40, 3, 25, convention, record=True)
    seeds = np.random.SeedSequence(3).generate_state(6, np.uint64).reshape(2, 3)
    for m in range(2):
        states = [int(s) for s in seeds[m]]
        profit, bank = twin.play(rule, bold[m], prior, 40, states, 25, reveal == "showdown")
        np.testing.assert_allclose(found.bank[m], bank, atol=1e-7)
        np.testing.assert_allclose(found.profit[m], profit, atol=1e-7)
        assert found.mean[m] == pytest.approx(profit[-1] / 40, abs=1e-8)


@pytest.mark.parametrize("reveal", ["always", "showdown"])
@pytest.mark.parametrize("rule", SAFE)
def test_safe(ours: PlanVertices, rule: str, reveal: str) -> None:
    """Whatever the opponent does and however it changes: never below the value, and k never negative."""
    bold = np.random.default_rng(1).random((100, 3, 2))
    prior = behaviour(ours, EQUILIBRIUM[None])[0]
    for change in (0, 50, None):
        found = play_matches(ours, rule, behaviour(ours, bold), prior, 200, 5, change, MatchConventions(reveal=reveal))
        assert found.least.min() > -1e-9
        assert found.mean.min() > VALUE - 1e-9


def test_unsafe(ours: PlanVertices) -> None:
    """A nemesis takes more than the value from the unsafe rules."""
    bold = np.random.default_rng(1).random((100, 3, 2))
    prior = behaviour(ours, EQUILIBRIUM[None])[0]
    for rule in set(EXPLOITATION_RULES) - set(SAFE):
        found = play_matches(ours, rule, behaviour(ours, bold), prior, 200, 5, 0)
        assert found.mean.min() < VALUE - 0.01


def test_equilibrium_gives_no_gifts(ours: PlanVertices) -> None:
    """Against player 1's equilibrium every rule earns the value, and no rule banks a gift."""
    prior = behaviour(ours, EQUILIBRIUM[None])[0]
    for rule in EXPLOITATION_RULES:
        found = play_matches(ours, rule, prior[None], prior, 300, 1, record=True)
        assert found.mean[0] == pytest.approx(VALUE, abs=1e-12)
        if EXPLOITATION_RULES[rule].safe:
            assert abs(found.bank).max() < 1e-9


def test_hidden_cards_reduce_the_bank(ours: PlanVertices) -> None:
    """The best equilibrium banks less if folded hands stay unknown."""
    bold = np.random.default_rng(2).random((200, 3, 2))
    prior = behaviour(ours, EQUILIBRIUM[None])[0]
    banks = [
        play_matches(
            ours,
            "best-equilibrium",
            behaviour(ours, bold),
            prior,
            100,
            1,
            None,
            MatchConventions(reveal=r),
            record=True,
        ).bank
        for r in ("always", "showdown")
    ]
    assert banks[1][:, -1].mean() < banks[0][:, -1].mean()


def test_seeds_reproduce_matches(ours: PlanVertices) -> None:
    prior = behaviour(ours, EQUILIBRIUM[None])[0]
    opponents = behaviour(ours, np.random.default_rng(3).random((5, 3, 2)))
    first, second, other = (play_matches(ours, "rwywe", opponents, prior, 50, seed).mean for seed in (4, 4, 5))
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != other.tobytes()


def test_toothpick() -> None:
    """A matrix game: gifts are spent, and RWYWE beats the best equilibrium."""
    ours = enumerate_vertices(SequenceForm(compile_game(rpst())), 0)
    opponents = np.array([[1.0, 0.3, 0.3, 0.3, 0.1]])
    fair = np.array([1.0, 1 / 3, 1 / 3, 1 / 3, 0.0])
    risking = play_matches(ours, "rwywe", opponents, fair, 5000, 0)
    waiting = play_matches(ours, "best-equilibrium", opponents, fair, 5000, 0)
    assert waiting.mean[0] == pytest.approx(1 / 3)  # every tenth hand is a gift of 10/3
    assert risking.mean[0] > 0.38
    assert risking.least[0] > -1e-9
    with pytest.raises(InputError, match="reveal='always'"):
        play_matches(ours, "rwywe", opponents, fair, 10, 0, convention=MatchConventions(reveal="showdown"))


def test_invalid_input(ours: PlanVertices) -> None:
    prior = behaviour(ours, EQUILIBRIUM[None])[0]
    with pytest.raises(InputError, match="rwyx"):
        play_matches(ours, "rwyx", prior[None], prior)
    with pytest.raises(InputError, match="0 hands"):
        play_matches(ours, "rwywe", prior[None], prior, hands=0)
    with pytest.raises(InputError, match=r"opponents .*\(13,\)"):
        play_matches(ours, "rwywe", prior, prior)
    with pytest.raises(InputError, match=r"equilibrium .*\(1, 13\)"):
        play_matches(ours, "rwywe", prior[None], prior[None])
    with pytest.raises(InputError, match="prefer"):
        play_matches(ours, "rwywe", prior[None], prior, convention=MatchConventions(prefer="luck"))
    with pytest.raises(InputError, match="prior=0"):
        play_matches(ours, "rwywe", prior[None], prior, convention=MatchConventions(prior=0.0))
