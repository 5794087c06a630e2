"""Files of hands: PHH and the logs of ACPC matches, both ways, with gzip or without.

read = read_hands("heads_up.phhs.gz")
read.hands, read.refused            # a record, and why hands were not taken
write_hands("match.log", read.hands)
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.core.text_files import read_text
from riverboat.formats import acpc_log, phh
from riverboat.games.holdem.match_state import show_deal
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import UNKNOWN, Hands, Played, join, kind_of_game, record

MOST = 1 << 30  # bytes of text
EXAMPLES = 3  # of each reason, with their places
KINDS = (".phh", ".phhs", ".log")
BROKEN_LINE, BROKEN_LOG = "a line of a log that cannot be read", "a log that cannot be read"


@dataclass(frozen=True)
class HandsRead:
    """What a file holds."""

    hands: Hands
    refused: dict[str, int]  # reason: how many hands
    examples: dict[str, tuple[str, ...]]  # reason: the first places and what is wrong there


def kind_of(path: str | Path) -> str:
    """`.phh`, `.phhs` or `.log`, by the name of a file; `.gz` may follow."""
    path = Path(path)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix not in KINDS:
        raise InputError(f"hands {str(path)!r}: files of hands are named .phh, .phhs or .log, and .gz may follow")
    return suffix


def read_hands(path: str | Path, rules: Rules | None = None, scale: int | None = None) -> HandsRead:
    """All hands of a file that can be taken, and why others cannot.

    Amounts are counted in chips, `scale` to a unit of the file: 100 in PHH, where cents are played, 1 in logs. `rules` are
    those of a log whose first line does not name its game.
    """
    return parse_hands(_text(path), kind_of(path), rules, scale, str(path))


def parse_hands(
    text: str, kind: str, rules: Rules | None = None, scale: int | None = None, where: str = "text"
) -> HandsRead:
    """The same of the text of a file, `.phh`, `.phhs` or `.log`."""
    if scale is not None and scale < 1:
        raise InputError(f"scale={scale}: chips of one unit of money, at least 1")
    if kind == ".log":
        return HandsRead(acpc_log.parse_log(text, rules, where).record(scale or 1), {}, {})
    pile = _Pile()
    pile.add_phh(text, scale or phh.SCALE)
    if not pile.records:
        why = ", ".join(f"{reason} ({count:,})" for reason, count in pile.refused.most_common()) or "it is empty"
        raise InputError(f"hands {shown(where)}: none can be read: {why}")
    gathered = pile.gathered()
    assert gathered.hands is not None
    return HandsRead(gathered.hands, gathered.refused, gathered.examples)


def parse_units(text: str, kind: str, rules: Rules | None = None, where: str = "text") -> HandsRead:
    """The same with amounts as the file has them where all of them are whole, else in hundredths, as cents are."""
    with suppress(InputError):  # said below, where it is no matter of cents
        read = parse_hands(text, kind, rules, 1, where)
        if phh.BROKEN_CHIP not in read.refused:
            return read
    return parse_hands(text, kind, rules, None, where)


def read_units(path: str | Path, rules: Rules | None = None) -> HandsRead:
    """`parse_units` of a file."""
    return parse_units(_text(path), kind_of(path), rules, str(path))


@dataclass(frozen=True)
class Gathered:
    """What some files hold."""

    hands: Hands | None  # None: no hand could be taken
    refused: dict[str, int]
    examples: dict[str, tuple[str, ...]]


def gather_hands(paths: Iterable[str | Path], rules: Rules | None = None) -> Gathered:
    """The hands of many files as one record. A broken hand, line or file, or one of another game, is counted and spoils
    nothing; what is not there or is no file of hands by its name is refused.
    """
    pile = _Pile()
    for path in paths:
        text = _text(path)
        if kind_of(path) != ".log":
            pile.add_phh(text, phh.SCALE, f"{Path(path).name} ")
            continue
        try:
            log = acpc_log.parse_log(text, rules, Path(path).name, lambda e: pile.refuse(BROKEN_LINE, str(e)))
        except InputError as error:
            pile.refuse(BROKEN_LOG, str(error))
            continue
        if log.hands:
            pile.records.append(log.record(1))
    return pile.gathered()


class _Pile:
    """Records of all kinds, and what was refused."""

    def __init__(self) -> None:
        self.records: list[Hands] = []
        self.refused: Counter[str] = Counter()
        self.examples: dict[str, tuple[str, ...]] = {}

    def refuse(self, reason: str, what: str) -> None:
        self.refused[reason] += 1
        if self.refused[reason] <= EXAMPLES:
            self.examples[reason] = (*self.examples.get(reason, ()), what)

    def add_phh(self, text: str, scale: int, where: str = "") -> None:
        taken: dict[tuple[object, ...], list[Played]] = {}
        for number, section in phh.sections(text):
            try:
                hand = phh.read_hand(section, scale)
                rules = hand.betting.rules
                taken.setdefault((rules.limit, rules.least_bet, rules.first), []).append(hand)
            except phh.Unreadable as error:
                self.refuse(error.reason, f"{where}[{number}] {error}")
        self.records += [record(hands, hands[0].betting.rules, scale) for hands in taken.values()]

    def gathered(self) -> Gathered:
        """The kind of game with the most hands; the others are another game."""
        kinds: dict[Any, list[Hands]] = {}
        for part in self.records:
            kinds.setdefault(kind_of_game(part), []).append(part)
        order = sorted(kinds.values(), key=lambda parts: -sum(map(len, parts)))
        for parts in order[1:]:
            self.refused["another game"] += sum(map(len, parts))
        return Gathered(join(order[0]) if order else None, dict(self.refused.most_common()), self.examples)


def _text(path: str | Path) -> str:
    path = Path(path)
    if path.suffix != ".gz":
        return read_text(path, "hands", MOST)
    try:
        with gzip.open(path, "rb") as file:
            body = file.read(MOST + 1)
        if len(body) > MOST:
            raise InputError(f"hands {str(path)!r}: more than {MOST:,} bytes when unpacked")
        return body.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no gzip of text, or torn"
        raise InputError(f"hands {str(path)!r}: {reason}") from None


@contextmanager
def open_hands(path: str | Path) -> Iterator[Callable[[Hands], None]]:
    """A file to write records into, batch by batch: what it gives may be the `observe` of a match."""
    kind = kind_of(path)
    if kind == ".phh":
        raise InputError(f"hands {str(path)!r}: a file of many hands is named FILE.phhs or FILE.log")
    if Path(path).suffix == ".gz":
        raise InputError(f"hands {str(path)!r}: write {Path(path).with_suffix('').name!r}, then pack it")
    with atomic_io.text_file(path) as file:
        count = 0

        def write(hands: Hands) -> None:
            nonlocal count
            if kind == ".log" and count == 0:
                file.write(f"# name/game/hands/seed record {hands.rules.name.replace(' ', '-')} {len(hands)} 0\n")
            for i in range(len(hands)):
                count += 1
                if kind == ".phhs":
                    file.write(f"[{count}]\n{phh.show_hand(hands, i)}\n\n")
                else:
                    file.write(_logged(hands, i) + "\n")

        yield write


def phhs_text(hands: Hands) -> str:
    """A record as the text of a `.phhs` file."""
    return "\n".join(f"[{i + 1}]\n{phh.show_hand(hands, i)}\n" for i in range(len(hands)))


def write_hands(path: str | Path, hands: Hands) -> None:
    """Write a record to a file, whole or not at all."""
    with open_hands(path) as write:
        write(hands)


def _logged(hands: Hands, i: int) -> str:
    """The STATE line of a hand; logs have all cards and one set of blinds and stacks."""
    rules = hands.rules_of(i)
    if rules != hands.rules:
        raise InputError(
            f"hand {hands.number[i]}: blinds and stacks of its own, and a log has those of its game: write .phhs"
        )
    holes = hands.hole(i, 0), hands.hole(i, 1)
    won = hands.won[i].tolist()
    if not all(holes) or UNKNOWN in won:
        raise InputError(f"hand {hands.number[i]}: a log has the cards of both seats: write .phhs")
    state = hands.betting(i)
    first, second = hands.players(i)
    cards = show_deal(holes, hands.board(i), state)
    return acpc_log.show_hand(int(hands.number[i]), state.line, cards, (won[0], won[1]), (first, second))
