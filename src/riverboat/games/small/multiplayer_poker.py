"""Kuhn and Leduc poker for more than two players, with fixed bets: `kuhn:players=3`, `leduc:players=3`.

Players act in turn, in every round from the first one who has not folded. A round ends when all remaining players have
called the last raise, or have checked. The best remaining hand takes the pot, equal hands split it. These are the rules
of `riverboat.games.small.poker`, of the ACPC's three-player Kuhn (Szafron, Gibson & Sturtevant 2013) and of OpenSpiel.

Suits do not matter, so ranks are dealt, with the total probability of their cards; a hand is a rank, `K:crc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.small import poker
from riverboat.games.small.poker import SmallPokerRules

MAX_PLAYERS = 10


@dataclass(frozen=True)
class MultiplayerPoker:
    """Poker with one hole card each and `rounds` betting rounds, with a public card before each round but the first."""

    kind: str
    players: int
    ranks: int
    suits: int
    rounds: int
    rules: SmallPokerRules
    unit: str = field(default="chips", init=False)

    def __post_init__(self) -> None:
        if not 3 <= self.players <= MAX_PLAYERS:
            raise InputError(f"{self.kind}: players={self.players}: must be 2 to {MAX_PLAYERS}")
        if not 1 <= self.suits <= 4:
            raise InputError(f"{self.kind}: suits={self.suits}: must be 1 to 4")
        dealt = self.players + self.rounds - 1
        if self.ranks < 1 or self.ranks * self.suits < dealt:
            raise InputError(
                f"{self.kind}: {self.ranks} ranks x {self.suits} suits: too few cards, {dealt} are dealt to "
                f"{self.players} players"
            )

    @property
    def name(self) -> str:
        """Kind and number of players, as on the command line."""
        return f"{self.kind}:players={self.players}"

    @cached_property
    def cards(self) -> tuple[str, ...]:
        """Ranks from low to high."""
        return poker.card_names(self.ranks, 1)

    def root(self) -> _MultiplayerPokerState:
        """Return the state before the deal."""
        ante = self.rules.units(self.rules.ante, "ante")
        return _MultiplayerPokerState(
            self, (), (ante,) * self.players, (True,) * self.players, 0, 0, self.players, 0, ""
        )


@dataclass(frozen=True)
class _MultiplayerPokerState:
    game: MultiplayerPoker
    dealt: tuple[int, ...]  # ranks: one per player, then the public ones
    spent: tuple[int, ...]  # units of each player
    left: tuple[bool, ...]  # whether each player is still in the hand
    round: int
    raises: int  # of this round
    players_to_act: int  # players who have yet to respond to the last raise, or to open
    turn: int
    line: str

    @property
    def actor(self) -> int:
        if len(self.dealt) < self.game.players:
            return CHANCE
        if sum(self.left) == 1:
            return TERMINAL
        if self.players_to_act == 0:
            return TERMINAL if self.round == self.game.rounds - 1 else CHANCE
        return self.turn

    def _live_ranks(self) -> list[int]:
        """Return the ranks that can still be dealt."""
        return [r for r in range(self.game.ranks) if self.dealt.count(r) < self.game.suits]

    def actions(self) -> Sequence[str]:
        if self.actor == CHANCE:
            return [self.game.cards[r] for r in self._live_ranks()]
        moves = ["f", "c"] if self.spent[self.turn] < max(self.spent) else ["c"]
        return [*moves, "r"] if self.raises < (self.game.rules.cap or 0) else moves

    def probabilities(self) -> Sequence[float]:
        game = self.game
        cards = game.ranks * game.suits - len(self.dealt)
        return [(game.suits - self.dealt.count(r)) / cards for r in self._live_ranks()]

    def child(self, index: int) -> _MultiplayerPokerState:
        if self.actor != CHANCE:
            return self._apply_action(self.actions()[index])
        rank = self._live_ranks()[index]
        after = replace(self, dealt=(*self.dealt, rank))
        if len(self.dealt) < self.game.players:
            return after
        opener = self.left.index(True)
        line = f"{self.line}/{self.game.cards[rank]}/"
        return replace(after, round=self.round + 1, raises=0, players_to_act=sum(self.left), turn=opener, line=line)

    def _apply_action(self, move: str) -> _MultiplayerPokerState:
        me, rules = self.turn, self.game.rules
        left, spent, raises, waiting = list(self.left), list(self.spent), self.raises, self.players_to_act - 1
        if move == "f":
            left[me] = False
        else:
            spent[me] = max(spent)
        if move == "r":
            assert rules.sizes is not None
            spent[me] += rules.units(rules.sizes[self.round], "bet size")
            raises, waiting = raises + 1, sum(left) - 1
        following = next((p % len(left) for p in range(me + 1, me + 1 + len(left)) if left[p % len(left)]), me)
        return replace(
            self, spent=tuple(spent), left=tuple(left), raises=raises, players_to_act=waiting, turn=following,
            line=self.line + move,
        )  # fmt: skip

    def infoset(self) -> str:
        return f"{self.game.cards[self.dealt[self.turn]]}:{self.line}"

    def payoffs(self) -> Sequence[float]:
        game = self.game
        public = self.dealt[game.players :]
        strength = [r + game.ranks * (r in public) for r in self.dealt[: game.players]]
        best = max(s for s, left in zip(strength, self.left, strict=True) if left)
        wins = [left and s == best for s, left in zip(strength, self.left, strict=True)]
        share = sum(self.spent) / sum(wins)
        return [game.rules.chip * (share * w - s) for w, s in zip(wins, self.spent, strict=True)]


def _require_fixed_bets(game: str, players: int, stack: float | None, menu: str) -> None:
    if stack is not None or menu != "*":
        raise InputError(
            f"{game}: players={players}: bets are fixed with more than two players; leave out stack and menu"
        )


def kuhn(
    cards: int | None = None,
    suits: int = 1,
    ante: float = 1.0,
    bet: float = 1.0,
    cap: int | None = None,
    stack: float | None = None,
    menu: str = "*",
    chip: float = 1.0,
    players: int = 2,
) -> poker.OneCardPoker | MultiplayerPoker:
    """Make Kuhn poker with `cards` ranks, one more than players by default; for two players no-limit with a `stack`."""
    ranks = players + 1 if cards is None else cards
    if players == 2:
        return poker.kuhn(ranks, suits, ante, bet, cap, stack, menu, chip)
    _require_fixed_bets("kuhn", players, stack, menu)
    rules = SmallPokerRules(ante, (bet,), 1 if cap is None else cap, chip=chip)
    return MultiplayerPoker("kuhn", players, ranks, suits, 1, rules)


def leduc(
    ranks: int | None = None,
    suits: int = 2,
    ante: float = 1.0,
    cap: int | None = None,
    stack: float | None = None,
    menu: str = "*",
    chip: float = 1.0,
    players: int = 2,
) -> poker.OneCardPoker | MultiplayerPoker:
    """Make Leduc poker with `ranks`, one more than players by default; for two players no-limit with a `stack`."""
    ranks = players + 1 if ranks is None else ranks
    if players == 2:
        return poker.leduc(ranks, suits, ante, cap, stack, menu, chip)
    _require_fixed_bets("leduc", players, stack, menu)
    rules = SmallPokerRules(ante, (2.0, 4.0), 2 if cap is None else cap, chip=chip)
    return MultiplayerPoker("leduc", players, ranks, suits, 2, rules)
