"""Subgame refinement: exact results of Coin Toss, safety on random games, and gadgets by CFR against LP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from random_games import (
    SEEDS,
    RandomHistoryGame,
    RandomPublicGame,
    history_games,
    public_games,
    random_history_game,
    random_public_game,
)
from reference.endgame import Opponent
from riverboat.api.refine import refine
from riverboat.core.errors import InputError, ZeroSumError
from riverboat.games.base import CHANCE, TERMINAL, Array, Outcome, Payoff
from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import NormalForm
from riverboat.games.small.toy_games import CoinToss
from riverboat.solvers.exact.lp import solve_lp, undominated
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.resolving import METHODS, lines_after_chance, solve_vector_maxmargin
from riverboat.subgames.values import subgame_gifts, subgame_root_values
from riverboat.testing import check_strategy
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.gadgets import check_disjoint, find_subgame, maxmargin_gadget, resolve_gadget
from riverboat.trees.public import PublicTree

SAFE = ("resolve", "maxmargin", "reach_maxmargin", "reach_maxmargin_split")
TOLERANCE = 1e-6

# Brown & Sandholm 2017, "Safe and nested endgame solving", figure 1.
COIN = {
    "heads:": {"left": 0.25, "right": 0.75},
    "tails:": {"left": 0.5, "right": 0.5},
    "guesser:right": {"heads": 0.5, "tails": 0.25, "forfeit": 0.25},
}


def coin_toss(kind: str, left: float = 0.5) -> Strategy:
    base = Strategy.from_mapping(PublicTree(CoinToss(left)), COIN)
    flat = to_history_tree(base.tree)
    return base if kind == "public" else Strategy(flat, base.probabilities[flat.origin])


def where(kind: str) -> str:
    return "right" if kind == "public" else "guesser:right"


@pytest.mark.parametrize("kind", ["public", "history"])
class TestCoinToss:
    # Guess heads, guess tails, best response: from the paper. Heads and tails of maxmargin are exchanged in the
    # workshop paper, against its own payoffs of -1/4 and 1/4, and correct in the later one. "optimal" is the equilibrium.
    @pytest.mark.parametrize(
        ("method", "heads", "tails", "concedes"),
        [
            ("unsafe", 1.0, 0.0, 0.75),
            ("maxmargin", 5 / 8, 3 / 8, 3 / 8),
            ("reach_maxmargin", 1 / 2, 1 / 2, 1 / 4),
            ("optimal", 1 / 4, 3 / 4, 0.0),
        ],
    )
    def test_known_solutions(self, kind: str, method: str, heads: float, tails: float, concedes: float) -> None:
        base = coin_toss(kind)
        assert quality(base).best[0] == pytest.approx(0.5, abs=1e-12)
        found = refine(base, where(kind), method, players=(1,))
        guess = found.strategy["guesser:right"]
        assert guess == pytest.approx({"heads": heads, "tails": tails, "forfeit": 0.0}, abs=1e-9)
        assert quality(found.strategy).best[0] == pytest.approx(concedes, abs=1e-9)
        assert found.strategy["heads:"] == COIN["heads:"]
        check_strategy(found.strategy)

    def test_values_and_margins(self, kind: str) -> None:
        base = coin_toss(kind)
        hands = ("heads", "tails") if kind == "public" else ("heads:>right", "tails:>right")
        (plain,) = refine(base, where(kind), "maxmargin", players=(1,)).endgames
        assert plain.values == pytest.approx(dict(zip(hands, (0.0, 0.5), strict=True)), abs=1e-9)
        assert plain.margins == pytest.approx(dict.fromkeys(hands, 0.25), abs=1e-9)
        assert plain.gifts == dict.fromkeys(hands, 0.0)
        (reach,) = refine(base, where(kind), "reach_maxmargin", players=(1,)).endgames
        assert reach.gifts == pytest.approx(dict(zip(hands, (0.5, 0.0), strict=True)), abs=1e-9)
        assert [reach.margins[h] + reach.gifts[h] for h in hands] == pytest.approx([0.5, 0.5], abs=1e-9)
        assert reach.least_margin == pytest.approx(0.5, abs=1e-9)

    def test_resolve_solutions_are_safe(self, kind: str) -> None:
        base = coin_toss(kind)
        found = refine(base, where(kind), "resolve", players=(1,))
        assert 0.25 - 1e-9 <= quality(found.strategy).best[0] <= 0.5 + 1e-9
        # Forfeit is weakly dominated: an undominated solution does not use it.
        better = refine(base, where(kind), "resolve", players=(1,), solver=lambda tree: undominated(tree).strategy)
        guess = better.strategy["guesser:right"]
        assert guess["forfeit"] == pytest.approx(0, abs=1e-9)
        assert 1 / 2 - 1e-9 <= guess["heads"] <= 3 / 4 + 1e-9

    def test_swapped_payoffs(self, kind: str) -> None:
        """With -0.5 on heads and 0.5 on tails the equilibrium guesses heads with 3/4 (Brown & Sandholm 2017b)."""
        found = refine(coin_toss(kind, -0.5), where(kind), "optimal", players=(1,))
        assert found.strategy["guesser:right"]["heads"] == pytest.approx(3 / 4, abs=1e-9)


# --- safety ---------------------------------------------------------------------------------------


def some_base(tree: Any, random: np.random.Generator) -> Strategy:
    """A random strategy from uniform to nearly pure, with some actions of probability zero."""
    weights = random.random(tree.table_size) ** random.choice([0.2, 1.0, 10.0])
    return Strategy.from_sums(tree, weights * (random.random(tree.table_size) >= random.choice([0.0, 0.3])))


def some_endgames(tree: Any, random: np.random.Generator, most: int = 4) -> list[str]:
    """Random disjoint subgames."""
    if isinstance(tree, PublicTree):
        names = [line for _, line in tree.lines()]
    else:
        names = [infoset.name for infoset in tree.infosets()]
    chosen: list[str] = []
    for name in random.permutation(names)[:most].tolist():
        try:
            check_disjoint([find_subgame(tree, other) for other in (*chosen, name)])
        except InputError:
            continue
        chosen.append(name)
    return chosen


def check_safe(base: Strategy, places: list[str]) -> None:
    before = np.array(quality(base).best)
    least = np.array(quality(refine(base, places, "optimal").strategy).best)
    assert (least <= before + TOLERANCE).all()
    for method in SAFE:
        found = refine(base, places, method)
        after = np.array(quality(found.strategy).best)
        assert (after <= before + TOLERANCE).all(), (method, after - before)
        assert (least <= after + TOLERANCE).all(), method
        if method != "resolve":  # exact only after weighting by hand, that is, in best-response values
            assert min(part.least_margin for part in found.endgames) >= -TOLERANCE


@given(st.sampled_from(["leduc:ranks=3,suits=1", "leduc:ranks=2,suits=2", "leduc:ranks=3,suits=1,stack=3"]), SEEDS)
@settings(max_examples=3, deadline=None)
def test_safe_methods_on_all_subgames_of_leduc(spec: str, seed: int) -> None:
    tree = compile_game(game_from_spec(spec))
    assert isinstance(tree, PublicTree)
    check_safe(some_base(tree, np.random.default_rng(seed)), lines_after_chance(tree))


@pytest.mark.slow
@given(public_games(), SEEDS)
@example(random_public_game(1363), 22492)  # a subgame that the base reaches once in 10^22 deals
@settings(max_examples=25, deadline=None)
def test_safe_methods_on_random_public_games(game: RandomPublicGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    check_safe(some_base(tree, random), some_endgames(tree, random))


@given(history_games(depth=6), SEEDS)
@example(random_history_game(12914, depth=6), 0)  # a dual variable off by 2e-5, where the base hardly ever goes
@settings(max_examples=15, deadline=None)
def test_safe_methods_on_random_history_games(game: RandomHistoryGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    check_safe(some_base(tree, random), some_endgames(tree, random))


@pytest.mark.slow
@given(st.sampled_from(["leduc", "leduc:ranks=4,suits=2", "leduc:stack=4"]), SEEDS)
@settings(max_examples=30, deadline=None)
def test_safe_methods_on_leduc_many_times(spec: str, seed: int) -> None:
    tree = compile_game(game_from_spec(spec))
    assert isinstance(tree, PublicTree)
    check_safe(some_base(tree, np.random.default_rng(seed)), lines_after_chance(tree))


def test_safe_methods_preserve_equilibria() -> None:
    """Unsafe solving of Coin Toss: an equilibrium of the subgame against the base's range is exploitable in the game."""
    tree = PublicTree(CoinToss())
    exact = solve_lp(tree).strategy
    for method in SAFE:
        assert quality(refine(exact, "right", method).strategy).exploitability == pytest.approx(0, abs=1e-9)
    base = coin_toss("public")
    assert quality(refine(base, "right", "unsafe").strategy).best[0] > quality(base).best[0] + 0.2


def test_refining_the_whole_game_solves_it() -> None:
    """The subgame at the root is the game: the result is an equilibrium, except for re-solving."""
    tree = compile_game(game_from_spec("kuhn"))
    base = some_base(tree, np.random.default_rng(5))
    for method in ("unsafe", "maxmargin", "optimal"):
        found = quality(refine(base, "", method).strategy).exploitability
        if method == "maxmargin":  # the least margin over hands, not the sum over hands
            assert found <= quality(base).exploitability + 1e-9
        else:
            assert found == pytest.approx(0, abs=1e-9)


# --- gifts and independent subgames -----------------------------------------------------------------


@dataclass(frozen=True)
class Weather:
    """Coin Toss in which, after Right, both see one of several kinds of weather before the guess."""

    kinds: int
    name: str = "weather"
    unit: str = "points"
    joiner: str = "-"
    hands = CoinToss().hands
    deal = CoinToss().deal

    def root(self) -> Any:
        return _Sky(self, CoinToss().root(), 0)


@dataclass(frozen=True)
class _Sky:
    game: Weather
    coin: Any
    seen: int  # 0: not yet

    @property
    def actor(self) -> int:
        waits = self.coin.line == ("right",) and not self.seen
        return CHANCE if waits else self.coin.actor

    def actions(self) -> tuple[str, ...]:
        return self.coin.actions()

    def outcomes(self) -> tuple[Outcome, ...]:
        kinds = range(1, self.game.kinds + 1)
        return tuple(Outcome(f"w{k}", 1 / self.game.kinds) for k in kinds) if self.actor == CHANCE else ()

    def child(self, index: int) -> _Sky:
        if self.actor == CHANCE:
            return _Sky(self.game, self.coin, index + 1)
        return _Sky(self.game, self.coin.child(index), self.seen)

    def payoff(self) -> Payoff:
        assert self.actor == TERMINAL
        return self.coin.payoff()


def test_gifts_must_be_split() -> None:
    """Guessing heads with 0.3 concedes 0.4 on heads and -0.4 on tails: the best-response value is 0.05.

    Heads gives up 0.1 by going Right. Each of six subgames that takes six times that gift (its share of the weight is a
    sixth) may concede 0.4 + 0.6 - m on heads with m = 0.3: 0.7, and the best-response value is (0.7 - 0.5) / 2 = 0.1.
    With the gift split: 0.4 + 0.1 - 0.05 = 0.45, and the value is (0.5 - 0.45) / 2 = 0.025.
    """
    tree = compile_game(Weather(6))
    assert isinstance(tree, PublicTree)
    lines = lines_after_chance(tree)
    assert len(lines) == 6
    base = Strategy.from_mapping(
        tree, {f"guesser:{line}": {"heads": 0.3, "tails": 0.7, "forfeit": 0.0} for line in lines}
    )
    assert quality(base).best[0] == pytest.approx(0.05, abs=1e-9)
    split = refine(base, lines, "reach_maxmargin_split", players=(1,))
    assert quality(split.strategy).best[0] == pytest.approx(0.025, abs=1e-9)
    whole = refine(base, lines, "reach_maxmargin_whole", players=(1,))
    assert quality(whole.strategy).best[0] == pytest.approx(0.1, abs=1e-9)
    # A single subgame may take the whole gift: the others are unchanged.
    alone = refine(base, lines[2], "reach_maxmargin_whole", players=(1,))
    assert quality(alone.strategy).best[0] <= 0.05 + 1e-9
    # Also on the history tree.
    flat = to_history_tree(tree)
    copy = Strategy(flat, base.probabilities[flat.origin])
    names = [f"guesser:{line}" for line in lines]
    assert quality(refine(copy, names, "reach_maxmargin_split", players=(1,)).strategy).best[0] == pytest.approx(
        0.025, abs=1e-9
    )
    raised = refine(copy, names, "reach_maxmargin_whole", players=(1,))
    assert quality(raised.strategy).best[0] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("spec", ["kuhn", "leduc:ranks=3,suits=1", "coin_toss"])
def test_values_and_gifts_equal_the_definition(spec: str, player: int) -> None:
    game = game_from_spec(spec)
    tree = compile_game(game)
    assert isinstance(tree, PublicTree)
    random = np.random.default_rng(7)
    base = some_base(tree, random)
    lines = lines_after_chance(tree) if spec.startswith("leduc") else some_endgames(tree, random, 3)
    subgames = [find_subgame(tree, line) for line in lines]
    compare_with_the_definition(tree, base, player, subgames)


@given(public_games(), SEEDS)
@settings(max_examples=15, deadline=None)
def test_values_and_gifts_of_random_games(game: RandomPublicGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    assert isinstance(tree, PublicTree)
    places = some_endgames(tree, random)
    compare_with_the_definition(tree, some_base(tree, random), seed % 2, [find_subgame(tree, p) for p in places])


def compare_with_the_definition(tree: PublicTree, base: Strategy, player: int, parts: list[Any]) -> None:
    reference = Opponent(tree.game, base.mapping(), 1 - player)
    root_values = subgame_root_values(base, player, parts)
    gifts = subgame_gifts(base, player, parts, root_values, split=False)
    for subgame, root_value, gift in zip(parts, root_values, gifts, strict=True):
        labels = steps(tree, int(subgame.roots[0]))
        for hand in np.flatnonzero(root_value.weights > 0).tolist():
            path = reference.down(labels, hand)
            _, reach, value = path[-1]
            assert root_value.weights[hand] == pytest.approx(reach, rel=1e-12)
            assert root_value.values[hand] == pytest.approx(value / reach, abs=1e-9)
            given_up = sum(path[k][2] - path[k + 1][2] for k in range(len(labels)) if path[k][0] == 1 - player)
            assert gift[hand] == pytest.approx(given_up / reach, rel=1e-9, abs=1e-9)


def steps(tree: PublicTree, node: int) -> tuple[str, ...]:
    labels, ancestor = [], 0
    while ancestor != node:
        for child, label in zip(tree.children(ancestor), tree.labels(ancestor), strict=True):
            if child <= node < tree.nodes.end[child]:
                labels.append(label)
                ancestor = child
                break
    return tuple(labels)


# --- other solvers, edge cases, invalid input ---------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
def test_gadgets_by_cfr_equal_lp(player: int) -> None:
    tree = compile_game(game_from_spec("leduc"))
    base = some_base(tree, np.random.default_rng(11))
    subgame = find_subgame(tree, "rc/Kh/")
    (root_values,) = subgame_root_values(base, player, [subgame])
    for make_gadget in (resolve_gadget, maxmargin_gadget):
        gadget = make_gadget(subgame, player, root_values.reach, root_values.values).tree
        solver = CFR(gadget, "dcfr")
        solver.step(600)
        low, high = solver.quality().bracket
        exact = solve_lp(gadget).value
        assert low - 1e-9 <= exact <= high + 1e-9
        assert high - low < 0.01


@pytest.mark.parametrize("kind", ["public", "history"])
@pytest.mark.parametrize("method", SAFE)
def test_refining_by_cfr(kind: str, method: str) -> None:
    """On vectors of hands, or history by history: best-response values are nearly as small as by LP."""
    tree = compile_game(game_from_spec("leduc:ranks=3,suits=1"))
    assert isinstance(tree, PublicTree)
    lines = lines_after_chance(tree)
    base = some_base(tree, np.random.default_rng(13))
    subgames: Any = lines
    if kind == "history":
        subgames = [tuple(i.name for i in tree.infosets() if i.name.partition(":")[2] == line) for line in lines]
        flat = to_history_tree(tree)
        base = Strategy(flat, base.probabilities[flat.origin])
    before = np.array(quality(base).best)
    found = refine(base, subgames, method, solver=800)
    assert (quality(found.strategy).best <= before + 0.01).all()
    exact = refine(base, subgames, method)
    if method != "resolve":
        for approximate, optimal in zip(found.endgames, exact.endgames, strict=True):
            assert approximate.least_margin == pytest.approx(optimal.least_margin, abs=0.01)
            assert approximate.least_margin <= optimal.least_margin + 1e-6


@pytest.mark.parametrize("player", [0, 1])
def test_vector_maxmargin_converges(player: int) -> None:
    """The least margin converges to the value of the gadget game."""
    tree = compile_game(game_from_spec("leduc:ranks=4,suits=2"))
    base = some_base(tree, np.random.default_rng(17))
    subgame = find_subgame(tree, "crc/Qs/")
    (root_values,) = subgame_root_values(base, player, [subgame])
    value = solve_lp(maxmargin_gadget(subgame, player, root_values.reach, root_values.values).tree).value
    gaps = []
    for iterations in (20, 200, 2000):
        gadget, solved = solve_vector_maxmargin(subgame, player, root_values.reach, root_values.values, iterations)
        table = base.probabilities.copy()
        table[gadget.origin] = solved.probabilities
        (after,) = subgame_root_values(Strategy(tree, table), player, [subgame])
        possible = root_values.weights > 0
        gaps.append((value if player == 0 else -value) - (root_values.values - after.values)[possible].min())
    assert min(gaps) > -1e-9
    assert gaps[2] < 1e-3 < gaps[0]
    with pytest.raises(InputError, match="maxmargin_gadget"):
        solve_vector_maxmargin(
            find_subgame(to_history_tree(tree), "Qs:crc/Qh/"), 0, root_values.reach, root_values.values
        )
    with pytest.raises(InputError, match="schedule"):
        solve_vector_maxmargin(subgame, player, root_values.reach, root_values.values, schedule="vanilla")


@pytest.mark.parametrize("method", SAFE)
def test_hands_with_tiny_weight(method: str) -> None:
    """A king that raises meets a queen that hardly ever calls: its gift exceeds all payoffs there."""
    tree = compile_game(game_from_spec("leduc:ranks=3,suits=1"))
    assert isinstance(tree, PublicTree)
    rare = {"f": 1 - 1e-14, "c": 1e-14, "r": 0.0}
    rows = {"J:r": {"f": 1.0}, "Q:r": rare, "K:r": {"f": 0.0, "c": 1.0, "r": 0.0}}
    base = Strategy.from_mapping(tree, rows)
    found = refine(base, lines_after_chance(tree), method)
    assert (np.array(quality(found.strategy).best) <= np.array(quality(base).best) + 1e-9).all()
    if method == "reach_maxmargin":
        assert max(gift for part in found.endgames for gift in part.gifts.values()) > 1e9
    if method != "resolve":
        assert min(part.least_margin for part in found.endgames) >= -1e-9


def test_hands_with_reach_zero_keep_their_strategy() -> None:
    tree = compile_game(game_from_spec("leduc"))
    assert isinstance(tree, PublicTree)
    rows = {f"{card}:": {"c": 0.0, "r": 1.0} for card in ("Js", "Jh")}
    base = Strategy.from_mapping(tree, rows)
    for method in METHODS[:-1]:
        found = refine(base, "cc/Ks/", method).strategy
        assert found["Js:cc/Ks/"] == base["Js:cc/Ks/"]
        outside = [name for name, row in base.items() if not name.partition(":")[2].startswith("cc/Ks/")]
        assert all(found[name] == base[name] for name in outside)
        assert found["Ks:cc/Qs/"] == base["Ks:cc/Qs/"]
        assert found.mapping() != base.mapping()
    unreached = Strategy.from_mapping(tree, {f"{card}:": {"c": 0.0, "r": 1.0} for card in tree.hands[0]})
    refined: Array = refine(unreached, "cc/Ks/", "maxmargin", players=(0,)).strategy.probabilities
    np.testing.assert_array_equal(refined, unreached.probabilities)


def test_invalid_input() -> None:
    base = coin_toss("public")
    with pytest.raises(InputError, match="'max'"):
        refine(base, "right", "max")
    with pytest.raises(InputError, match=r"where=\[\]"):
        refine(base, [], "maxmargin")
    with pytest.raises(InputError, match=r"players=\(2,\)"):
        refine(base, "right", players=(2,))
    with pytest.raises(InputError, match="'up'"):
        refine(base, "up")
    with pytest.raises(InputError, match="information sets"):
        lines_after_chance(to_history_tree(base.tree))  # type: ignore[arg-type]
    general = compile_game(NormalForm(np.ones((2, 2, 2)), (("a", "b"), ("c", "d"))))
    with pytest.raises(ZeroSumError):
        refine(Strategy.uniform(general), next(general.infosets()).name)
