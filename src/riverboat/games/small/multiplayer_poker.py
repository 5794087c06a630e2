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
from riverboat.games.base import CHANCE
from riverboat.games.small.betting import SmallBettingState, SmallPokerRules, card_names, check_small_deck

MAX_PLAYERS = 10


@dataclass(frozen=True)
class MultiplayerPoker:
    """Kuhn- and Leduc-like poker for 3 to 10 players: one hole card each, and fixed bets.

    There are `rounds` betting rounds, with a public card before each round but the first.
    """

    kind: str  # name of the two-player game: kuhn or leduc
    players: int
    ranks: int  # number of ranks of the deck
    suits: int  # number of suits, which only make ranks more frequent
    rounds: int
    rules: SmallPokerRules
    unit: str = field(default="chips", init=False)

    def __post_init__(self) -> None:
        if not 3 <= self.players <= MAX_PLAYERS:
            raise InputError(f"{self.kind}: players={self.players}: must be 2 to {MAX_PLAYERS}")
        check_small_deck(self.kind, self.ranks, self.suits, self.rounds, self.players)

    @property
    def name(self) -> str:
        """Kind and number of players, as on the command line."""
        return f"{self.kind}:players={self.players}"

    @cached_property
    def cards(self) -> tuple[str, ...]:
        """Names of the ranks from low to high."""
        return card_names(self.ranks, 1)

    def root(self) -> _MultiplayerPokerState:
        """Return the state before the deal."""
        return _MultiplayerPokerState(self, (), SmallBettingState.start(self.rules, self.players), "")


@dataclass(frozen=True)
class _MultiplayerPokerState:
    game: MultiplayerPoker
    dealt: tuple[int, ...]  # ranks: one per player, then the public ones
    betting: SmallBettingState
    line: str

    @property
    def actor(self) -> int:
        return CHANCE if len(self.dealt) < self.game.players else self.betting.actor_of(self.game.rounds)

    def _live_ranks(self) -> list[int]:
        """Return the ranks that can still be dealt."""
        return [r for r in range(self.game.ranks) if self.dealt.count(r) < self.game.suits]

    def actions(self) -> Sequence[str]:
        if self.actor == CHANCE:
            return [self.game.cards[r] for r in self._live_ranks()]
        return self.betting.legal_actions()

    def probabilities(self) -> Sequence[float]:
        game = self.game
        cards = game.ranks * game.suits - len(self.dealt)
        return [(game.suits - self.dealt.count(r)) / cards for r in self._live_ranks()]

    def child(self, index: int) -> _MultiplayerPokerState:
        if self.actor != CHANCE:
            label = self.betting.legal_actions()[index]
            return replace(self, betting=self.betting.apply_action(label), line=self.line + label)
        rank = self._live_ranks()[index]
        after = replace(self, dealt=(*self.dealt, rank))
        if len(self.dealt) < self.game.players:
            return after
        return replace(after, betting=self.betting.next_round(), line=f"{self.line}/{self.game.cards[rank]}/")

    def infoset(self) -> str:
        return f"{self.game.cards[self.dealt[self.betting.actor]]}:{self.line}"

    def payoffs(self) -> Sequence[float]:
        game = self.game
        public = self.dealt[game.players :]
        strength = [r + game.ranks * (r in public) for r in self.dealt[: game.players]]
        live, spent = self.betting.live, self.betting.spent
        best = max(s for s, is_live in zip(strength, live, strict=True) if is_live)
        wins = [is_live and s == best for s, is_live in zip(strength, live, strict=True)]
        share = sum(spent) / sum(wins)
        return [game.rules.chip * (share * w - s) for w, s in zip(wins, spent, strict=True)]
