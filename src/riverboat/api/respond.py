"""`rb.respond`: the best responses to a strategy, and what they earn.

responses = respond(result.strategy, player=1)
responses[1].strategy["K:"]         # what the best response does with the king
responses[1].claim                  # best response of player 1 0.0561 chips (exact)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from riverboat.core import validation
from riverboat.core.claims import EXACT, Claim, to_dicts
from riverboat.core.errors import InputError
from riverboat.games.base import Game
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.tabular import best_response
from riverboat.strategies import files
from riverboat.strategies.tabular import Strategy


@dataclass(frozen=True)
class BestResponse:
    """What one player earns by the best answer to the others, exact."""

    player: int
    value: float
    gain: float  # more than by the strategy itself
    unit: str
    strategy: Strategy = field(repr=False, compare=False)  # the answer; the other players' rows are kept

    @property
    def claims(self) -> tuple[Claim, Claim]:
        """The value and the gain."""
        return self.claim, Claim(f"gain of player {self.player}", self.gain, self.unit, EXACT)

    @property
    def claim(self) -> Claim:
        """What it earns."""
        return Claim(f"best response of player {self.player}", self.value, self.unit, EXACT)


@dataclass(frozen=True)
class Responses(Mapping[int, BestResponse]):
    """Best responses by player."""

    game: str
    unit: str
    responses: tuple[BestResponse, ...]

    def __getitem__(self, player: int) -> BestResponse:
        for answer in self.responses:
            if answer.player == player:
                return answer
        raise KeyError(player)

    def __iter__(self) -> Iterator[int]:
        return (answer.player for answer in self.responses)

    def __len__(self) -> int:
        return len(self.responses)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All that is said."""
        return tuple(claim for answer in self.responses for claim in answer.claims)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the strategies."""
        told = [{"player": answer.player, "value": answer.value, "gain": answer.gain} for answer in self.responses]
        return {"game": self.game, "unit": self.unit, "responses": told, "claims": to_dicts(self.claims)}


def respond(
    strategy: Strategy | str | Path,
    player: int | None = None,
    *,
    out: str | Path | None = None,
    game: str | Game | None = None,
) -> Responses:
    """Best responses of one player, or of each, to a strategy or to what lies in a folder.

    `out` keeps the response of one player as a strategy. `game` is for folders whose game cannot be made from its name.
    """
    validation.unless_none(validation.whole, "player", player)
    validation.unless_none(validation.path, "out", out)
    if isinstance(game, str):
        validation.text("game", game)
    if not isinstance(strategy, Strategy):
        validation.path("strategy", strategy)
        strategy = files.load_strategy(strategy, None if game is None else make_game(game))
    tree = strategy.tree
    if player is not None and player not in range(tree.players):
        raise InputError(f"player {player}: there are players 0 to {tree.players - 1}")
    if out is not None and player is None:
        raise InputError("out keeps one response: say whose, with player")
    if out is not None:
        files.check_free(out)
    values = best_response.quality(strategy).values
    responses = []
    for p in range(tree.players) if player is None else [player]:
        value, answer = best_response.best_response(strategy, p)
        responses.append(BestResponse(p, value, value - values[p], tree.unit, answer))
    if out is not None:
        files.save(responses[0].strategy, out)
    return Responses(tree.name, tree.unit, tuple(responses))
