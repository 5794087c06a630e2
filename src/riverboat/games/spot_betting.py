"""The betting of a spot: no-limit, from a given pot and stack, with menus of sizes.

Player 0 is out of position and acts first on every street. Moves: `x` check, `c` call, `f` fold, `b120` bet and `r300`
raise, both as the total put in on this street, `a` all-in, whether bet or raise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.board_game import Pay
from riverboat.games.sizes import NO_THRESHOLDS, Situation, Sizes, Thresholds, resolve

OOP, IP = 0, 1


@dataclass(frozen=True)
class Menu:
    """Sizes of one player on one street."""

    bets: Sizes = ()
    raises: Sizes = ()
    donks: Sizes | None = None  # bets into the last street's aggressor; None: none of its own


@dataclass(frozen=True)
class Rake:
    """What the house takes of the final pot."""

    rate: float = 0.0
    cap: float = inf  # chips

    def of(self, pot: float) -> float:
        """Chips taken from a pot."""
        return min(self.rate * pot, self.cap)


@dataclass(frozen=True)
class SpotRules:
    """All that the betting of a spot depends on."""

    pot: int
    stack: int
    menus: tuple[tuple[Menu, ...], tuple[Menu, ...]]  # by player, then by street from the root on
    thresholds: Thresholds = NO_THRESHOLDS
    donk_bets: bool = True  # without donk sizes of its own, whether a player may bet into the aggressor as usual
    raise_cap: int | None = None  # raises a street; the first bet is none
    rake: Rake = Rake()

    @property
    def streets(self) -> int:
        """Streets of betting."""
        return len(self.menus[OOP])


@dataclass(frozen=True)
class SpotBetting:
    """Who has put in what, and whose turn it is."""

    rules: SpotRules
    street: int = 0
    before: int = 0  # chips that each player has put in on earlier streets
    put: tuple[int, int] = (0, 0)  # on this street
    turn: int = OOP
    last_raise: int = 0  # what the last bet or raise added
    raises: int = 0
    acted: int = 0  # moves on this street
    aggressor: int | None = None  # who bet or raised last on this street
    led: int | None = None  # who did on the street before
    folded: int | None = None

    @property
    def actor(self) -> int:
        """The player to move, CHANCE or TERMINAL."""
        if self.folded is not None:
            return TERMINAL
        matched = self.put[0] == self.put[1]
        if (self.acted >= 2 and matched) or self.before == self.rules.stack:
            return CHANCE if self.street < self.rules.streets - 1 else TERMINAL
        return self.turn

    @property
    def spent(self) -> tuple[float, float]:
        """Chips that each player has put in since the root."""
        return float(self.before + self.put[0]), float(self.before + self.put[1])

    @property
    def showdown(self) -> bool:
        """Nobody folded."""
        return self.folded is None

    @property
    def situation(self) -> Situation:
        """What the sizes of the next bet or raise are measured by."""
        faced = self.put[1 - self.turn]
        return Situation(
            self.rules.pot + 2 * (self.before + faced),
            faced,
            self.last_raise,
            self.rules.stack - self.before,
            self.rules.streets - self.street,
        )

    def moves(self) -> tuple[str, ...]:
        """Check or bet; facing a bet: fold, call or raise. Sizes ascend."""
        at = self.situation
        if self.aggressor is None:
            passive, letter, sizes = ["x"], "b", self._bets()
        else:
            passive, letter, sizes = ["f", "c"], "r", self.rules.menus[self.turn][self.street].raises
            if self.rules.raise_cap is not None and self.raises >= self.rules.raise_cap:
                return tuple(passive)
        totals = resolve(sizes, at, self.rules.thresholds)
        return (*passive, *("a" if total == at.stack else f"{letter}{total}" for total in totals))

    def _bets(self) -> Sizes:
        menu = self.rules.menus[self.turn][self.street]
        if self.turn == OOP and self.led == IP:
            if menu.donks is not None:
                return menu.donks
            if not self.rules.donk_bets:
                return ()
        return menu.bets

    def move(self, label: str) -> SpotBetting:
        """The state after a move that `moves()` lists."""
        me = self.turn
        if label == "f":
            return replace(self, folded=me)
        faced = self.put[1 - me]
        if label in ("x", "c"):
            total = faced
        else:
            total = self.rules.stack - self.before if label == "a" else int(label[1:])
        after = replace(self, put=(total, faced) if me == OOP else (faced, total), turn=1 - me, acted=self.acted + 1)
        if total == faced:
            return after
        raises = self.raises + (self.aggressor is not None)
        return replace(after, last_raise=total - faced, aggressor=me, raises=raises)

    def next_street(self) -> SpotBetting:
        """The state after a deal."""
        return SpotBetting(self.rules, self.street + 1, self.before + self.put[0], led=self.aggressor)

    def pay(self) -> Pay:
        """Shares of the final pot, less own chips. What nobody called has gone back, and no rake is taken of it."""
        stake = self.before + min(self.put)
        pot = self.rules.pot + 2 * stake
        pot_left = pot - self.rules.rake.of(pot)
        first, second = (pot_left - stake, 0.0 - stake), (0.0 - stake, pot_left - stake)
        if self.folded is not None:
            return (second,) * 3 if self.folded == OOP else (first,) * 3
        half = pot_left / 2 - stake
        return first, (half, half), second
