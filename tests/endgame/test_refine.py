"""Refined endgames: Coin Toss to the digit, safe methods safe on random games, gadgets by CFR as by LP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from random_games import SEEDS, RandomHistoryGame, RandomPublicGame, history_games, public_games, random_public_game
from reference.endgame import Opponent
from riverboat.core.errors import InputError, ZeroSumError
from riverboat.games.base import CHANCE, TERMINAL, Array, Outcome, Payoff
from riverboat.games.registry import make
from riverboat.games.small.coin_toss import CoinToss
from riverboat.games.small.normal_form import NormalForm
from riverboat.solvers.exact.lp import solve_lp, undominated
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.maxmargin import choose_hand
from riverboat.subgames.resolving import METHODS, after_chance, refine
from riverboat.subgames.values import entries, gifts
from riverboat.testing import check_strategy
from riverboat.trees.compile import compile_game, histories
from riverboat.trees.gadgets import check_apart, endgame_at, maxmargin_gadget, resolve_gadget
from riverboat.trees.public import PublicTree

SAFE = ("resolve", "maxmargin", "reach_maxmargin")
TOLERANCE = 1e-6

# Brown & Sandholm 2017, "Safe and nested endgame solving", figure 1.
COIN = {
    "heads:": {"left": 0.25, "right": 0.75},
    "tails:": {"left": 0.5, "right": 0.5},
    "guesser:right": {"heads": 0.5, "tails": 0.25, "forfeit": 0.25},
}


def coin_toss(kind: str, left: float = 0.5) -> Strategy:
    base = Strategy.from_mapping(PublicTree(CoinToss(left)), COIN)
    flat = histories(base.tree)
    return base if kind == "public" else Strategy(flat, base.probabilities[flat.origin])


def where(kind: str) -> str:
    return "right" if kind == "public" else "guesser:right"


@pytest.mark.parametrize("kind", ["public", "history"])
class TestCoinToss:
    # Guess heads, guess tails, best response: the paper's text; heads and tails of maxmargin are exchanged in the
    # workshop paper, against its own pay-offs of -1/4 and 1/4, and right in the later one. "optimal" is the equilibrium.
    @pytest.mark.parametrize(
        ("method", "heads", "tails", "concedes"),
        [
            ("unsafe", 1.0, 0.0, 0.75),
            ("maxmargin", 5 / 8, 3 / 8, 3 / 8),
            ("reach_maxmargin", 1 / 2, 1 / 2, 1 / 4),
            ("optimal", 1 / 4, 3 / 4, 0.0),
        ],
    )
    def test_known_answers(self, kind: str, method: str, heads: float, tails: float, concedes: float) -> None:
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
        assert reach.least == pytest.approx(0.5, abs=1e-9)

    def test_re_solve_has_many_answers_all_safe(self, kind: str) -> None:
        base = coin_toss(kind)
        found = refine(base, where(kind), "resolve", players=(1,))
        assert 0.25 - 1e-9 <= quality(found.strategy).best[0] <= 0.5 + 1e-9
        # Forfeit is weakly dominated: an undominated solution does not use it.
        better = refine(base, where(kind), "resolve", players=(1,), solver=lambda tree: undominated(tree).strategy)
        guess = better.strategy["guesser:right"]
        assert guess["forfeit"] == pytest.approx(0, abs=1e-9)
        assert 1 / 2 - 1e-9 <= guess["heads"] <= 3 / 4 + 1e-9

    def test_left_the_other_way_round(self, kind: str) -> None:
        """With -0.5 on heads and 0.5 on tails the equilibrium guesses heads 3/4 (Brown & Sandholm 2017b)."""
        found = refine(coin_toss(kind, -0.5), where(kind), "optimal", players=(1,))
        assert found.strategy["guesser:right"]["heads"] == pytest.approx(3 / 4, abs=1e-9)


# --- safety ---------------------------------------------------------------------------------------


def some_base(tree: Any, random: np.random.Generator) -> Strategy:
    """Anything from uniform to nearly pure, with moves that are never made."""
    weights = random.random(tree.table) ** random.choice([0.2, 1.0, 10.0])
    return Strategy.from_sums(tree, weights * (random.random(tree.table) >= random.choice([0.0, 0.3])))


def some_endgames(tree: Any, random: np.random.Generator, most: int = 4) -> list[str]:
    """Places that do not overlap."""
    if isinstance(tree, PublicTree):
        names = [line for _, line in tree.lines()]
    else:
        names = [infoset.name for infoset in tree.infosets()]
    chosen: list[str] = []
    for name in random.permutation(names)[:most].tolist():
        try:
            check_apart([endgame_at(tree, other) for other in (*chosen, name)])
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
        if method != "resolve":  # which is exact times the weight of a hand, and so in what a best response gets
            assert min(part.least for part in found.endgames) >= -TOLERANCE


@given(st.sampled_from(["leduc:ranks=3,suits=1", "leduc:ranks=2,suits=2", "leduc:ranks=3,suits=1,stack=3"]), SEEDS)
@settings(max_examples=3, deadline=None)
def test_safe_methods_on_all_endgames_of_leduc(spec: str, seed: int) -> None:
    tree = compile_game(make(spec))
    assert isinstance(tree, PublicTree)
    check_safe(some_base(tree, np.random.default_rng(seed)), after_chance(tree))


@pytest.mark.slow
@given(public_games(), SEEDS)
@example(random_public_game(1363), 22492)  # an endgame that the base meets once in 10^22 deals
@settings(max_examples=25, deadline=None)
def test_safe_methods_on_random_public_games(game: RandomPublicGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    check_safe(some_base(tree, random), some_endgames(tree, random))


@given(history_games(depth=6), SEEDS)
@settings(max_examples=15, deadline=None)
def test_safe_methods_on_random_history_games(game: RandomHistoryGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    check_safe(some_base(tree, random), some_endgames(tree, random))


@pytest.mark.slow
@given(st.sampled_from(["leduc", "leduc:ranks=4,suits=2", "leduc:stack=4"]), SEEDS)
@settings(max_examples=30, deadline=None)
def test_safe_methods_on_leduc_many_times(spec: str, seed: int) -> None:
    tree = compile_game(make(spec))
    assert isinstance(tree, PublicTree)
    check_safe(some_base(tree, np.random.default_rng(seed)), after_chance(tree))


def test_an_equilibrium_survives_safe_methods_and_not_the_unsafe_one() -> None:
    """Unsafe on Coin Toss: an equilibrium of the endgame against the base's range is exploitable in the game."""
    tree = PublicTree(CoinToss())
    exact = solve_lp(tree).strategy
    for method in SAFE:
        assert quality(refine(exact, "right", method).strategy).exploitability == pytest.approx(0, abs=1e-9)
    base = coin_toss("public")
    assert quality(refine(base, "right", "unsafe").strategy).best[0] > quality(base).best[0] + 0.2


def test_refining_all_of_the_game_solves_it() -> None:
    """The endgame at the root is the game: every method's answer is an equilibrium, but for re-solve."""
    tree = compile_game(make("kuhn"))
    base = some_base(tree, np.random.default_rng(5))
    for method in ("unsafe", "maxmargin", "optimal"):
        found = quality(refine(base, "", method).strategy).exploitability
        if method == "maxmargin":  # the least margin over hands, not the sum over hands
            assert found <= quality(base).exploitability + 1e-9
        else:
            assert found == pytest.approx(0, abs=1e-9)


# --- gifts and independent endgames -----------------------------------------------------------------


@dataclass(frozen=True)
class Weather:
    """Coin Toss in which, after Right, one of several kinds of weather is seen by both before the guess."""

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
    """Guessing heads with 0.3 concedes 0.4 on heads and -0.4 on tails: a best response gets 0.05.

    Heads gives up 0.1 by going Right. Each of six endgames that took six times that (as its share of the weight is a sixth)
    may concede 0.4 + 0.6 - m on heads with m = 0.3: 0.7, and a best response gets (0.7 - 0.5) / 2 = 0.1. With the gift split:
    0.4 + 0.1 - 0.05 = 0.45, and it gets (0.5 - 0.45) / 2 = 0.025.
    """
    tree = compile_game(Weather(6))
    assert isinstance(tree, PublicTree)
    places = after_chance(tree)
    assert len(places) == 6
    base = Strategy.from_mapping(
        tree, {f"guesser:{place}": {"heads": 0.3, "tails": 0.7, "forfeit": 0.0} for place in places}
    )
    assert quality(base).best[0] == pytest.approx(0.05, abs=1e-9)
    split = refine(base, places, "reach_maxmargin", players=(1,))
    assert quality(split.strategy).best[0] == pytest.approx(0.025, abs=1e-9)
    whole = refine(base, places, "reach_maxmargin", players=(1,), split=False)
    assert quality(whole.strategy).best[0] == pytest.approx(0.1, abs=1e-9)
    # One endgame alone may take it all: the others stay as they were.
    alone = refine(base, places[2], "reach_maxmargin", players=(1,), split=False)
    assert quality(alone.strategy).best[0] <= 0.05 + 1e-9
    # The same on histories.
    flat = histories(tree)
    copy = Strategy(flat, base.probabilities[flat.origin])
    names = [f"guesser:{place}" for place in places]
    assert quality(refine(copy, names, "reach_maxmargin", players=(1,)).strategy).best[0] == pytest.approx(
        0.025, abs=1e-9
    )
    raised = refine(copy, names, "reach_maxmargin", players=(1,), split=False)
    assert quality(raised.strategy).best[0] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("spec", ["kuhn", "leduc:ranks=3,suits=1", "coin_toss"])
def test_values_and_gifts_against_the_definition(spec: str, player: int) -> None:
    game = make(spec)
    tree = compile_game(game)
    assert isinstance(tree, PublicTree)
    random = np.random.default_rng(7)
    base = some_base(tree, random)
    places = after_chance(tree) if spec.startswith("leduc") else some_endgames(tree, random, 3)
    parts = [endgame_at(tree, place) for place in places]
    compare_with_the_definition(tree, base, player, parts)


@given(public_games(), SEEDS)
@settings(max_examples=15, deadline=None)
def test_values_and_gifts_of_random_games(game: RandomPublicGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    assert isinstance(tree, PublicTree)
    places = some_endgames(tree, random)
    compare_with_the_definition(tree, some_base(tree, random), seed % 2, [endgame_at(tree, p) for p in places])


def compare_with_the_definition(tree: PublicTree, base: Strategy, player: int, parts: list[Any]) -> None:
    twin = Opponent(tree.game, base.mapping(), 1 - player)
    known = entries(base, player, parts)
    given_up = gifts(base, player, parts, known, split=False)
    for part, entry, gift in zip(parts, known, given_up, strict=True):
        labels = steps(tree, int(part.roots[0]))
        for hand in np.flatnonzero(entry.weights > 0).tolist():
            way = twin.down(labels, hand)
            _, reach, value = way[-1]
            assert entry.weights[hand] == pytest.approx(reach, rel=1e-12)
            assert entry.values[hand] == pytest.approx(value / reach, abs=1e-9)
            lost = sum(way[k][2] - way[k + 1][2] for k in range(len(labels)) if way[k][0] == 1 - player)
            assert gift[hand] == pytest.approx(lost / reach, rel=1e-9, abs=1e-9)


def steps(tree: PublicTree, node: int) -> tuple[str, ...]:
    found, here = [], 0
    while here != node:
        for child, label in zip(tree.children(here), tree.labels(here), strict=True):
            if child <= node < tree.nodes.end[child]:
                found.append(label)
                here = child
                break
    return tuple(found)


# --- other solvers, other input -----------------------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
def test_gadgets_by_cfr_as_by_lp(player: int) -> None:
    tree = compile_game(make("leduc"))
    base = some_base(tree, np.random.default_rng(11))
    part = endgame_at(tree, "rc/Kh/")
    (entry,) = entries(base, player, [part])
    for make_gadget in (resolve_gadget, maxmargin_gadget):
        gadget = make_gadget(part, player, entry.reach, entry.values).tree
        solver = CFR(gadget, "dcfr")
        solver.step(600)
        low, high = solver.quality().bracket
        exact = solve_lp(gadget).value
        assert low - 1e-9 <= exact <= high + 1e-9
        assert high - low < 0.01


@pytest.mark.parametrize("kind", ["public", "history"])
@pytest.mark.parametrize("method", SAFE)
def test_refining_by_cfr(kind: str, method: str) -> None:
    """On vectors of hands, or history by history: what a best response gets is as small as by LP, or nearly."""
    tree = compile_game(make("leduc:ranks=3,suits=1"))
    assert isinstance(tree, PublicTree)
    lines = after_chance(tree)
    base = some_base(tree, np.random.default_rng(13))
    places: Any = lines
    if kind == "history":
        places = [tuple(i.name for i in tree.infosets() if i.name.partition(":")[2] == line) for line in lines]
        flat = histories(tree)
        base = Strategy(flat, base.probabilities[flat.origin])
    before = np.array(quality(base).best)
    found = refine(base, places, method, solver=800)
    assert (quality(found.strategy).best <= before + 0.01).all()
    exact = refine(base, places, method)
    if method != "resolve":
        for mine, theirs in zip(found.endgames, exact.endgames, strict=True):
            assert mine.least == pytest.approx(theirs.least, abs=0.01)
            assert mine.least <= theirs.least + 1e-6


@pytest.mark.parametrize("player", [0, 1])
def test_choosing_a_hand_on_vectors(player: int) -> None:
    """The least margin goes to the value of the gadget."""
    tree = compile_game(make("leduc:ranks=4,suits=2"))
    base = some_base(tree, np.random.default_rng(17))
    part = endgame_at(tree, "crc/Qs/")
    (entry,) = entries(base, player, [part])
    value = solve_lp(maxmargin_gadget(part, player, entry.reach, entry.values).tree).value
    gaps = []
    for iterations in (20, 200, 2000):
        gadget, solved = choose_hand(part, player, entry.reach, entry.values, iterations)
        table = base.probabilities.copy()
        table[gadget.origin] = solved.probabilities
        (after,) = entries(Strategy(tree, table), player, [part])
        held = entry.weights > 0
        gaps.append((value if player == 0 else -value) - (entry.values - after.values)[held].min())
    assert min(gaps) > -1e-9
    assert gaps[2] < 1e-3 < gaps[0]
    with pytest.raises(InputError, match="maxmargin_gadget"):
        choose_hand(endgame_at(histories(tree), "Qs:crc/Qh/"), 0, entry.reach, entry.values)
    with pytest.raises(InputError, match="alternating"):
        choose_hand(part, player, entry.reach, entry.values, schedule="vanilla")


@pytest.mark.parametrize("method", SAFE)
def test_hands_that_are_hardly_ever_met(method: str) -> None:
    """A king that raises meets a queen that hardly ever calls: what it gives up is beyond all pay-offs there."""
    tree = compile_game(make("leduc:ranks=3,suits=1"))
    assert isinstance(tree, PublicTree)
    rare = {"f": 1 - 1e-14, "c": 1e-14, "r": 0.0}
    rows = {"J:r": {"f": 1.0}, "Q:r": rare, "K:r": {"f": 0.0, "c": 1.0, "r": 0.0}}
    base = Strategy.from_mapping(tree, rows)
    found = refine(base, after_chance(tree), method)
    assert (np.array(quality(found.strategy).best) <= np.array(quality(base).best) + 1e-9).all()
    if method == "reach_maxmargin":
        assert max(gift for part in found.endgames for gift in part.gifts.values()) > 1e9
    if method != "resolve":
        assert min(part.least for part in found.endgames) >= -1e-9


def test_hands_that_never_come_keep_their_play() -> None:
    tree = compile_game(make("leduc"))
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
    none = Strategy.from_mapping(tree, {f"{card}:": {"c": 0.0, "r": 1.0} for card in tree.hands[0]})
    kept: Array = refine(none, "cc/Ks/", "maxmargin", players=(0,)).strategy.probabilities
    np.testing.assert_array_equal(kept, none.probabilities)


def test_what_is_refused() -> None:
    base = coin_toss("public")
    with pytest.raises(InputError, match="unknown method 'max'"):
        refine(base, "right", "max")
    with pytest.raises(InputError, match="no endgame"):
        refine(base, [], "maxmargin")
    with pytest.raises(InputError, match="0, 1 or both"):
        refine(base, "right", players=(2,))
    with pytest.raises(InputError, match="no move 'up'"):
        refine(base, "up")
    with pytest.raises(InputError, match="name information sets"):
        after_chance(histories(base.tree))  # type: ignore[arg-type]
    general = compile_game(NormalForm(np.ones((2, 2, 2)), (("a", "b"), ("c", "d"))))
    with pytest.raises(ZeroSumError):
        refine(Strategy.uniform(general), next(general.infosets()).name)
