"""Hold'em spots from texts, and from positions of an agent's game with the agent's ranges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from riverboat.api.options import Flag, Limits
from riverboat.cards.deck import STANDARD_RULES, Deck
from riverboat.cards.notation import parse_board
from riverboat.core.errors import InputError, short_repr
from riverboat.core.observer import SILENT, Observer
from riverboat.formats import spot_file as spot_files
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import TAG, parse_match_state
from riverboat.games.holdem.menus import ActionMenu, load_menu, parse_menu
from riverboat.games.holdem.rules import PokerRules
from riverboat.games.spots.spot import STREETS, Spot
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.public_strategy import PublicPolicy, spot_from_state

if TYPE_CHECKING:
    from riverboat.agents.base import Agent

REQUIRED = ("board", "pot", "stack", "oop", "ip", "bets")


def spot_from_texts(
    *,
    board: str | None = None,
    pot: int | None = None,
    stack: int | None = None,
    oop: str | None = None,
    ip: str | None = None,
    bets: str | None = None,
    raises: str | None = None,
    donks: str | None = None,
    rake: str | None = None,
    rake_cap: float | None = None,
    add_all_in: str | None = None,
    force_all_in: str | None = None,
    merge: str | None = None,
    no_donk: bool = False,
    raise_cap: int | None = None,
    rules: str | None = None,
) -> Spot:
    """Make a spot from texts, as `riverboat solve spot` takes them; `rb.Spot.make` takes typed values.

    Parameters
    ----------
    board
        Three to five cards, QsJh2h.
    pot
        Chips in the middle.
    stack
        Chips behind.
    oop
        Range of the player out of position.
    ip
        Range of the player in position.
    bets
        Bet sizes, '33%, 75%'; / between streets. The last list is for all remaining streets.
    raises
        Raise sizes.
    donks
        Sizes of donk bets.
    rake
        Share of the pot, 5%.
    rake_cap
        Maximum rake in chips.
    add_all_in
        Add all-in up to this share of the pot.
    force_all_in
        All-in if less than this would be left.
    merge
        Merge sizes closer than this.
    no_donk
        No donk bets.
    raise_cap
        Maximum raises per street.
    rules
        Short or short-trips for 36 cards.

    Returns
    -------
    Spot
        The spot.

    Raises
    ------
    InputError
        If board, pot, stack, a range or the bet sizes are missing, or a text is invalid.

    Examples
    --------
    >>> spot = spot_from_texts(board="AsKd7c4h2s", pot=2, stack=2, oop="AA", ip="KK", bets="a", rake="5%")
    >>> spot.pot, spot.stack
    (2, 2)
    """

    required: dict[str, Any] = dict(zip(REQUIRED, (board, pot, stack, oop, ip, bets), strict=True))
    for name, value in required.items():
        if value is None:
            needed = ", ".join(f"--{each}" for each in REQUIRED)
            hint = "; use --bets '' for a hand that is checked down" if name == "bets" else ""
            raise InputError(f"solve spot: --{name} is missing; a spot by flags needs {needed}{hint}")
    sizes = {key: text for key, text in (("bets", bets), ("raises", raises), ("donks", donks)) if text is not None}
    given: dict[str, Any] = {
        "add_all_in": add_all_in, "force_all_in": force_all_in, "merge": merge, "raise_cap": raise_cap,
        "donk_bets": False if no_donk else None,
    }  # fmt: skip
    return Spot.make(
        **{name: required[name] for name in REQUIRED[:-1]},
        bets=_parse_menus(sizes, len(parse_board(board or ""))),
        rake=None if rake is None else _parse_share(rake),
        rake_cap=inf if rake_cap is None else rake_cap,
        deck=Deck.for_rules(STANDARD_RULES if rules is None else rules),
        **{name: value for name, value in given.items() if value is not None},
    )


def _parse_menus(sizes: Mapping[str, str], cards: int) -> dict[str, dict[str, str]]:
    """Parse the menus of the streets from `33% / 75%`: one list per street, the last one for all remaining streets."""

    streets = STREETS[max(cards, 3) - 3 :]
    menus: dict[str, dict[str, str]] = {street: {} for street in streets}
    for key, text in sizes.items():
        parts = text.split("/")
        if len(parts) > len(streets):
            raise InputError(f"--{key} {text!r}: {len(parts)} lists of sizes for {len(streets)} streets")
        for k, street in enumerate(streets):
            menus[street][key.removesuffix("s")] = parts[min(k, len(parts) - 1)].strip()
    return menus


def _parse_share(text: str) -> float:
    """Parse a share, such as a rake: 0.05 for `5%` or `0.05`."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", text)
    if match is None:
        raise InputError(f"--rake {text!r}: write a share such as 5% or 0.05")
    return float(match[1]) / (100 if match[2] else 1)


# --- positions of an agent's game ---

DEFAULT_MENU = 'preflop = ""\nflop = ["50%, 100%, a", "100%, a", "a"]'  # if neither a file nor a blueprint has one


def spot_from_match_state(
    state: str,
    *,
    ranges: str | Agent | None = None,
    menu: str | Path | None = None,
    floor: Annotated[float, Limits(0, 1)] | None = None,
    table_game: Annotated[str, Flag("--game")] | None = None,
    spot_file: str | Path | None = None,
    observer: Observer = SILENT,
) -> Spot:
    """Make the spot of a match state, with the ranges of an agent by Bayes' rule.

    Parameters
    ----------
    state
        Match state, `MATCHSTATE:…`.
    ranges
        Agent whose strategy gives both ranges.
    menu
        File of bet sizes; the agent's by default.
    floor
        Minimum weight of a hand, such as 0.01.
    table_game
        Its game; by default the agent's game.
    spot_file
        Also write a spot file, to edit or to lock.
    observer
        Receives the stage of the work.

    Returns
    -------
    Spot
        The spot at the table.

    Raises
    ------
    InputError
        If the state is invalid, or the agent cannot give ranges.

    Examples
    --------
    >>> spot_from_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", ranges="rule-based", floor=0.01).pot
    600
    """
    from riverboat.agents.registry import make_agent
    from riverboat.api.agent import rules_for

    if ranges is None:
        raise InputError(f"solve {TAG}: --ranges is missing; name an agent whose strategy gives both ranges")
    agent = make_agent(ranges) if isinstance(ranges, str) else ranges
    rules = rules_for([agent], table_game)
    parsed = parse_match_state(state.strip(), rules)
    with observer.during("ranges by Bayes"):
        try:
            spot = _spot_at(parsed.betting, parsed.board, agent, menu, floor, "table")
        except InputError as error:
            message = str(error).replace("give a floor such as 0.01", "give --floor 0.01")
            raise InputError(f"match state {short_repr(state)}: {message}") from None
    if spot_file is not None:
        spot_files.save(spot, Path(spot_file))
        observer.note(f"spot: {spot_file}")
    return spot


def spot_from_line(line: str, board: str, agent: Agent, floor: float | None = None, name: str = "table") -> Spot:
    """Make the spot of a line of an agent's game, such as `cr300c/`: like a match state, but without hole cards.

    Parameters
    ----------
    line
        Line in the notation of match states.
    board
        Board cards.
    agent
        Agent whose strategy gives both ranges.
    floor
        Minimum weight of a hand.
    name
        Name of the spot.

    Returns
    -------
    Spot
        The spot after the line.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> spot_from_line("cr300c/", "8c8d5c", make_agent("rule-based"), 0.01).pot
    600
    """
    from riverboat.api.agent import rules_for

    state = BettingState.from_line(rules_for([agent], None), line).deal_due_streets()
    return _spot_at(state, parse_board(board), agent, None, floor, name)


def _spot_at(
    state: BettingState, board: tuple[int, ...], agent: Agent, menu: str | Path | None, floor: float | None, name: str
) -> Spot:

    if not isinstance(agent, PublicPolicy):
        raise InputError(
            f"--ranges {short_repr(agent.name)}: the agent does not give its strategy for all hands (no method strategies)"
        )
    chosen = menu_for_agent(agent, state.rules, None if menu is None else Path(menu))
    return spot_from_state(state, board, agent, menu=chosen, floor=0.0 if floor is None else floor, name=name)


def menu_for_agent(agent: Agent, rules: PokerRules, path: Path | None = None) -> ActionMenu | None:
    """Return the bet sizes for a spot of an agent's game.

    Parameters
    ----------
    agent
        The agent.
    rules
        The game.
    path
        File of bet sizes.

    Returns
    -------
    ActionMenu or None
        The menu of the file, else that of the agent's blueprint, else the default menu; None in limit games.

    Raises
    ------
    InputError
        If a file is given for a limit game.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> menu_for_agent(make_agent("always-call"), read_game("limit")) is None
    True
    """

    if rules.limit:
        if path is not None:
            raise InputError(f"--menu {path}: {rules.name} is a limit game, whose rules fix the bet sizes")
        return None
    if path is not None:
        return load_menu(path)
    own = getattr(agent, "strategy", None)
    return own.menu if isinstance(own, Blueprint) and own.menu is not None else parse_menu(DEFAULT_MENU)
