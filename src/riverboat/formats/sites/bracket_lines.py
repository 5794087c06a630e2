"""Sites whose raises name the chips that are added: PartyPoker, 888 (Pacific), WPN (old form)."""

from __future__ import annotations

import re

from riverboat.formats.sites.draft import HandDraft
from riverboat.formats.sites.lines import (
    CHIPS,
    NAME,
    SHOWN,
    LineFormat,
    collect,
    deal_board,
    deal_street,
    read_stakes,
    require_holdem,
    return_uncalled,
    rule,
    set_button,
    show,
    show_own,
    skip,
)
from riverboat.formats.sites.text import MONEY, amount, currency_of, read_cards

_BRACKET = rf"\[ ?{CHIPS} ?\]"


def _act(draft: HandDraft, found: re.Match[str]) -> None:
    name, verb = found["name"], found["verb"]
    if verb in ("folds", "checks"):
        draft.act("fold" if verb == "folds" else "check", name)
        return
    all_in = verb.lower().startswith(("all", "is all"))
    draft.act("call" if verb == "calls" else "add", name, amount(found["chips"]), all_in=all_in)


def _seat(draft: HandDraft, found: re.Match[str]) -> None:
    draft.seat(int(found["seat"]), found["name"].strip(), amount(found["chips"]))


# --- PartyPoker ---


def _party_header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number = found["number"]


def _party_game(draft: HandDraft, found: re.Match[str]) -> None:
    text = found[0]
    require_holdem(draft, text)
    read_stakes(draft, text)
    draft.currency = currency_of(text)
    if "Buy-in" in text or "Trny" in text or "Tournament" in text:
        number = re.search(r"(?:Trny|Tournament)[:#]? ?(\d+)", text)
        draft.tournament, draft.currency = number[1] if number else "PartyPoker", ""
        blinds = re.search(rf"(?:Blinds-Antes|Blinds|Level:? ?\d*) ?\(?({MONEY})/({MONEY})", text)
        draft.big_blind = amount(blinds[2]) if blinds else 0
    elif "/" not in text.partition(" - ")[0]:  # $5,000 USD NL Texas Hold'em: the maximum buy-in; blinds are posted
        draft.big_blind = 0


def _party_post(draft: HandDraft, found: re.Match[str]) -> None:
    name, what, chips = found["name"], found["what"], amount(found["chips"])
    if what == "ante":
        draft.post_ante(name, chips)
    elif "+ dead" in what:
        live = draft.big_blind or max(draft.blinds.values(), default=chips)
        draft.post_blind(name, min(chips, live), "post")
        draft.post_dead(name, max(chips - live, 0))
    elif "dead" in what:
        draft.post_dead(name, chips)
    elif "straddle" in what:
        draft.post_blind(name, chips, "straddle")
    else:
        draft.post_blind(name, chips, "small" if "small" in what else "big")


PARTY_POKER = LineFormat(
    "PartyPoker",
    re.compile(r"\*{5} Hand History for Game (?P<number>\d+) \*{5}"),
    _party_header,
    (
        rule(rf"Seat (?P<seat>\d+): {NAME} \( ?{CHIPS} ?\)$", _seat),
        rule(rf"(?:{MONEY}|NL|PL|FL).*(?:Hold|Omaha|Stud).* - .*", _party_game),
        rule(r".+ said,? .*|[^:]{1,40}: .*", skip),  # chat
        rule(rf"{NAME} (?P<verb>folds|checks|calls|bets|raises|is all-In|all-in)\.?(?: *{_BRACKET})?\.?$", _act),
        rule(
            rf"{NAME} posts (?:the |an )?"
            r"(?P<what>small blind|big blind \+ dead|big blind|ante|straddle|dead|small blind \+ dead)"
            rf"(?: of)? *{_BRACKET}\.?$",
            _party_post,
        ),
        rule(r"Table (?P<table>.*?) ?(?:\((?:Real|Play) Money\))?$", lambda d, m: setattr(d, "table", m["table"].strip())),
        rule(r"Seat (?P<button>\d+) is the button", set_button),
        rule(rf"Dealt to {NAME} {SHOWN}", show_own),
        rule(rf"\*\* Dealing (?:Flop|Turn|River) \*\* {SHOWN}", deal_street),
        rule(rf"{NAME} (?:shows|doesn't show) {SHOWN}", show),
        rule(
            rf"{NAME} wins {CHIPS}(?: chips)?(?: from (?:the )?(?:main|side) pot.*)?\.?$",
            collect,
        ),
    ),
    wins_include_uncalled=True,
)  # fmt: skip


# --- 888 and other skins of Pacific ---


def _pacific_header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number = found["number"]


def _pacific_game(draft: HandDraft, found: re.Match[str]) -> None:
    require_holdem(draft, found["game"])
    read_stakes(draft, found[0])
    draft.big_blind = max(amount(found["small"]), amount(found["big"]))


def _pacific_post(draft: HandDraft, found: re.Match[str]) -> None:
    name, what, chips = found["name"], found["what"], amount(found["chips"])
    if "ante" in what:
        draft.post_ante(name, chips)
    elif "dead" in what and found["live"]:  # posts dead blind [$0.50 + $1]: dead and live
        draft.post_dead(name, chips)
        draft.post_blind(name, amount(found["live"]), "post")
    elif "dead" in what:
        draft.post_dead(name, chips)
    elif "straddle" in what:
        draft.post_blind(name, chips, "straddle")
    else:
        draft.post_blind(name, chips, "small" if "small" in what else "big")


PACIFIC = LineFormat(
    "888poker",
    re.compile(r"\*{5} (?P<skin>\S.*?) Hand History for Game (?P<number>\d+) \*{5}"),
    _pacific_header,
    (
        rule(rf"{NAME} (?P<verb>folds|checks|calls|bets|raises)(?: {_BRACKET})?$", _act),
        rule(
            rf"{NAME} posts (?:the |an )?(?P<what>small blind|big blind|ante|dead blind|straddle)"
            rf" \[ ?{CHIPS}(?: \+ (?P<live>{MONEY}))? ?\]$",
            _pacific_post,
        ),
        rule(rf"(?P<small>{MONEY}) ?/ ?(?P<big>{MONEY}) Blinds (?P<game>.*?) - .*", _pacific_game),
        rule(r"Tournament #(?P<number>\d+)(?P<rest>.*)", lambda d, m: _pacific_tournament(d, m)),
        rule(r"Table (?P<table>.*?) \d+ Max.*", lambda d, m: setattr(d, "table", m["table"])),
        rule(r"Seat (?P<button>\d+) is the button", set_button),
        rule(rf"Seat (?P<seat>\d+): {NAME} \( ?{CHIPS} ?\)$", _seat),
        rule(rf"Dealt to {NAME} {SHOWN}", show_own),
        rule(rf"\*\* Dealing (?:flop|turn|river) \*\* {SHOWN}", deal_street),
        rule(rf"{NAME} (?:shows|mucks) {SHOWN}", show),
        rule(rf"{NAME} collected {_BRACKET}", collect),
    ),
    end=("** Summary **",), wins_include_blind=True,
)  # fmt: skip


def _pacific_tournament(draft: HandDraft, found: re.Match[str]) -> None:
    draft.tournament, draft.currency = found["number"], ""


# --- WPN until 2019 ---


def _wpn_header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    read_stakes(draft, text)


def _wpn_game(draft: HandDraft, found: re.Match[str]) -> None:
    draft.number = found["number"]
    require_holdem(draft, found["game"] + " no limit")
    date = draft.time
    read_stakes(draft, found["stakes"])
    draft.time, draft.table, draft.currency = date, found["table"].strip(), "USD"
    tournament = re.search(r"Tournament[ #:]*(\d+)", found["table"])
    if tournament is not None:
        draft.tournament, draft.currency = tournament[1], ""


def _wpn_act(draft: HandDraft, found: re.Match[str]) -> None:
    name, verb = found["name"], found["verb"]
    if verb in ("folds", "checks"):
        draft.act("fold" if verb == "folds" else "check", name)
    else:
        draft.act("call" if verb == "calls" else "add", name, amount(found["chips"]), all_in=verb == "allin")


def _wpn_post(draft: HandDraft, found: re.Match[str]) -> None:
    name, what, chips = found["name"], found["what"], amount(found["chips"])
    if "ante" in what:
        draft.post_ante(name, chips)
    elif found["dead"]:
        draft.post_dead(name, chips)
    elif what == "straddle":
        draft.post_blind(name, chips, "straddle")
    else:
        draft.post_blind(name, chips, "small" if "small" in what else "big" if "big" in what else "post")


def _wpn_summary(draft: HandDraft, found: re.Match[str]) -> None:
    name = found["name"]
    draft.totals[name] = amount(found["bets"])
    if found["collects"] and amount(found["collects"]):
        draft.collect(name, amount(found["collects"]))
    if found["cards"]:
        draft.show(name, read_cards(found["cards"]))


WPN_OLD = LineFormat(
    "WPN",
    re.compile(r"Game started at: (?P<date>.*)"),
    _wpn_header,
    (
        rule(
            rf"Player {NAME} (?P<verb>folds|checks|calls|bets|raises|allin|caps)(?: \({CHIPS}\))?$", _wpn_act
        ),
        rule(
            rf"Player {NAME} (?P<what>has small blind|has big blind|straddle|posts?|ante|posts ante) \({CHIPS}\)"
            r"(?P<dead> as a dead bet)?$",
            _wpn_post,
        ),
        rule(
            rf"Game ID: (?P<number>\d+) (?P<stakes>{MONEY}/{MONEY}) (?P<table>.*)\((?P<game>[^()]*)\)$", _wpn_game
        ),
        rule(r"Seat (?P<button>\d+) is the button", set_button),
        rule(rf"Seat (?P<seat>\d+): (?P<name>.+) \({CHIPS}\)\.?$", _seat),
        rule(rf"Player {NAME} received card: {SHOWN}", lambda d, m: _wpn_card(d, m)),
        rule(rf"Player {NAME} received a card\.", lambda d, m: d.known(m["name"])),
        rule(
            r"\*\*\* (?:FLOP|TURN|RIVER) \*\*\*: (?P<cards>.*)", deal_board
        ),
        rule(
            rf"Uncalled bet \({CHIPS}\) returned to (?P<name>.+)",
            return_uncalled,
        ),
        rule(rf"Pot: (?P<pot>{MONEY})\. Rake (?P<rake>{MONEY})", lambda d, m: _wpn_pot(d, m)),
        rule(
            rf"\*?Player {NAME} (?:does not show cards|mucks|shows)[^\[]*(?:{SHOWN})?\.? ?Bets: (?P<bets>{MONEY})\."
            rf"(?: Collects: (?P<collects>{MONEY})\.)?.*",
            _wpn_summary,
        ),
    ),
    end=("Game ended at:",),
)  # fmt: skip


def _wpn_pot(draft: HandDraft, found: re.Match[str]) -> None:
    draft.rake = amount(found["rake"])
    draft.pot = amount(found["pot"]) + draft.rake


def _wpn_card(draft: HandDraft, found: re.Match[str]) -> None:
    name = draft.known(found["name"])
    draft.hero = name
    draft.holes[name] = (*draft.holes.get(name, ()), *read_cards(found["cards"]))
