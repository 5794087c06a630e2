"""iPoker: XML sessions with one `game` element for each hand.

Elements are found by patterns in one pass. No XML parser is used, so entities are never expanded; a document that
declares any is refused.
"""

from __future__ import annotations

import re

from riverboat.formats.sites.draft import OTHER_GAME, HandDraft
from riverboat.formats.sites.text import MONEY, SiteHandError, amount, currency_of, read_date
from riverboat.games.holdem.table_hands import TableHand

GAME_START = re.compile(r"<game\b[^<>]{0,400}>")
_TAG = re.compile(
    r"<(?P<tag>player|action|round)\b(?P<attributes>[^<>]{0,1000}?)/?>|<cards\b(?P<dealt>[^<>]{0,400})>(?P<cards>[^<>]{0,100})</cards>"
)
_ATTRIBUTE = re.compile(r'([a-z_]+)="([^"<>]*)"')
_FIELD = r"<{0}>([^<>]*)</{0}>"
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_CARD = re.compile(r"([CDHScdhs])(10|[2-9TJQKA])$")
_RANKS = {rank: k for k, rank in enumerate("23456789TJQKA")} | {"10": 8}
FOLD, SMALL, BIG, CALL, CHECK, BET, RAISE, ALL_IN, SIT_OUT, ANTE, RAISE_TO = 0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 23
_UNTYPED = {9, 10, 11, 12, 13, 14}  # statistics and messages without chips


def _field(text: str, name: str) -> str:
    found = re.search(_FIELD.format(name), text)
    return _unescape(found[1].strip()) if found is not None else ""


def _unescape(text: str) -> str:
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text


def _cards(text: str) -> tuple[int, ...]:
    cards = []
    for word in text.split():
        found = _CARD.match(word.upper())
        if found is None:
            if word.upper() in ("X", "XX", "00"):
                return ()
            raise SiteHandError("cards that cannot be read", repr(text[:30]))
        cards.append(4 * _RANKS[found[2]] + "CDHS".index(found[1]))
    return tuple(cards)


def read_game(session: str, game: str) -> TableHand:
    """Read one `game` element; `session` is the text before the first game. Raise SiteHandError if it is refused."""
    draft = HandDraft("iPoker")
    draft.wins_include_uncalled = True
    head = GAME_START.match(game)
    draft.number = dict(_ATTRIBUTE.findall(head[0])).get("gamecode", "") if head is not None else ""
    kind = _field(session, "gametype")
    if not re.match(r"(?:texas )?hold'?em NL\b", kind, re.IGNORECASE):
        raise draft.fail(OTHER_GAME, repr(kind[:30]) if kind else "no game type")
    if "</game>" not in game:
        raise draft.fail("the hand breaks off", "no </game>")
    draft.table, draft.time = _field(session, "tablename"), read_date(_field(game, "startdate"))
    draft.currency = currency_of(kind) or currency_of(_field(session, "tablecurrency") or _field(session, "currency"))
    stakes = re.search(rf"({MONEY})/({MONEY})", kind)
    if stakes is not None:
        draft.big_blind = amount(stakes[2])
    draft.tournament = _field(session, "tournamentcode") or _field(session, "tournamentname")
    if draft.tournament:
        draft.currency, draft.big_blind = "", 0  # the blinds of the level are those posted
    nickname = _field(session, "nickname")
    bets: dict[str, int] = {}
    wins: dict[str, int] = {}
    street, actions = 0, list[tuple[int, int, str, int]]()  # number, type, player, chips
    for found in _TAG.finditer(game):
        attributes = {
            key: _unescape(value) for key, value in _ATTRIBUTE.findall(found["attributes"] or found["dealt"] or "")
        }
        draft.line = game.count("\n", 0, found.start()) if found["tag"] != "player" else draft.line
        try:
            if found["tag"] == "player":
                name = attributes["name"]
                draft.seat(int(attributes["seat"]), name, amount(attributes["chips"]))
                bets[name], wins[name] = amount(attributes.get("bet", "0")), amount(attributes.get("win", "0"))
                if attributes.get("dealer") == "1":
                    draft.button = int(attributes["seat"])
            elif found["tag"] == "round":
                _play_round(draft, actions)
                street, actions = int(attributes["no"]), []
            elif found["tag"] == "action":
                name = attributes["player"]
                actions.append((int(attributes["no"]), int(attributes["type"]), name, amount(attributes["sum"] or "0")))
            elif attributes.get("type") == "Pocket":
                if attributes["player"] in draft.seats:
                    cards = _cards(found["cards"])
                    draft.show(attributes["player"], cards, hero=bool(cards) and attributes["player"] == nickname)
            elif street > 1:
                draft.street(_cards(found["cards"]))
        except (KeyError, ValueError) as error:
            raise draft.fail("an element that cannot be read", str(error)[:60]) from None
    _play_round(draft, actions)
    for name, chips in wins.items():
        if chips:
            draft.collect(name, chips)
    draft.totals = bets
    return draft.finish()


def _play_round(draft: HandDraft, actions: list[tuple[int, int, str, int]]) -> None:
    """Add the actions of a round in the order of their numbers."""
    for _, kind, name, chips in sorted(actions):
        if kind == FOLD:
            draft.act("fold", name)
        elif kind == CHECK:
            draft.act("check", name)
        elif kind == CALL:
            draft.act("call", name, chips)
        elif kind in (BET, ALL_IN):
            draft.act("add", name, chips, all_in=kind == ALL_IN)
        elif kind in (RAISE, RAISE_TO):
            draft.act("to", name, chips)
        elif kind == ANTE:
            draft.post_ante(name, chips)
        elif kind in (SMALL, BIG):
            draft.post_blind(name, chips, "small" if kind == SMALL else "big")
        elif kind == SIT_OUT:
            draft.out.add(name)
        elif kind not in _UNTYPED or chips:
            raise draft.fail("an element that cannot be read", f"action type {kind}")
