"""Rivers and auctions as continuous games.

Moves are written as in spots: `x` check, `b` bet, `f` fold, `c` call, `r` raise, with the chips where there are several.
Pay-offs are counted from before the antes: half of the pot is each player's own, so that a river is zero-sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riverboat.continuous.game import ContinuousGame, Decision, Leaf, Tree
from riverboat.continuous.signals import Signals, uniform
from riverboat.core.errors import InputError


def river(
    signals: Signals | None = None,
    *,
    pot: float = 2.0,
    bets: Sequence[float] = (1.0,),
    raises: Sequence[float] = (),
    cap: int = 1,
    street: str = "full",
    name: str = "river",
) -> ContinuousGame:
    """Betting once the last card is dealt, for two players.

    `bets` are chips, `raises` are chips on top of a call; `cap` is how many raises may follow a bet. On a `half` street
    player 0 may bet and player 1 may only call; on a `full` one player 1 may bet after a check.
    """
    if not pot > 0 or not bets or min(*bets, *raises, 1.0) <= 0:
        raise InputError(f"{name}: pot {pot:g}, bets {tuple(bets)}, raises {tuple(raises)}: must be above zero")
    if street not in ("half", "full"):
        raise InputError(f"{name}: street {street!r}: must be half or full")
    ante = pot / 2

    def showdown(paid: float) -> Leaf:
        return Leaf((-ante - paid, -ante - paid), 2 * (ante + paid), (0, 1))

    def folded(player: int, paid: tuple[float, float]) -> Leaf:
        lost = ante + paid[player]
        return Leaf((-lost, lost) if player == 0 else (lost, -lost))

    def facing(player: int, paid: tuple[float, float], left: int) -> Tree:
        other = max(paid)
        moves: list[tuple[str, Tree]] = [("f", folded(player, paid)), ("c", showdown(other))]
        if left and street == "full":
            for size in raises:
                total = other + size
                after = (total, paid[1]) if player == 0 else (paid[0], total)
                moves.append((_label("r", total, raises), facing(1 - player, after, left - 1)))
        return Decision(player, tuple(moves))

    def opening(player: int, checked: Tree) -> Tree:
        moves: list[tuple[str, Tree]] = [("x", checked)]
        for size in bets:
            paid = (size, 0.0) if player == 0 else (0.0, size)
            moves.append((_label("b", size, bets), facing(1 - player, paid, cap if raises else 0)))
        return Decision(player, tuple(moves))

    last = opening(1, showdown(0.0)) if street == "full" else showdown(0.0)
    return ContinuousGame(name, signals or uniform(), opening(0, last), scale=pot)


def three_way(signals: Signals | None = None, *, pot: float = 3.0, bet: float = 1.0) -> ContinuousGame:
    """A half street for three: player 0 checks or bets, then players 1 and 2 call or fold in turn."""
    if not (pot > 0 and bet > 0):
        raise InputError(f"three-way: pot {pot:g}, bet {bet:g}: must be above zero")
    ante = pot / 3

    def over(called: tuple[int, ...]) -> Leaf:
        paid = tuple(-ante - (bet if p in called or p == 0 else 0.0) for p in range(3))
        return Leaf(paid, -sum(paid), (0, *called))

    last = [
        Decision(2, (("f", over(called)), ("c", over((*called, 2)))), situation="b-c" if called else "b-f")
        for called in ((), (1,))
    ]
    check = Leaf((-ante,) * 3, pot, (0, 1, 2))
    tree = Decision(0, (("x", check), ("b", Decision(1, (("f", last[0]), ("c", last[1]))))))
    return ContinuousGame("three-way", signals or uniform(3), tree, scale=pot)


def auction(
    signals: Signals | None = None, *, bids: Sequence[float] = (0.0, 0.25, 0.5), price: str = "first"
) -> ContinuousGame:
    """A sealed-bid auction of one thing, worth each bidder's own signal; bids from a list, equal ones by lot.

    The winner pays its own bid (`first`) or the highest other one (`second`).
    """
    signals = signals or uniform()
    players = signals.players
    if list(bids) != sorted(set(bids)) or len(bids) < 2:
        raise InputError(f"auction: bids {tuple(bids)}: two or more, rising")
    if price not in ("first", "second"):
        raise InputError(f"auction: price {price!r}: must be first or second")
    labels = tuple(f"{bid:g}" for bid in bids)

    def sold(given: tuple[float, ...]) -> Leaf:
        best = max(given)
        winners = [p for p, bid in enumerate(given) if bid == best]
        others = sorted(given)[-2]
        paid = best if price == "first" else others
        share = [1 / len(winners) if p in winners else 0.0 for p in range(players)]
        return Leaf(tuple(-s * paid for s in share), worth=tuple(share))

    def bidding(given: tuple[float, ...]) -> Tree:
        if len(given) == players:
            return sold(given)
        who = len(given)
        moves = tuple((label, bidding((*given, bid))) for label, bid in zip(labels, bids, strict=True))
        return Decision(who, moves, situation=f"bidder {who}")

    return ContinuousGame(f"{price}-price auction", signals, bidding(()), scale=max(bids) or 1.0, unit="money")


def _label(kind: str, chips: float, sizes: Sequence[float]) -> str:
    return f"{kind}{chips:g}" if len(sizes) > 1 else kind


MAKERS: dict[str, Callable[..., ContinuousGame]] = {"river": river, "three-way": three_way, "auction": auction}
