"""Hand histories as PHH, the poker hand history format (Kim 2024), written and read by pokerkit.

    with open_histories("match.phhs") as write:
        play_match(first, second, rules, 2_000, observe=write)

pokerkit is needed only here (`pip install pokerkit`). Hold'em with 52 cards can be written, with and without limit. Heads-up
the first player of a history has the big blind, as seat 0 has here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from riverboat import disk
from riverboat.agents.view import CALL, FOLD, play_move
from riverboat.cards.notation import show_cards
from riverboat.errors import InputError
from riverboat.evaluation.matches import Hands
from riverboat.games.acpc import Rules
from riverboat.games.acpc_betting import Betting
from riverboat.games.base import TERMINAL

DEEP = 1000  # big blinds that are written as stacks where the rules have none
SUFFIXES = (".phh", ".phhs")  # of one history, of many


def history(hands: Hands, i: int) -> Any:
    """Hand i as a `pokerkit.HandHistory`."""
    kit, rules = _pokerkit(), hands.rules
    _check(rules)
    stacks = list(rules.stacks) if rules.stacks is not None else [DEEP * rules.big_blind] * 2
    won = int(hands.won[i])
    sizes: dict[str, Any] = {"min_bet": rules.big_blind}
    if rules.limit:
        sizes = {"small_bet": rules.raise_sizes[0], "big_bet": rules.raise_sizes[-1]}
    return kit.HandHistory(
        variant="FT" if rules.limit else "NT",
        antes=[0, 0],
        blinds_or_straddles=sorted(rules.blinds),  # heads-up they are posted from the last player to the first
        starting_stacks=stacks,
        actions=_actions(hands, i),
        hand=int(hands.number[i]),
        players=list(hands.players(i)),
        finishing_stacks=[stacks[0] + won, stacks[1] - won],
        **sizes,
    )


def _actions(hands: Hands, i: int) -> list[str]:
    """Deals, moves and what is shown. A bet or raise is written as the player's total of the round."""
    rules = hands.rules
    cards = hands.cards[i].tolist()
    board, sizes = cards[2 * rules.hole :], (0, *rules.board_sizes)
    held = [show_cards(cards[seat * rules.hole : (seat + 1) * rules.hole]) for seat in (0, 1)]
    dealt = [f"d db {show_cards(board[start:end])}" for start, end in pairwise(sizes) if end > start]
    actions = [f"d dh p{seat + 1} {hand}" for seat, hand in enumerate(held)]
    state, shown = Betting.start(rules), 0
    for move in hands.moves[i, : hands.length[i]].tolist():
        player = f"p{state.turn + 1}"
        if move == FOLD:
            actions.append(f"{player} f")
        else:
            actions.append(f"{player} cc" if move == CALL else f"{player} cbr {move - state.before}")
        state = play_move(state, move)
        if state.folded is None:
            actions += dealt[shown : state.street]
            shown = max(shown, state.street)
    if state.actor == TERMINAL and state.folded is None:
        actions += [f"p{seat + 1} sm {hand}" for seat, hand in enumerate(held)]
    return actions


@contextmanager
def open_histories(path: str | Path) -> Iterator[Callable[[Hands], None]]:
    """A file to write hands into, `.phhs`: what it gives may be the `observe` of a match."""
    _pokerkit()
    path = Path(path)
    if path.suffix != SUFFIXES[1]:
        raise InputError(f"hand histories {str(path)!r}: a file of many hands is named FILE.phhs")
    with disk.text_file(path) as file:

        def write(hands: Hands) -> None:
            for i in range(len(hands)):
                file.write(f"[{hands.number[i] + 1}]\n{history(hands, i).dumps()}\n\n")

        yield write


def _check(rules: Rules) -> None:
    """Refuse what the format's variants of hold'em are not."""
    holdem = (rules.ranks, rules.suits, rules.hole, rules.board) == (13, 4, 2, (0, 3, 1, 1))
    small, big = sorted(rules.blinds)
    seats = rules.blinds == (big, small) and rules.first == (1, 0, 0, 0) and 0 < small < big
    sizes = rules.raise_sizes
    streets = not rules.limit or (sizes[0] == sizes[1] and sizes[2] == sizes[3])
    if not (holdem and seats and streets):
        raise InputError(
            f"game {rules.name!r}: PHH is written for heads-up hold'em with 52 cards and the dealer in seat 1"
        )


def _pokerkit() -> Any:
    try:
        import pokerkit
    except ImportError:
        raise InputError(
            "hand histories are written by pokerkit, which is not installed: pip install pokerkit"
        ) from None
    return pokerkit
