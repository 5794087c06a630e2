"""Readers of histories that have one event a line: a table of patterns for each site.

A rule is a pattern and what it does to the draft. Lines that match no rule are skipped if they cannot move chips; the
accounts of the hand must still balance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from riverboat.formats.sites.draft import INCOMPLETE, OTHER_GAME, HandDraft
from riverboat.formats.sites.text import MONEY, SiteHandError, amount, currency_of, read_cards, read_date
from riverboat.games.holdem.table_hands import TableHand

Rule: TypeAlias = tuple[re.Pattern[str], Callable[[HandDraft, re.Match[str]], object]]
_SUMMARY = re.compile(r"\*\*\* ?SUMMARY ?\*\*\*|Summary:")
NAME = r"(?P<name>.+?)"
CHIPS = rf"(?P<chips>{MONEY})"
SHOWN = r"\[ *(?P<cards>[^\]]*?) *\]"
MAX_LINE = 400  # characters; longer lines are no events


@dataclass(frozen=True)
class LineFormat:
    """A family of histories: its name, the first line of a hand, and the rules of the other lines."""

    site: str
    start: re.Pattern[str]
    header: Callable[[HandDraft, re.Match[str], str], None]
    rules: Sequence[Rule]
    summary: Sequence[Rule] = ()  # rules of the lines after the heading of the summary
    strict: re.Pattern[str] | None = None  # lines that must match a rule
    translate: Callable[[str], str] | None = None
    end: tuple[str, ...] = ()  # every complete hand has one of these after its first line
    wins_include_uncalled: bool = False
    wins_include_blind: bool = False


def read_lines(family: LineFormat, lines: Sequence[str]) -> TableHand:
    """Read a hand from its lines; raise SiteHandError if it cannot be accepted."""
    if family.end and not any(end in line for line in lines[1:] for end in family.end):
        raise SiteHandError(INCOMPLETE, f"no line with {family.end[0]!r}", len(lines) - 1)
    draft = HandDraft(family.site)
    draft.wins_include_uncalled, draft.wins_include_blind = family.wins_include_uncalled, family.wins_include_blind
    rules, summary, strict, translate = family.rules, family.summary, family.strict, family.translate
    for k, line in enumerate(lines):
        text = line.strip()
        if not text:
            continue
        draft.line = k
        if translate is not None:
            english = translate(text)
            if k == 0 and english == text:
                translate = None  # an English hand
            text = english
        try:
            if k == 0:
                found = family.start.match(text)
                if found is None:
                    raise draft.fail("a header that cannot be read", repr(text[:60]))
                family.header(draft, found, text)
                continue
            if summary and _SUMMARY.match(text):
                rules, strict = summary, None
                continue
            if len(text) > MAX_LINE:
                raise draft.fail("a line that cannot be read", f"{len(text):,} characters")
            for pattern, apply in rules:
                found = pattern.match(text)
                if found is not None:
                    apply(draft, found)
                    break
            else:
                if strict is not None and strict.match(text):
                    raise draft.fail("a line that cannot be read", repr(text[:60]))
        except SiteHandError as error:
            error.line = k
            raise
    return draft.finish()


def rule(pattern: str, apply: Callable[[HandDraft, re.Match[str]], object]) -> Rule:
    """Return a rule: a pattern, and what it does to the draft."""
    return re.compile(pattern), apply


def require_holdem(draft: HandDraft, text: str) -> None:
    """Raise an error unless a header names no-limit hold'em."""
    lower = text.lower()
    game = re.search(r"hold ?'?em|texas|omaha|stud|razz|draw|badugi|horse|8-game|courchevel|short ?deck|6\+", lower)
    if game is None:
        raise draft.fail(OTHER_GAME, "the header names no game")
    if "hold" not in game[0] and "texas" not in game[0]:
        raise draft.fail(OTHER_GAME, game[0])
    if re.search(r"omaha|short ?deck|6\+|pineapple|fusion", lower):
        raise draft.fail(OTHER_GAME, "another kind of hold'em")
    if re.search(r"pot.?limit|\bpl\b", lower):
        raise draft.fail(OTHER_GAME, "pot-limit hold'em")
    if re.search(r"no.?limit|\bnl\b|nolimit|sin l[ií]mite", lower):
        return
    raise draft.fail(OTHER_GAME, "fixed-limit hold'em")


def read_stakes(draft: HandDraft, text: str) -> None:
    """Read currency and date of a header; blinds are those posted, unless the header has both."""
    draft.time = read_date(text)
    stakes = re.search(rf"\(?({MONEY}) ?/ ?({MONEY})", text)
    if stakes is not None:
        draft.big_blind = max(amount(stakes[1]), amount(stakes[2]))
        draft.currency = currency_of(text[stakes.start() : stakes.end() + 12])


def deal_whole_board(draft: HandDraft, cards: str, run: str = "") -> None:
    """Deal the cards of a line that shows the whole board so far; `run` is FIRST, SECOND or THIRD."""
    board = read_cards(cards)
    number = ("", "FIRST", "SECOND", "THIRD", "FOURTH").index(run)
    if number > 1 and len(draft.boards) < number:  # later boards share the cards dealt before the first run
        draft.boards.append([])
    draft.street(board, max(number - 1, 0), whole=True)


def show(draft: HandDraft, found: re.Match[str]) -> None:
    """Record the hole cards of the groups `name` and `cards`."""
    draft.show(found["name"], read_cards(found["cards"]))


def show_own(draft: HandDraft, found: re.Match[str]) -> None:
    """Record the cards of the player whose history this is."""
    draft.show(found["name"], read_cards(found["cards"]), hero=True)


def collect(draft: HandDraft, found: re.Match[str]) -> None:
    """Record chips from the pot, of the groups `name` and `chips`."""
    draft.collect(found["name"], amount(found["chips"]))


def return_uncalled(draft: HandDraft, found: re.Match[str]) -> None:
    """Record a bet that nobody called, of the groups `name` and `chips`."""
    draft.return_uncalled(found["name"], amount(found["chips"]))


def deal_board(draft: HandDraft, found: re.Match[str]) -> None:
    """Deal the board of a line that shows all its cards, of the groups `cards` and, if there is one, `run`."""
    deal_whole_board(draft, found["cards"], found.groupdict().get("run") or "")


def deal_street(draft: HandDraft, found: re.Match[str]) -> None:
    """Deal the new board cards of the group `cards`."""
    draft.street(read_cards(found["cards"]))


def set_button(draft: HandDraft, found: re.Match[str]) -> None:
    """Set the button of the group `button`, and the name of the table if the line has it."""
    draft.button = int(found["button"])
    draft.table = found.groupdict().get("table") or draft.table


def skip(draft: HandDraft, found: re.Match[str]) -> None:
    """Do nothing: the line has no event."""
