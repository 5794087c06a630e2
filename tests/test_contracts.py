"""The contract suites: all our games, schedules, strategies and agents pass, and every kind of defect is detected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

from playthrough import SPECS
from random_games import random_history_game, random_public_game
from riverboat.games import registry
from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    ComparisonPayoff,
    ConstantPayoff,
    MatrixPayoff,
    Outcome,
    Payoff,
    PrivateDeal,
)
from riverboat.games.small.bluff import Bluff
from riverboat.games.small.normal_form import NormalForm
from riverboat.games.small.poker import kuhn, leduc
from riverboat.games.tree_layout import PublicTreeLayout, layout_from_states
from riverboat.solvers.schedules import SCHEDULES, Rule, Schedule, ScheduleStep, dcfr, pcfr_plus, vanilla
from riverboat.strategies.tabular import Strategy
from riverboat.testing import GameReport, check_game, check_schedule, check_strategy
from riverboat.trees.compile import compile_game, to_history_tree

VARIANTS = [
    "kuhn:cards=6",
    "kuhn:suits=2",  # ties
    "kuhn:cards=14",  # cards without letters
    "kuhn:ante=0.5,bet=1.5,chip=0.5,cap=3",
    "kuhn:stack=3",
    "kuhn:players=3",
    "kuhn:players=3,cards=2,suits=2,cap=2",  # ties of some
    "leduc:players=3,ranks=2,cap=1",
    "kuhn:stack=7,menu=50%/a,cap=2",
    "leduc:ranks=2",
    "leduc:suits=1",
    "leduc:suits=3,cap=1",
    "leduc:stack=4,menu=100%/a",
    "coin_toss:left=0.25",
    "negotiation:limits=1,offers=1",
    "negotiation:limits=3,offers=4",
    "rhode_island:ranks=4,suits=1,cap=1",
    "clairvoyance:stack=2,chip=0.3",
]


def raises(check: Callable[[], Any], *words: str) -> None:
    """Check that a check fails with all these words in its message."""
    with pytest.raises(AssertionError) as caught:
        check()
    for word in words:
        assert word in str(caught.value)


# --- registered games ------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*registry.GAMES, *VARIANTS])
def test_registered_games(spec: str) -> None:
    report = check_game(registry.game_from_spec(SPECS.get(spec, spec)))
    assert report.complete
    assert report.zero_sum
    assert report.infosets


def test_reports() -> None:
    assert check_game(kuhn()) == GameReport("kuhn", "public", 9, True, True, 12)
    prisoners = NormalForm(np.array([[[3.0, 3], [0, 5]], [[5, 0], [1, 1]]]), (("c", "d"),) * 2, "prisoners")
    assert check_game(prisoners) == GameReport("prisoners", "history", 7, True, False, 2)


def test_large_games_are_checked_in_part() -> None:
    report = check_game(Bluff((2, 1), values={"bluff:1,1": -0.027}), limit=2000)
    assert report.states > 2000
    assert not report.complete
    assert report.infosets is None


@pytest.mark.parametrize("seed", range(6))
def test_random_games(seed: int) -> None:
    zero_sum = seed % 2 == 0
    assert check_game(random_public_game(seed, zero_sum=zero_sum)).shape == "public"
    assert check_game(random_history_game(seed, players=1 + seed % 3, zero_sum=zero_sum)).shape == "history"


# --- broken history games -------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A state that is also its own tree, defined by the test."""

    actor: int = TERMINAL
    labels: Sequence[Any] = ()
    below: Sequence[Any] = ()
    name: str = ""
    chances: Sequence[float] = ()
    pay: Sequence[float] = (1.0, -1.0)

    def actions(self) -> Sequence[Any]:
        return self.labels

    def probabilities(self) -> Sequence[float]:
        return self.chances

    def child(self, index: int) -> Any:
        return self.below[index]

    def infoset(self) -> str:
        return self.name

    def payoffs(self) -> Sequence[float]:
        return self.pay


END = Tree()


def coin(first: Any = END, second: Any = END, chances: Sequence[float] = (0.5, 0.5), labels: Any = ("h", "t")) -> Tree:
    return Tree(CHANCE, labels, (first, second), chances=chances)


def choice(player: int, name: str, first: Any = END, second: Any = END, labels: Any = ("a", "b")) -> Tree:
    return Tree(player, labels, (first, second), name)


def history(root: Any, players: Any = 2) -> Any:
    return SimpleNamespace(name="broken", players=players, unit="points", root=lambda: root)


FORGETFUL = choice(0, "first", choice(0, "later"), choice(0, "later"))


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (history(coin(chances=(0.5, 0.4))), ("at the root", "0.9")),
        (history(coin(chances=(1.5, -0.5))), ("(1.5, -0.5)",)),
        (history(coin(chances=(math.nan, 0.5))), ("nan",)),
        (history(coin(chances=(1.0,))), ("(1.0,)",)),
        (history(choice(0, "x", labels=("a", "a"))), ("'a'",)),
        (history(coin(labels=("", "t"))), ("''",)),
        (history(choice(0, "x", labels=("a", 7))), ("7",)),
        (history(Tree(0, (), (), "x")), ("at the root",)),
        (history(choice(2, "x")), ("actor 2", "0 to 1")),
        (history(choice(0, "x", Tree(pay=(math.inf, 0.0)))), ("after 'a'", "inf")),
        (history(choice(0, "x", Tree(pay=(1.0,)))), ("(1.0,)", "2 players")),
        (history(coin(choice(0, "x"), choice(1, "x"))), ("'x' of player 1", "player 0", "broken after 'h'")),
        (history(coin(choice(0, "x"), choice(0, "x", labels=("a", "c")))), ("('a', 'c')", "('a', 'b')")),
        (history(FORGETFUL), ("recall", "player 0", "'later'")),
        (history(END, players=0), ("players is 0",)),
        (history(choice(0, 5)), ("5",)),  # type: ignore[arg-type]
        (SimpleNamespace(name="x", root=None), ("unit, joiner, hands, deal", "players, unit")),
    ],
)
def test_broken_history_games(game: Any, words: tuple[str, ...]) -> None:
    raises(lambda: check_game(game), *words)


def test_mutable_states_are_detected() -> None:
    class Restless(SimpleNamespace):
        """A state that counts its calls of `child` and shows them in its labels."""

        def child(self, index: int) -> Tree:
            self.asked = getattr(self, "asked", 0) + 1
            return END

        def actions(self) -> tuple[str, ...]:
            return ("a", f"b{getattr(self, 'asked', 0)}")

    def restless() -> Any:
        return Restless(actor=0, infoset=lambda: "x")

    game = SimpleNamespace(name="broken", players=2, unit="points", root=restless)
    raises(lambda: check_game(game), "at the root", "b0", "b4")


def test_random_states_are_detected() -> None:
    whims = iter(range(1000))

    def root() -> Tree:
        return choice(0, f"x{next(whims)}")

    game = SimpleNamespace(name="broken", players=2, unit="points", root=root)
    raises(lambda: check_game(game), "at the root", "x0", "x1")


def test_errors_inside_a_game_name_the_state() -> None:
    with pytest.raises(IndexError) as caught:
        check_game(history(Tree(0, ("a", "b"), (END,), "x")))
    assert [note.endswith("broken at the root: child(1)") for note in caught.value.__notes__] == [True]


# --- broken public games --------------------------------------------------------------------


HIGHER_WINS = ComparisonPayoff(((0, 1, 2), (0, 1, 2)), (1.0, -1.0), (0.0, 0.0), (-1.0, 1.0))


@dataclass(frozen=True)
class Public:
    """Player 0 bets or not, a card is dealt, the higher card wins; any part can be replaced by a broken one."""

    outcomes: tuple[Outcome, ...] = tuple(Outcome(f"[{c}]", 1.0, ((c,), (c,))) for c in range(3))
    payoff: Payoff = HIGHER_WINS
    hands: Any = (("J", "Q", "K"), ("J", "Q", "K"))
    deal: PrivateDeal = field(default_factory=lambda: PrivateDeal.one_card(3))
    moves: Any = ("c", "b")
    actor: int = 0
    name: str = "broken"
    unit: str = "chips"
    joiner: str = ""

    def root(self) -> Any:
        return _PublicState(self, 0)


@dataclass(frozen=True)
class _PublicState:
    game: Public
    depth: int

    @property
    def actor(self) -> int:
        return (self.game.actor, CHANCE, TERMINAL)[self.depth]

    def actions(self) -> Any:
        return self.game.moves

    def outcomes(self) -> Any:
        return self.game.outcomes

    def child(self, index: int) -> _PublicState:
        return _PublicState(self.game, self.depth + 1)

    def payoff(self) -> Any:
        return self.game.payoff


def cards(*parts: tuple[float, tuple[int, ...], tuple[int, ...]]) -> tuple[Outcome, ...]:
    return tuple(Outcome(f"[{k}]", weight, (first, second)) for k, (weight, first, second) in enumerate(parts))


def test_public_test_game_is_valid() -> None:
    assert check_game(Public()).zero_sum


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        # Two players hold two of three cards: one card is left and has probability one, not a third.
        (
            {"outcomes": cards((1 / 3, (0,), (0,)), (1 / 3, (1,), (1,)), (1 / 3, (2,), (2,)))},
            ("after 'c'", "hands 'J' and 'Q'", "0.333333"),
        ),
        # The card is taken from player 0 only.
        ({"outcomes": cards((1, (0,), ()), (1, (1,), ()), (1, (2,), ()))}, ("hands 'J' and 'Q'", "weigh 2")),
        ({"outcomes": cards((0.5, (), ()), (0.4, (), ()))}, ("0.9",)),
        ({"outcomes": cards((1.5, (), ()), (-0.5, (), ()))}, ("'[1]'", "-0.5")),
        ({"outcomes": cards((math.nan, (), ()))}, ("'[0]'", "nan")),
        ({"outcomes": cards((1, (3,), ()))}, ("hand 3 of player 0", "0 to 2")),
        ({"outcomes": cards((1, (), (-1,)))}, ("hand -1 of player 1",)),
        ({"outcomes": (Outcome("x", 0.5), Outcome("x", 0.5))}, ("'x'",)),
        ({"outcomes": ()}, ("after 'c'",)),
        ({"moves": ("c", "c")}, ("at the root", "'c'")),
        ({"moves": ("c", "")}, ("''",)),
        ({"actor": 2}, ("actor 2", "0, 1, CHANCE or TERMINAL")),
        (
            {"payoff": ConstantPayoff((math.inf, 0.0))},
            ("after 'c' '[0]'", "hands 'J' and 'J'", "player 0", "inf"),
        ),
        ({"payoff": ComparisonPayoff(((0, 1), (0, 1, 2)), (1, -1), (0, 0), (-1, 1))}, ("(2, 3)",)),
        ({"payoff": ComparisonPayoff(((0, 1, 2),) * 2, (1, -1), (0, 0), (-1, math.nan))}, ("player 1", "nan")),
        ({"payoff": ComparisonPayoff(([0, 1, 2],) * 2, (1, -1), (0, 0), (-1, 1))}, ("tuples",)),
        ({"payoff": MatrixPayoff((((1.0,) * 3,) * 2,) * 2)}, ("player 0", "(2, 3)", "(3, 3)")),
        ({"payoff": 1.0}, ("float", "Matrix")),
        ({"hands": (("J", "Q", "Q"), ("J", "Q", "K"))}, ("player 0", "'Q'")),
        ({"hands": (("J", "Q", "K"), ("J", "Q", "K:"))}, ("player 1", "'K:'")),
        ({"hands": (("J", "Q"), ("J", "Q", "K"))}, ("(3,)", "2 hands")),
        ({"deal": PrivateDeal.independent([1, 1, -1], [1, 1, 1])}, ("'K'", "-1.0")),
        ({"deal": PrivateDeal.independent([1, 1, 1], [1, math.nan, 1])}, ("player 1", "'Q'", "nan")),
        ({"deal": PrivateDeal.independent([0, 0, 0], [1, 1, 1])}, ("hands",)),
        (
            {"deal": PrivateDeal((np.ones(3), np.ones(3)), frozenset({(0, 3)}))},
            ("(0, 3)", "(3, 3)"),
        ),
        ({"unit": None}, ("unit is None",)),
    ],
)
def test_broken_public_games(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    raises(lambda: check_game(replace(Public(), **changes)), *words)


@dataclass(frozen=True)
class _Ambiguous:
    """Three decisions, the last of which is reached by `a` `bc` as well as by `ab` `c`."""

    depth: int = 0

    @property
    def actor(self) -> int:
        return TERMINAL if self.depth == 3 else self.depth % 2

    def actions(self) -> tuple[str, ...]:
        return (("a", "ab"), ("bc", "c"), ("x",))[self.depth]

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def child(self, index: int) -> _Ambiguous:
        return _Ambiguous(self.depth + 1)

    def payoff(self) -> Payoff:
        return ConstantPayoff((1.0, -1.0))


def test_ambiguous_lines_are_detected() -> None:
    class Game(Public):
        def root(self) -> Any:
            return _Ambiguous()

    raises(lambda: check_game(Game()), "'J:abc'")
    assert check_game(Game(joiner=",")).complete


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"actor": np.where(a.actor == 1, 0, a.actor).astype(np.int8)}, ("actor of node 1 is 0",)),
        (lambda a: {"end": np.append(a.end[:-1], 99).astype(np.int32)}, ("end of node 8 is 99", "9")),
        (lambda a: {"action_labels": (("f", "c"), *a.action_labels[1:])}, ("node 0 has ('f', 'c')", "('c', 'r')")),
        (
            lambda a: {"payoffs": (ConstantPayoff((0.0, 0.0)), *a.payoffs[1:])},
            ("has ConstantPayoff(payoffs=(0.0, 0.0))",),
        ),
    ],
)
def test_inconsistent_layouts_are_detected(
    change: Callable[[PublicTreeLayout], dict[str, Any]], words: tuple[str, ...]
) -> None:
    game = kuhn()
    right = layout_from_states(game)
    object.__setattr__(game, "layout", lambda: replace(right, **change(right)))
    raises(lambda: check_game(game), "kuhn: layout()", *words)


# --- schedules ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schedule",
    [
        *SCHEDULES,
        "dcfr:alpha=1,beta=-1,gamma=3",
        "cfr+:gamma=2,alternating=0",
        vanilla(alternating=True),
        pcfr_plus(alternating=False),
        dcfr(beta=-math.inf),
    ],
    ids=str,
)
def test_schedules(schedule: str | Schedule) -> None:
    check_schedule(schedule)


@dataclass(frozen=True)
class Odd(Schedule):
    """A schedule whose step is defined by the test."""

    name: str = "odd"
    numbers: Callable[[int], tuple[float, ...]] = lambda t: (1.0, 1.0, -math.inf, (t - 1) / t, float(t))
    gamma: float = 1.0

    def step(self, t: int) -> ScheduleStep:
        return ScheduleStep(*self.numbers(t))


def numeric_switch() -> Odd:
    """A schedule whose switch is no boolean, which its constructor would reject."""
    schedule = Odd()
    object.__setattr__(schedule, "alternating", 1)
    return schedule


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (Odd(numbers=lambda t: (1.1, 1, 0, 1, t)), ("T = 1", "positive is 1.1")),
        (Odd(numbers=lambda t: (1, -1, 0, 1, t)), ("negative is -1",)),
        (Odd(numbers=lambda t: (1, 1, 0, math.nan, t)), ("decay is nan",)),
        (Odd(numbers=lambda t: (1, 1, 0.1, 1, t)), ("floor is 0.1",)),
        (Odd(numbers=lambda t: (1, 1, math.nan, 1, t)), ("floor is nan",)),
        (Odd(numbers=lambda t: (1, 1, 0, 1, t - 1)), ("T = 1", "t is 0")),
        (Odd(numbers=lambda t: (1.0, 1.0, 0.0, 1.0 if t < 1000 else 2.0, float(t))), ("T = 1000", "decay is 2")),
        (Odd(gamma=0.0), ("T = 1", "discounts is False")),
        (numeric_switch(), ("alternating is 1",)),
        # All regrets are discarded at once: play stays uniform, with exploitability 11/24.
        (
            Odd(numbers=lambda t: (0.0, 0.0, 0.0, 1.0, float(t))),
            ("exploitability", "0.05"),
        ),
        ("dcrf", ("dcrf", "'dcfr'")),
    ],
)
def test_broken_schedules(schedule: Any, words: tuple[str, ...]) -> None:
    raises(lambda: check_schedule(schedule), *words)


@pytest.mark.parametrize("schedule", ["dcfr:gamma=-1", "dcfr:gamma=inf", "dcfr:alpha=nan"])
def test_invalid_exponents_are_rejected(schedule: str) -> None:
    raises(lambda: check_schedule(schedule), schedule.partition(":")[2].partition("=")[0])


def test_extreme_exponents_do_not_overflow() -> None:
    check_schedule("dcfr:beta=-1000")


# --- rules ----------------------------------------------------------------------------------


@numba.njit
def matching(regret, prediction, t, out):  # type: ignore[no-untyped-def]
    for h in range(regret.shape[1]):
        total = 0.0
        for a in range(regret.shape[0]):
            out[a, h] = max(regret[a, h], 0.0)
            total += out[a, h]
        for a in range(regret.shape[0]):
            out[a, h] = out[a, h] / total if total > 0 else 1.0 / regret.shape[0]


@numba.njit
def add(regret, prediction, instant, t):  # type: ignore[no-untyped-def]
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            regret[a, h] = max(regret[a, h] + instant[a, h], 0.0)


def _over_hands(regret: Any, prediction: Any, t: float, out: Any) -> None:
    out[:] = 1.0 / regret.shape[1]


def _over_all(regret: Any, prediction: Any, t: float, out: Any) -> None:
    out[:] = 1.0 / regret.size


def _mixed_up(regret: Any, prediction: Any, t: float, out: Any) -> None:
    row = np.exp(np.minimum(regret.mean(axis=1), 50.0))
    out[:] = (row / row.sum())[:, None]


def _greedy(regret: Any, prediction: Any, t: float, out: Any) -> None:
    matching(regret, prediction, t, out)
    regret[:] = 0.0


def _forgets_a_row(regret: Any, prediction: Any, t: float, out: Any) -> None:
    out[:-1] = 1.0


def _divides(regret: Any, prediction: Any, instant: Any, t: float) -> None:
    regret[:] = np.nan


def _shares(regret: Any, prediction: Any, instant: Any, t: float) -> None:
    regret[:] += instant.sum()


@pytest.mark.slow  # compiles every kernel again; tests/solvers/test_rules.py compares rules with the built-in ones
def test_a_rule() -> None:
    check_schedule(Rule(matching, add, "plus", gamma=1.0))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule(_over_hands, add, "over hands"), ("rule over hands: strategy", "axis 0")),
        (Rule(_over_all, add, "over all"), ("rule over all: strategy",)),
        (Rule(_mixed_up, add, "mixed up"), ("rule mixed up: strategy", "hand 0")),
        (Rule(_greedy, add, "greedy"), ("rule greedy: strategy", "`out`")),
        (Rule(_forgets_a_row, add, "row"), ("[[nan]]",)),
        (Rule(matching, _divides, "divides"), ("rule divides: update", "nan")),
        (Rule(matching, _shares, "shares"), ("rule shares: update", "hand 0")),
    ],
    ids=str,
)
def test_broken_rules(rule: Rule, words: tuple[str, ...]) -> None:
    raises(lambda: check_schedule(rule), *words)


def test_a_rule_must_be_compiled() -> None:
    rule = Rule(matching.py_func, add, "slow")
    raises(lambda: check_schedule(rule), "rule 'slow': strategy", "numba.njit")


# --- strategies -----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn", "leduc:suits=3", "bluff:1,1", "rpst"])
def test_strategies(spec: str) -> None:
    tree = compile_game(registry.game_from_spec(spec))
    random = np.random.default_rng(0)
    check_strategy(Strategy.uniform(tree))
    check_strategy(Strategy.from_sums(tree, random.random(tree.table_size)), names=100)
    check_strategy(Strategy.uniform(to_history_tree(tree)))


@pytest.mark.parametrize("unroll", [False, True], ids=["public", "history"])
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0.5, 0.4], ("leduc", "'Qs:cr'", "0.9")),
        ([-0.5, 1.5], ("'Qs:cr'", "[-0.5, 1.5, 0.0]")),
    ],
)
def test_rows_must_be_distributions(unroll: bool, row: list[float], words: tuple[str, ...]) -> None:
    tree = compile_game(leduc())
    if unroll:
        tree = to_history_tree(tree)
    table = Strategy.uniform(tree).probabilities.copy()
    infoset = tree.infoset("Qs:cr")
    table[infoset.offset : infoset.offset + 3 * infoset.stride : infoset.stride] = [*row, 0.0]
    raises(lambda: check_strategy(Strategy(tree, table)), *words)


def test_impossible_hands_do_not_matter() -> None:
    tree = compile_game(leduc())
    node = tree.node("cc/Ks/")
    king = tree.hands[0].index("Ks")
    rows = Strategy.uniform(tree).probabilities.copy()
    tree.player_tables(rows)[0][tree.nodes.data[node], king] = 7.0
    check_strategy(Strategy(tree, rows))


def test_writable_strategies_are_detected() -> None:
    strategy = Strategy.uniform(compile_game(kuhn()))
    strategy.probabilities = strategy.probabilities.copy()
    raises(lambda: check_strategy(strategy), "probabilities", "read-only")
    strategy = Strategy.uniform(compile_game(kuhn()))
    strategy.provenance = {}
    raises(lambda: check_strategy(strategy), "provenance", "read-only")


def test_wrong_table_sizes_are_detected() -> None:
    strategy = Strategy.uniform(compile_game(kuhn()))
    strategy.tree = compile_game(leduc())
    raises(lambda: check_strategy(strategy), "(24,)")
