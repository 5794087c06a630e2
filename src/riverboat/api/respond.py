"""`rb.respond`: exact best responses to a strategy, and their values.

responses = respond(result.strategy, player=1)
responses[1].strategy["K:"]         # the best response with the king
responses[1].claim                  # best response of player 1 0.0561 chips (exact)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from riverboat.api.options import Seat, checked
from riverboat.core.claims import EXACT, Claim, to_dicts
from riverboat.core.errors import InputError
from riverboat.games.base import Game
from riverboat.solvers.tabular import best_response
from riverboat.strategies import files
from riverboat.strategies.profiles import StrategyLike, as_strategy
from riverboat.strategies.tabular import Strategy, Tree


@dataclass(frozen=True)
class BestResponse:
    """Best response of one player to the others, and its exact value.

    Attributes
    ----------
    player
        Seat of the responder, from 0.
    value
        Value of the response.
    gain
        Gain over the player's value in the profile.
    unit
        Unit of value and gain.
    strategy
        The response; the other players' rows are unchanged.

    Examples
    --------
    >>> from riverboat.api.solve import solve
    >>> respond(solve("kuhn", iterations=100).strategy, 1)[1].unit
    'chips'
    """

    player: int
    value: float
    gain: float  # over the player's value in the profile
    unit: str
    strategy: Strategy = field(repr=False, compare=False)  # the response; the other players' rows are unchanged

    @property
    def claims(self) -> tuple[Claim, Claim]:
        """Claims of the value and of the gain."""
        return self.claim, Claim(f"gain of player {self.player}", self.gain, self.unit, EXACT)

    @property
    def claim(self) -> Claim:
        """Claim of the value."""
        return Claim(f"best response of player {self.player}", self.value, self.unit, EXACT)


@dataclass(frozen=True)
class BestResponses(Mapping[int, BestResponse]):
    """Best responses by player.

    Attributes
    ----------
    game
        Name of the game.
    unit
        Unit of the values.
    responses
        The responses.

    Examples
    --------
    >>> BestResponses("kuhn", "chips", ()).claims
    ()
    """

    game: str
    unit: str
    responses: tuple[BestResponse, ...]

    def __getitem__(self, player: int) -> BestResponse:
        return {response.player: response for response in self.responses}[player]

    def __iter__(self) -> Iterator[int]:
        return (response.player for response in self.responses)

    def __len__(self) -> int:
        return len(self.responses)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims of all responses."""
        return tuple(claim for response in self.responses for claim in response.claims)

    def to_dict(self) -> dict[str, Any]:
        """Return the responses as a JSON object, without the strategies."""
        entries = [{"player": each.player, "value": each.value, "gain": each.gain} for each in self.responses]
        return {"game": self.game, "unit": self.unit, "responses": entries, "claims": to_dicts(self.claims)}


@checked
def respond(
    strategy: StrategyLike,
    player: Seat | None = None,
    *,
    out: str | Path | None = None,
    game: str | Game | Tree | None = None,
) -> BestResponses:
    """Compute best responses to a strategy profile.

    Parameters
    ----------
    strategy
        Profile to respond to: a `Strategy`, a result that has one, the `Solution` of a small spot, a folder, or with `game` a
        mapping or a function of the information set.
    player
        Responding player; by default each of them.
    out
        Folder for the response of one player, as a strategy.
    game
        Game of a mapping, of a function, or of a folder that cannot name it.

    Returns
    -------
    BestResponses
        Response, value and gain by player.

    Raises
    ------
    InputError
        If there is no such strategy or player, or the folder exists.

    Examples
    --------
    >>> from riverboat.api.solve import solve
    >>> sorted(respond(solve("kuhn", iterations=100)))
    [0, 1]
    """
    profile = as_strategy(strategy, game)
    tree = profile.tree
    if player is not None and player not in range(tree.players):
        raise InputError(f"player {player}: must be 0 to {tree.players - 1}")
    if out is not None:
        if player is None:
            raise InputError("out stores one response: choose it with player=")
        files.check_unused(out)
    values = best_response.quality(profile).values
    responses = []
    for p in range(tree.players) if player is None else [player]:
        value, response = best_response.best_response(profile, p)
        responses.append(BestResponse(p, value, value - values[p], tree.unit, response))
    if out is not None:
        files.save(responses[0].strategy, out)
    return BestResponses(tree.name, tree.unit, tuple(responses))
