"""Hands of poker sites on the page: uploaded histories, their reports, and reviews of heads-up pots.

Texts are stored in `.practice/evenings/NAME.txt` of the data folder, unchanged, and parsed when they are needed. A form
feed separates what was uploaded in several requests, since an evening may have files of several sites.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

from riverboat.cards.notation import format_cards
from riverboat.core import files
from riverboat.core.cache import LRUCache
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text
from riverboat.formats.sites import reader
from riverboat.formats.sites.reader import ReadHands
from riverboat.games.holdem.betting_rules import FOLD
from riverboat.games.holdem.rules import STREETS
from riverboat.games.holdem.table_hands import BOARD_SIZES, HEADS_UP, TableHand, replay
from riverboat.practice.hands.pots import describe, review_pot, reviewable
from riverboat.practice.hands.ranges import RangeLibrary
from riverboat.practice.hands.report import format_hands, hands_of_player, make_report, worst_to_dict
from riverboat.practice.hands.results import money, stake_name
from riverboat.web.data_folder import DataFolder, MissingError

EVENING_FOLDER = Path(".practice") / "evenings"
MAX_EVENINGS = 200
MAX_EVENING_BYTES = 16 << 20  # of one evening; a request adds at most 1 MiB
MAX_OPEN_EVENINGS = 4
MAX_HANDS_LISTED = 2_000
PART_END = "\f"
MAX_REFUSALS_LISTED = 200
_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


class EveningStore:
    """The evenings of a server. Methods may take time and are called from worker threads."""

    def __init__(self, data: DataFolder) -> None:
        self.folder = data.root / EVENING_FOLDER
        self._lock = threading.Lock()
        self._cache = LRUCache[ReadHands](MAX_OPEN_EVENINGS)

    def begin(self, text: str, title: str) -> str:
        """Store a text with hands, and return its name; a text without any is refused with the reasons."""
        text = text.replace(PART_END, "\n")
        self._check(text, title)
        base = re.sub(r"[^a-z0-9]+", "-", Path(title).stem.lower()).strip("-")[:40] or "evening"
        with self._lock:
            names = {path.stem for path in self.folder.glob("*.txt")}
            if len(names) >= MAX_EVENINGS:
                raise InputError(f"{MAX_EVENINGS} evenings are stored: delete some first")
            name = next(
                name for k in range(1, len(names) + 3) if (name := base if k == 1 else f"{base}-{k}") not in names
            )
            files.write_text(self.folder / f"{name}.txt", text)
        return name

    def add(self, name: str, text: str) -> None:
        """Append a text to an evening."""
        path, text = self._file(name), text.replace(PART_END, "\n")
        with self._lock:
            old = read_text(path, "hands", MAX_EVENING_BYTES)
            if len(old.encode()) + len(text.encode()) > MAX_EVENING_BYTES:
                raise InputError(f"{name}: more than {MAX_EVENING_BYTES >> 20} MB of text; begin another evening")
            files.write_text(path, f"{old}{PART_END}{text}")
            self._cache.discard(name)

    def _check(self, text: str, title: str) -> None:
        result = reader.read_bytes(text.encode(), title)
        if not result.hands:
            first = result.refused[0]
            place = f"line {first.line}: {first.reason}" + (f", {first.detail}" if first.detail else "")
            raise InputError(f"hands {short_repr(title)}: none can be read: {place}")

    def _file(self, name: str) -> Path:
        path = self.folder / f"{name}.txt"
        if not _NAME_PATTERN.fullmatch(name) or not path.is_file():
            raise MissingError(f"evening {short_repr(name)}: does not exist; GET /api/evenings lists all")
        return path

    def read(self, name: str) -> ReadHands:
        """Return the parsed hands of an evening."""
        path = self._file(name)

        def parse() -> ReadHands:
            parts = read_text(path, "hands", MAX_EVENING_BYTES).split(PART_END)
            return reader.combine(
                reader.read_bytes(part.encode(), name if len(parts) == 1 else f"{name}, part {k}")
                for k, part in enumerate(parts, 1)
            )

        return self._cache.get_or_compute(name, parse)

    def list_evenings(self) -> list[dict[str, Any]]:
        """Return name and time of change of all evenings, the latest first."""
        entries = [{"name": path.stem, "changed": path.stat().st_mtime} for path in self.folder.glob("*.txt")]
        return sorted(entries, key=lambda entry: -float(entry["changed"]))

    def describe(self, name: str, player: str = "") -> dict[str, Any]:
        """Return the report of an evening: hands, refusals, players, results, statistics."""
        read = self.read(name)
        report = make_report(read, [player] if player else ())
        counts: dict[str, int] = {}
        for hand in read.hands:
            for each in hand.names:
                counts[each] = counts.get(each, 0) + 1
        players = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:100]
        numbers = {id(hand): k for k, hand in enumerate(read.hands)}
        rows = [_summary(hand, number, numbers[id(hand)]) for hand, number in report.played]
        facts = report.to_dict()
        return {
            "name": name, "hands": len(read.hands), "duplicates": read.duplicates, "refused_count": len(read.refused),
            "refused": facts["refused"][:MAX_REFUSALS_LISTED], "reasons": facts["reasons"], "player": facts["player"],
            "players": [{"name": each, "hands": count} for each, count in players], "stakes": facts["stakes"],
            "statistics": facts["statistics"], "played": rows[:MAX_HANDS_LISTED],
            "left_out": max(0, len(rows) - MAX_HANDS_LISTED), "reviewable": report.reviewable,
            "heads_up": sum(hand.players == HEADS_UP for hand in read.hands),
        }  # fmt: skip

    def format_phhs(self, name: str, heads_up: bool) -> str:
        """Return the hands as PHH; with `heads_up` only those of tables of two."""
        return format_hands([hand for hand in self.read(name).hands if hand.players == HEADS_UP or not heads_up])

    def hand(self, name: str, number: int, player: str = "") -> tuple[TableHand, int]:
        """Return a hand by its number in the evening, and the number of the player there."""
        hands = self.read(name).hands
        if not 0 <= number < len(hands):
            raise InputError(f"hand {number}: the evening has hands 0 to {len(hands) - 1}")
        hand = hands[number]
        found = hands_of_player([hand], [player] if player else ())
        return hand, found[0][1] if found else -1

    def walk(self, name: str, number: int, player: str = "") -> dict[str, Any]:
        """Return a hand for walking through it: seats, and each action with the pot before it."""
        hand, own = self.hand(name, number, player)
        positions = hand.positions
        seats = [
            {
                "name": hand.names[k], "position": positions[k], "stack": money(hand.stacks[k], hand.currency, hand.scale),
                "hole": format_cards(hand.holes[k]), "won": hand.winnings[k] / hand.scale, "own": k == own,
            }
            for k in range(hand.players)
        ]  # fmt: skip
        steps = [
            {
                "player": step.player, "street": STREETS[step.street], "words": describe(step, hand),
                "pot": money(step.pot, hand.currency, hand.scale), "fold": step.action == FOLD,
                "board": format_cards(hand.boards[0][: BOARD_SIZES[step.street]]),
            }
            for step in replay(hand)
        ]  # fmt: skip
        return {
            "hand": number, "number": hand.number, "site": hand.site, "table": hand.table, "time": hand.time,
            "stake": stake_name(hand), "seats": seats, "steps": steps, "boards": [format_cards(b) for b in hand.boards],
            "rake": money(hand.rake, hand.currency, hand.scale), "reviewable": own >= 0 and reviewable(hand, own),
        }  # fmt: skip

    def review(self, name: str, number: int, player: str = "") -> dict[str, Any]:
        """Solve a heads-up pot and return the review of the player's decisions."""
        hand, own = self.hand(name, number, player)
        if own < 0 or not reviewable(hand, own):
            raise InputError(
                f"hand {hand.number}: no heads-up pot from the flop on in which this player's cards are known"
            )
        review = review_pot(hand, own, RangeLibrary.load())
        decisions = [worst_to_dict(review, decision) | {"hand": number} for decision in review.decisions]
        return review.to_dict() | {"hand": number, "decisions": decisions}

    def remove(self, name: str) -> None:
        """Delete an evening."""
        path = self._file(name)
        with self._lock, files.disk_errors(path):
            self._cache.discard(name)
            path.unlink()


def _summary(hand: TableHand, player: int, number: int) -> dict[str, Any]:
    """Return a row of the list of hands."""
    return {
        "hand": number, "number": hand.number, "time": hand.time, "stake": stake_name(hand),
        "position": hand.positions[player], "hole": format_cards(hand.holes[player]), "board": format_cards(hand.boards[0]),
        "won": hand.winnings[player] / hand.scale, "won_bb": hand.winnings[player] / hand.big_blind,
        "pot_bb": sum(hand.contributed) / hand.big_blind, "reviewable": reviewable(hand, player),
    }  # fmt: skip
