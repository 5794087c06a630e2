"""Files of hands that somebody brought to be looked at: kept as they came, read once, judged by any agent.

They lie in `.practice/histories/NAME.phhs` or `NAME.log` of the data folder.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any

from riverboat.cards.notation import show_cards
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, RiverboatError, shown
from riverboat.core.text_files import read_text
from riverboat.formats.hand_files import HandsRead, kind_of, parse_units
from riverboat.practice.reviews import PlayedHand, hands_of
from riverboat.web.data_folder import DataFolder, MissingError

FOLDER = Path(".practice") / "histories"
MOST_FILES = 500
MOST_BYTES = 64 << 20  # of a file of the data folder
MOST_OPEN = 4
MOST_LISTED = 5_000  # hands of a player
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


class Histories:
    """One for each server. Methods may take time, and are called from threads."""

    def __init__(self, data: DataFolder) -> None:
        self.data, self.folder = data, data.root / FOLDER
        self._lock = threading.Lock()
        self._read: OrderedDict[str, HandsRead] = OrderedDict()

    def keep(self, text: str, title: str) -> str:
        """Keep a file's text, if hands can be read from it; its name. A text that is there already is not kept again."""
        kind = ".log" if re.search(r"^STATE:", text, re.MULTILINE) else ".phhs"
        parse_units(text, kind, where=title)  # says what is wrong with it
        with atomic_io.told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        base = re.sub(r"[^a-z0-9]+", "-", Path(title).stem.lower()).strip("-")[:40] or "hands"
        with self._lock:
            there = {path.stem: path for path in self._files()}
            if len(there) >= MOST_FILES:
                raise InputError(f"{MOST_FILES} files of hands are kept: delete some before another one")
            number, name = 1, base
            while name in there:
                if there[name].suffix == kind and there[name].read_text(encoding="utf-8") == text:
                    return name
                number += 1
                name = f"{base}-{number}"
            atomic_io.write_text(self.folder / f"{name}{kind}", text)
        return name

    def bring(self, file: str) -> str:
        """Keep a file that lies in the data folder."""
        path = self.data.path(file)
        kind_of(path)
        if not path.is_file():
            raise MissingError(f"file {shown(file)}: not in the data folder")
        return self.keep(read_text(path, "hands", MOST_BYTES), path.name)

    def _files(self) -> list[Path]:
        return [path for path in self.folder.glob("*.*") if path.suffix in (".phhs", ".log")]

    def _file(self, name: str) -> Path:
        here = [path for path in self._files() if path.stem == name] if _NAME.fullmatch(name) else []
        if not here:
            raise MissingError(f"hands {shown(name)}: there are none of that name; GET /api/play/histories lists them")
        return here[0]

    def read(self, name: str) -> HandsRead:
        """The hands of a file."""
        path = self._file(name)
        with self._lock:
            if name in self._read:
                self._read.move_to_end(name)
                return self._read[name]
        read = parse_units(read_text(path, "hands", MOST_BYTES), path.suffix, where=name)
        with self._lock:
            self._read[name] = read
            while len(self._read) > MOST_OPEN:
                self._read.popitem(last=False)
        return read

    def all(self) -> list[dict[str, Any]]:
        """All that are kept, the last first."""
        told: list[dict[str, Any]] = []
        for path in self._files():
            with suppress(FileNotFoundError):  # deleted meanwhile
                told.append({"name": path.stem, "changed": path.stat().st_mtime, "kind": path.suffix[1:]})
        return sorted(told, key=lambda one: -one["changed"])

    def told(self, name: str) -> dict[str, Any]:
        """What a file holds: its players, and what could not be read."""
        read = self.read(name)
        hands = read.hands
        players: list[dict[str, Any]] = []
        for player in hands.names:
            try:
                seen = len(hands_of(hands, player))
            except RiverboatError:  # nobody saw its cards
                seen = 0
            players.append({"name": player, "hands": int(hands.of(player).sum()), "seen": seen})
        players.sort(key=lambda one: (-one["seen"], one["name"]))
        broken = [
            {"why": why, "hands": count, "where": list(read.examples.get(why, ()))}
            for why, count in read.refused.items()
        ]
        return {"name": name, "hands": len(hands), "scale": hands.scale, "players": players[:100], "refused": broken}

    def hands(self, name: str, player: str) -> list[PlayedHand]:
        """The hands in which a player's cards were seen."""
        return hands_of(self.read(name).hands, player)

    def listed(self, name: str, player: str) -> dict[str, Any]:
        """The same in a few words each."""
        hands = self.hands(name, player)
        rows = [
            {"hand": k, "number": one.number, "hole": show_cards(one.hole), "board": show_cards(one.dealt)}
            | {"line": one.end.line, "won": one.won, "seat": one.seat}
            for k, one in enumerate(hands[:MOST_LISTED])
        ]
        return {"player": player, "hands": rows, "left_out": max(0, len(hands) - MOST_LISTED), "unit": "chips"}

    def hand(self, name: str, player: str, hand: int) -> PlayedHand:
        """One of them."""
        hands = self.hands(name, player)
        if not 0 <= hand < len(hands):
            raise InputError(f"hand {hand}: {player} has 0 to {len(hands) - 1} in these hands")
        return hands[hand]

    def remove(self, name: str) -> None:
        """Delete a file."""
        path = self._file(name)
        with self._lock, atomic_io.told(path):
            self._read.pop(name, None)
            path.unlink()
