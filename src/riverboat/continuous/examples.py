"""Rivers and auctions as continuous games.

Actions have the letters of spots: `x` check, `b` bet, `f` fold, `c` call, `r` raise, with the chips where there are
several sizes. Payoffs are relative to the stacks before the antes: half of the pot is each player's own, so a river is
zero-sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riverboat.continuous.game import ContinuousGame, ContinuousTree, DecisionNode, Leaf
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
    """Build a two-player river: one betting round after the last card.

    Parameters
    ----------
    signals
        Distribution of the hands; uniform by default.
    pot
        Chips in the pot, half of them each player's own.
    bets
        Bet sizes in chips.
    raises
        Raise sizes in chips on top of a call.
    cap
        Number of raises after a bet.
    street
        `half`: player 0 may bet and player 1 may only call or fold; `full`: player 1 may bet after a check.
    name
        Name of the game.

    Returns
    -------
    ContinuousGame
        A zero-sum game with payoffs in chips; its scale is the pot.

    Raises
    ------
    InputError
        If a size is not above zero, or `street` is unknown.

    Examples
    --------
    >>> [situation.name for situation in river(street="half").situations]
    ['root', 'b']
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

    def facing(player: int, paid: tuple[float, float], left: int) -> ContinuousTree:
        other = max(paid)
        moves: list[tuple[str, ContinuousTree]] = [("f", folded(player, paid)), ("c", showdown(other))]
        if left and street == "full":
            for size in raises:
                total = other + size
                after = (total, paid[1]) if player == 0 else (paid[0], total)
                moves.append((_label("r", total, raises), facing(1 - player, after, left - 1)))
        return DecisionNode(player, tuple(moves))

    def opening(player: int, checked: ContinuousTree) -> ContinuousTree:
        moves: list[tuple[str, ContinuousTree]] = [("x", checked)]
        for size in bets:
            paid = (size, 0.0) if player == 0 else (0.0, size)
            moves.append((_label("b", size, bets), facing(1 - player, paid, cap if raises else 0)))
        return DecisionNode(player, tuple(moves))

    last = opening(1, showdown(0.0)) if street == "full" else showdown(0.0)
    return ContinuousGame(name, signals or uniform(), opening(0, last), scale=pot)


def three_way(signals: Signals | None = None, *, pot: float = 3.0, bet: float = 1.0) -> ContinuousGame:
    """Build a half street for three players: player 0 checks or bets, then players 1 and 2 call or fold in turn.

    Parameters
    ----------
    signals
        Distribution of the hands of three players; uniform by default.
    pot
        Chips in the pot, a third of them each player's own.
    bet
        Bet size in chips.

    Returns
    -------
    ContinuousGame
        The game.

    Raises
    ------
    InputError
        If pot or bet is not above zero.

    Examples
    --------
    >>> three_way().players
    3
    """
    if not (pot > 0 and bet > 0):
        raise InputError(f"three-way: pot {pot:g}, bet {bet:g}: must be above zero")
    ante = pot / 3

    def over(called: tuple[int, ...]) -> Leaf:
        paid = tuple(-ante - (bet if p in called or p == 0 else 0.0) for p in range(3))
        return Leaf(paid, -sum(paid), (0, *called))

    last = [
        DecisionNode(2, (("f", over(called)), ("c", over((*called, 2)))), situation="b-c" if called else "b-f")
        for called in ((), (1,))
    ]
    check = Leaf((-ante,) * 3, pot, (0, 1, 2))
    tree = DecisionNode(0, (("x", check), ("b", DecisionNode(1, (("f", last[0]), ("c", last[1]))))))
    return ContinuousGame("three-way", signals or uniform(3), tree, scale=pot)


def auction(
    signals: Signals | None = None, *, bids: Sequence[float] = (0.0, 0.25, 0.5), price: str = "first"
) -> ContinuousGame:
    """Build a sealed-bid auction of one item whose value to a bidder is its signal.

    Ties between bids are broken by lot.

    Parameters
    ----------
    signals
        Distribution of the valuations; uniform for two bidders by default.
    bids
        Possible bids, two or more, in increasing order.
    price
        What the winner pays: `first` its own bid, `second` the highest other bid.

    Returns
    -------
    ContinuousGame
        The game; its scale is the highest bid.

    Raises
    ------
    InputError
        If the bids are not increasing, or `price` is unknown.

    Examples
    --------
    >>> auction(bids=(0, 0.5), price="second").name
    'second-price auction'
    """
    signals = signals or uniform()
    players = signals.players
    if list(bids) != sorted(set(bids)) or len(bids) < 2:
        raise InputError(f"auction: bids {tuple(bids)}: must be two or more, in increasing order")
    if price not in ("first", "second"):
        raise InputError(f"auction: price {price!r}: must be first or second")
    labels = tuple(f"{bid:g}" for bid in bids)

    def sold(given: tuple[float, ...]) -> Leaf:
        second, best = sorted(given)[-2:]
        share = tuple(1 / given.count(best) if bid == best else 0.0 for bid in given)
        return Leaf(tuple(-s * (best if price == "first" else second) for s in share), signal_weights=share)

    def bidding(given: tuple[float, ...]) -> ContinuousTree:
        if len(given) == players:
            return sold(given)
        bidder = len(given)
        moves = tuple((label, bidding((*given, bid))) for label, bid in zip(labels, bids, strict=True))
        return DecisionNode(bidder, moves, situation=f"bidder {bidder}")

    return ContinuousGame(f"{price}-price auction", signals, bidding(()), scale=max(bids) or 1.0, unit="money")


def _label(kind: str, chips: float, sizes: Sequence[float]) -> str:
    return f"{kind}{chips:g}" if len(sizes) > 1 else kind


GAME_MAKERS: dict[str, Callable[..., ContinuousGame]] = {"river": river, "three-way": three_way, "auction": auction}
