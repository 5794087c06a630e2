"""Reading of files with hands of sites: each hand is read, or listed with file, line and reason.

result = read_files(["hands/"])
result.hands, result.refused
"""

from __future__ import annotations

import gzip
import re
import time as clock
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import disk_errors
from riverboat.formats import table_phh
from riverboat.formats.sites import ipoker
from riverboat.formats.sites.bracket_lines import PACIFIC, PARTY_POKER, WPN_OLD
from riverboat.formats.sites.ignition import IGNITION
from riverboat.formats.sites.lines import LineFormat, read_lines
from riverboat.formats.sites.poker_stars import POKER_STARS
from riverboat.formats.sites.text import SiteHandError, decode
from riverboat.formats.sites.verb_lines import FULL_TILT, ONGAME, WINAMAX, WPN
from riverboat.games.holdem.table_hands import TableHand

MAX_FILE_BYTES = 256 << 20
MAX_HEADER = 1_000  # characters of the first line of a hand
MAX_HAND_LINES = 600  # a hand has at most a few hundred
MAX_HAND_CHARACTERS = 60_000
MAX_FAILURES = 1_000  # refused parts at the beginning of a file, after which the rest is not read
SUFFIXES = (".txt", ".xml", ".phh", ".phhs", ".log", ".hh", ".csv")
FORMATS: tuple[LineFormat, ...] = (
    POKER_STARS, PARTY_POKER, PACIFIC, WINAMAX, WPN, WPN_OLD, FULL_TILT, ONGAME, IGNITION
)  # fmt: skip
_FOREIGN_STARTS = re.compile(r"(?:Mano n\.º|Main (?:Zoom )?PokerStars) ?")
_FIRST_LETTERS = {"P", "*", "W", "G", "H", "F", "I", "B", "M"}


@dataclass(frozen=True)
class RefusedHand:
    """A part of a file that is no hand which can be read.

    Attributes
    ----------
    file
        Name of the file.
    line
        Its line, from 1.
    reason
        One of a few reasons.
    detail
        What is wrong here.
    number
        Number of the hand, if it is known.
    """

    file: str
    line: int
    reason: str
    detail: str = ""
    number: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the refusal as a JSON object."""
        return {
            "file": self.file,
            "line": self.line,
            "reason": self.reason,
            "detail": self.detail,
            "number": self.number,
        }


@dataclass
class ReadHands:
    """Hands of files, and what was refused.

    Attributes
    ----------
    hands
        The hands, in the order of the files.
    refused
        Everything else, with the reason.
    files
        Number of files.
    duplicates
        Hands that occur again, and are counted once.
    seconds
        Time of reading.
    """

    hands: list[TableHand] = field(default_factory=list)
    refused: list[RefusedHand] = field(default_factory=list)
    files: int = 0
    duplicates: int = 0
    seconds: float = 0.0

    @property
    def reasons(self) -> dict[str, int]:
        """Number of refusals by reason, the most frequent first."""
        counts: dict[str, int] = {}
        for refusal in self.refused:
            counts[refusal.reason] = counts.get(refusal.reason, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _format_of(line: str) -> LineFormat | None:
    """Return the format of which a line is the first line of a hand."""
    if line[:1] not in _FIRST_LETTERS or len(line) > MAX_HEADER:
        return None
    if line[0] == "M":
        return POKER_STARS if _FOREIGN_STARTS.match(line) else None
    return next((family for family in FORMATS if family.start.match(line)), None)


def split_lines(text: str) -> Iterator[tuple[LineFormat | None, int, list[str]]]:
    """Split a text into hands: format, line from 0, and lines. Text without a known first line has no format."""
    family: LineFormat | None = None
    start, lines = 0, list[str]()
    for k, line in enumerate(text.split("\n")):
        found = _format_of(line.strip(" \t"))
        if found is not None:
            yield family, start, lines
            family, start, lines = found, k, []
        elif not lines and not line.strip():
            start = k + 1
            continue
        lines.append(line)
    yield family, start, lines


def read_text(text: str, where: str = "text") -> ReadHands:
    """Read all hands of a text.

    Parameters
    ----------
    text
        Histories of one or several sites, or PHH.
    where
        What the text is, for the list of refusals.

    Returns
    -------
    ReadHands
        The hands, and what was refused.

    Examples
    --------
    >>> read_text("no hand at all").refused[0].reason
    'no hand history of a known site'
    """
    result = ReadHands(files=1)
    seen: set[tuple[str, str]] = set()

    def add(read: Callable[[], TableHand], line: int, number: str = "") -> None:
        try:
            hand = read()
        except SiteHandError as error:
            refuse(error, line, number)
            return
        key = hand.site, hand.number
        if hand.number and key in seen:
            result.duplicates += 1
            return
        seen.add(key)
        result.hands.append(hand)

    def refuse(error: SiteHandError, line: int, number: str = "") -> None:
        result.refused.append(RefusedHand(where, line + error.line + 1, error.reason, error.detail, number))

    def hopeless(line: int) -> bool:
        if result.hands or len(result.refused) < MAX_FAILURES:
            return False
        refuse(
            SiteHandError("the rest of the file is not read", f"its first {MAX_FAILURES:,} parts are no hands"), line
        )
        return True

    if table_phh.looks_like_phh(text):
        for number, line, section in table_phh.split_sections(text):
            if hopeless(line):
                break
            add(lambda section=section: table_phh.parse_table_hand(section), line, number)  # type: ignore[misc]
        return result
    if re.search(r"<(?:session|game|\?xml|!)", text[:2000]):
        for session, line, game in _split_games(text, refuse):
            if hopeless(line):
                break
            add(lambda session=session, game=game: ipoker.read_game(session, game), line)  # type: ignore[misc]
        return result
    for family, line, lines in split_lines(text):
        if hopeless(line):
            break
        if family is None:
            content = [row for row in lines if row.strip() and not row.startswith(("#Game No", "Game #", "****"))]
            if content:
                detail = f"begins with {content[0].strip()[:40]!r}"
                refuse(SiteHandError("no hand history of a known site", detail), line)
            continue
        found = family.start.match(lines[0].strip()) if lines else None
        number = found["number"] if found is not None and "number" in found.groupdict() else ""
        if len(lines) > MAX_HAND_LINES or sum(map(len, lines)) > MAX_HAND_CHARACTERS:
            refuse(SiteHandError("too long for a hand", f"{len(lines):,} lines"), line, number)
            continue
        add(lambda family=family, lines=lines: read_lines(family, lines), line, number)  # type: ignore[misc]
    if not result.hands and not result.refused:
        refuse(SiteHandError("an empty file"), 0)
    return result


def _split_games(text: str, refuse: Callable[[SiteHandError, int], None]) -> Iterator[tuple[str, int, str]]:
    """Yield the head of the session, the line from 0, and the text of each game of an iPoker file."""
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        refuse(SiteHandError("an XML document with declarations", "sites write none: entities are never expanded"), 0)
        return
    starts = [found.start() for found in ipoker.GAME_START.finditer(text)]
    if not starts:
        refuse(SiteHandError("no hand history of a known site", "XML without a game"), 0)
        return
    session, position, line = text[: starts[0]], 0, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        head = text.rfind("<session", position, start)
        if head >= 0 and position:
            session = text[head:start]
        line += text.count("\n", position, start)
        game = text[start:end]
        if len(game) > MAX_HAND_CHARACTERS:
            refuse(SiteHandError("too long for a hand", f"{len(game):,} characters"), line)
        else:
            yield session[:MAX_HAND_CHARACTERS], line, game
        position = start


def read_bytes(data: bytes, where: str = "file") -> ReadHands:
    """Read all hands of the content of a file; gzip is recognized.

    Parameters
    ----------
    data
        Content of the file.
    where
        Name of the file.

    Examples
    --------
    >>> read_bytes(b"").refused[0].reason
    'an empty file'
    """
    try:
        if data[:2] == b"\x1f\x8b":
            decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            data = decoder.decompress(data, MAX_FILE_BYTES)
            if decoder.unconsumed_tail:
                raise InputError(f"{where}: more than {MAX_FILE_BYTES >> 20} MB when unpacked")
            if not decoder.eof:
                raise zlib.error("the file ends early")
        if len(data) > MAX_FILE_BYTES:
            raise InputError(f"{where}: more than {MAX_FILE_BYTES >> 20} MB")
        return read_text(decode(data, where), where)
    except (zlib.error, gzip.BadGzipFile) as error:
        reason = RefusedHand(where, 1, "a damaged gzip file", str(error))
    except InputError as error:
        reason = RefusedHand(where, 1, "a file that cannot be read", str(error))
    return ReadHands(refused=[reason], files=1)


def list_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files of a list of files and folders; folders are searched for histories in all subfolders.

    Parameters
    ----------
    paths
        Files and folders.

    Returns
    -------
    list of Path
        The files, those of a folder by name.

    Raises
    ------
    InputError
        A path does not exist.

    Examples
    --------
    >>> list_files(["missing.txt"])
    Traceback (most recent call last):
    riverboat.core.errors.InputError: hands 'missing.txt': no such file or folder
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.is_file() and _is_history_name(file))
        elif path.exists():
            found.append(path)
        else:
            raise InputError(f"hands {short_repr(str(path))}: no such file or folder")
    return found


def _is_history_name(file: Path) -> bool:
    suffix = file.with_suffix("").suffix if file.suffix == ".gz" else file.suffix
    return suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in file.parts)


def read_files(paths: Iterable[str | Path], progress: Callable[[int, int], None] | None = None) -> ReadHands:
    """Read all hands of files and folders.

    Parameters
    ----------
    paths
        Files and folders.
    progress
        Callback with the number of files read and their total.

    Returns
    -------
    ReadHands
        The hands, those that occur twice once, and what was refused.

    Raises
    ------
    InputError
        A path does not exist.

    Examples
    --------
    >>> read_files([]).hands
    []
    """
    begin, files = clock.perf_counter(), list_files(paths)

    def contents() -> Iterator[ReadHands]:
        for k, file in enumerate(files):
            yield _read_file(file)
            if progress is not None:
                progress(k + 1, len(files))

    total = combine(contents())
    total.seconds = clock.perf_counter() - begin
    return total


def _read_file(file: Path) -> ReadHands:
    with disk_errors(file):
        if file.stat().st_size <= MAX_FILE_BYTES:
            return read_bytes(file.read_bytes(), str(file))
    reason = RefusedHand(str(file), 1, "a file that cannot be read", f"more than {MAX_FILE_BYTES >> 20} MB")
    return ReadHands(refused=[reason], files=1)


def combine(results: Iterable[ReadHands]) -> ReadHands:
    """Combine what was read from several files; a hand that occurs again counts once.

    Parameters
    ----------
    results
        The hands of each file.

    Returns
    -------
    ReadHands
        All of them.

    Examples
    --------
    >>> combine([read_text(""), read_text("")]).files
    2
    """
    total = ReadHands()
    seen: set[tuple[str, str]] = set()
    for one in results:
        for hand in one.hands:
            key = hand.site, hand.number
            if hand.number and key in seen:
                total.duplicates += 1
                continue
            seen.add(key)
            total.hands.append(hand)
        total.refused += one.refused
        total.duplicates += one.duplicates
        total.files += one.files
    return total
