"""Files of hands: PHH and ACPC logs, read and written, with or without gzip.

    contents = read_hands("heads_up.phhs.gz")
    contents.hands, contents.rejected   # records, and why hands were rejected
    write_hands("match.log", contents.hands)

All hands of a record are of one kind of game; hands of other kinds are rejected.
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

from riverboat.core import files
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text
from riverboat.formats import acpc_log, phh
from riverboat.games.holdem.hand_records import (
    UNKNOWN_RESULT,
    HandRecords,
    RecordedHand,
    build_records,
    concatenate_records,
    game_signature,
)
from riverboat.games.holdem.match_state import format_deal
from riverboat.games.holdem.rules import PokerRules

MAX_TEXT_BYTES = 1 << 30
MAX_EXAMPLES = 3  # examples per reason of rejection
HAND_FILE_SUFFIXES = (".phh", ".phhs", ".log")
BROKEN_LINE, BROKEN_LOG = "a line of a log that cannot be read", "a log that cannot be read"


@dataclass(frozen=True)
class HandFileContents:
    r"""Hands of a file, and the rejected ones.

    Attributes
    ----------
    hands
        Records of the valid hands.
    rejected
        Number of rejected hands, by reason.
    examples
        By reason: location and problem of the first rejected hands.

    Examples
    --------
    >>> log = "# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"
    >>> contents = parse_hands(log, ".log")
    >>> len(contents.hands), contents.rejected
    (1, {})
    """

    hands: HandRecords
    rejected: dict[str, int]  # number of hands by reason
    examples: dict[str, tuple[str, ...]]  # by reason: location and problem of the first hands


def hand_file_suffix(path: str | Path) -> str:
    """Return the format of a file by its name.

    Parameters
    ----------
    path
        The file; `.gz` may follow the suffix.

    Returns
    -------
    str
        `.phh`, `.phhs` or `.log`.

    Raises
    ------
    InputError
        The suffix is another.

    Examples
    --------
    >>> hand_file_suffix("heads_up.phhs.gz")
    '.phhs'
    """
    path = Path(path)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix not in HAND_FILE_SUFFIXES:
        raise InputError(f"hands {str(path)!r}: the suffix must be .phh, .phhs or .log, and .gz may follow")
    return suffix


def read_hands(path: str | Path, rules: PokerRules | None = None, scale: int | None = None) -> HandFileContents:
    r"""Read all valid hands of a file, and the reasons why others are rejected.

    Parameters
    ----------
    path
        A `.phh`, `.phhs` or `.log` file, with or without `.gz`.
    rules
        Rules for logs whose first line does not name the game.
    scale
        Chips per unit of money in the file: 100 in PHH by default, where chips are cents, and 1 in logs.

    Returns
    -------
    HandFileContents
        Records, and rejected hands.

    Raises
    ------
    InputError
        The file cannot be read, or has no valid hand.

    Examples
    --------
    >>> import tempfile
    >>> log = "# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files.write_text(f"{folder}/match.log", log)
    ...     len(read_hands(f"{folder}/match.log").hands)
    1
    """
    return parse_hands(_read_file(path), hand_file_suffix(path), rules, scale, str(path))


def parse_hands(
    text: str, kind: str, rules: PokerRules | None = None, scale: int | None = None, where: str = "text"
) -> HandFileContents:
    """Parse all valid hands of the text of a file.

    Parameters
    ----------
    text
        The text.
    kind
        Its format: `.phh`, `.phhs` or `.log`.
    rules
        Rules for logs whose first line does not name the game.
    scale
        Chips per unit of money: 100 in PHH by default, and 1 in logs.
    where
        What the text is, for messages.

    Returns
    -------
    HandFileContents
        Records, and rejected hands.

    Raises
    ------
    InputError
        There is no valid hand, a log is malformed, or the scale is below 1.

    Examples
    --------
    >>> parse_hands("variant = 'NT'", ".phh")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: hands 'text': none can be read: a field is missing (1)
    """
    if scale is not None and scale < 1:
        raise InputError(f"scale={scale}: chips per unit of money must be at least 1")
    if kind == ".log":
        return HandFileContents(acpc_log.parse_log(text, rules, where).to_records(scale or 1), {}, {})
    collector = _HandCollector()
    collector.add_phh(text, scale or phh.CHIPS_PER_UNIT)
    gathered = collector.collect()
    if gathered.hands is None:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in gathered.rejected.items()) or "it is empty"
        raise InputError(f"hands {short_repr(where)}: none can be read: {reasons}")
    return HandFileContents(gathered.hands, gathered.rejected, gathered.examples)


def parse_hands_in_file_units(
    text: str, kind: str, rules: PokerRules | None = None, where: str = "text"
) -> HandFileContents:
    r"""Parse hands with amounts as in the file if all are whole numbers, else in hundredths (cents).

    Parameters
    ----------
    text
        The text.
    kind
        Its format: `.phh`, `.phhs` or `.log`.
    rules
        Rules for logs whose first line does not name the game.
    where
        What the text is, for messages.

    Returns
    -------
    HandFileContents
        Records, and rejected hands.

    Raises
    ------
    InputError
        There is no valid hand, or a log is malformed.

    Examples
    --------
    >>> log = "# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"
    >>> parse_hands_in_file_units(log, ".log").hands.won.tolist()
    [[-100, 100]]
    """
    with suppress(InputError):  # raised again below if it is not due to cents
        contents = parse_hands(text, kind, rules, 1, where)
        if phh.FRACTIONAL_CHIPS not in contents.rejected:
            return contents
    return parse_hands(text, kind, rules, None, where)


def read_hands_in_file_units(path: str | Path, rules: PokerRules | None = None) -> HandFileContents:
    """Read a file by `parse_hands_in_file_units`.

    Parameters
    ----------
    path
        A `.phh`, `.phhs` or `.log` file, with or without `.gz`.
    rules
        Rules for logs whose first line does not name the game.

    Returns
    -------
    HandFileContents
        Records, and rejected hands.

    Raises
    ------
    InputError
        The file cannot be read, or has no valid hand.

    Examples
    --------
    >>> read_hands_in_file_units("missing.log")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: hands 'missing.log': No such file or directory
    """
    return parse_hands_in_file_units(_read_file(path), hand_file_suffix(path), rules, str(path))


@dataclass(frozen=True)
class GatheredHands:
    """Hands of several files, and the rejected ones.

    Attributes
    ----------
    hands
        Records of the valid hands; None if there is none.
    rejected
        Number of rejected hands, lines and files, by reason.
    examples
        By reason: location and problem of the first ones.

    Examples
    --------
    >>> gather_hands([])
    GatheredHands(hands=None, rejected={}, examples={})
    """

    hands: HandRecords | None  # None if no hand is valid
    rejected: dict[str, int]
    examples: dict[str, tuple[str, ...]]


def gather_hands(paths: Iterable[str | Path], rules: PokerRules | None = None) -> GatheredHands:
    """Read the hands of many files into one record.

    Invalid hands, lines and files, and hands of another game, are counted and skipped.

    Parameters
    ----------
    paths
        `.phh`, `.phhs` or `.log` files, with or without `.gz`.
    rules
        Rules for logs whose first line does not name the game.

    Returns
    -------
    GatheredHands
        Records of the kind of game with the most hands, and rejected hands.

    Raises
    ------
    InputError
        A file is missing, or has an unknown suffix.

    Examples
    --------
    >>> gather_hands([]).hands is None
    True
    """
    collector = _HandCollector()
    for path in paths:
        text = _read_file(path)
        if hand_file_suffix(path) != ".log":
            collector.add_phh(text, phh.CHIPS_PER_UNIT, f"{Path(path).name} ")
            continue
        try:
            log = acpc_log.parse_log(text, rules, Path(path).name, lambda e: collector.reject(BROKEN_LINE, str(e)))
        except InputError as error:
            collector.reject(BROKEN_LOG, str(error))
            continue
        if log.hands:
            collector.records.append(log.to_records(1))
    return collector.collect()


class _HandCollector:
    """Collector of hands from several texts: records by kind of game, and rejected hands by reason."""

    def __init__(self) -> None:
        self.records: list[HandRecords] = []
        self.rejected: Counter[str] = Counter()
        self.examples: dict[str, tuple[str, ...]] = {}

    def reject(self, reason: str, what: str) -> None:
        self.rejected[reason] += 1
        if self.rejected[reason] <= MAX_EXAMPLES:
            self.examples[reason] = (*self.examples.get(reason, ()), what)

    def add_phh(self, text: str, scale: int, where: str = "") -> None:
        hands_by_game: dict[tuple[object, ...], list[RecordedHand]] = {}
        for number, section in phh.split_hands(text):
            try:
                hand = phh.parse_hand(section, scale)
                rules = hand.betting.rules
                hands_by_game.setdefault((rules.limit, rules.least_bet, rules.first), []).append(hand)
            except phh.UnreadableHandError as error:
                self.reject(error.reason, f"{where}[{number}] {error}")
        self.records += [build_records(hands, hands[0].betting.rules, scale) for hands in hands_by_game.values()]

    def collect(self) -> GatheredHands:
        """Return the hands of the kind of game with the most hands; hands of other kinds are rejected."""
        kinds: dict[Any, list[HandRecords]] = {}
        for part in self.records:
            kinds.setdefault(game_signature(part), []).append(part)
        order = sorted(kinds.values(), key=lambda parts: -sum(map(len, parts)))
        for parts in order[1:]:
            self.rejected["another game"] += sum(map(len, parts))
        hands = concatenate_records(order[0]) if order else None
        return GatheredHands(hands, dict(self.rejected.most_common()), self.examples)


def _read_file(path: str | Path) -> str:
    path = Path(path)
    if path.suffix != ".gz":
        return read_text(path, "hands", MAX_TEXT_BYTES)
    try:
        with gzip.open(path, "rb") as file:
            body = file.read(MAX_TEXT_BYTES + 1)
        if len(body) > MAX_TEXT_BYTES:
            raise InputError(f"hands {str(path)!r}: more than {MAX_TEXT_BYTES:,} bytes when unpacked")
        return body.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a gzip file of text, or truncated"
        raise InputError(f"hands {str(path)!r}: {reason}") from None


@contextmanager
def open_hand_writer(path: str | Path) -> Iterator[Callable[[HandRecords], None]]:
    r"""Open a file to write records to, batch by batch.

    Parameters
    ----------
    path
        A `.phhs` or `.log` file, which appears when the block ends.

    Yields
    ------
    Callable
        Writes a batch of records; it may be the `observe` of a match.

    Raises
    ------
    InputError
        The suffix is another, or a hand cannot be written in this format.

    Examples
    --------
    >>> import tempfile
    >>> log = "# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"
    >>> hands = parse_hands(log, ".log").hands
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_hand_writer(f"{folder}/match.phhs") as write:
    ...         write(hands)
    ...     len(read_hands(f"{folder}/match.phhs").hands)
    1
    """
    kind = hand_file_suffix(path)
    if kind == ".phh":
        raise InputError(f"hands {str(path)!r}: a file of many hands must be named FILE.phhs or FILE.log")
    if Path(path).suffix == ".gz":
        raise InputError(f"hands {str(path)!r}: write {Path(path).with_suffix('').name!r}, then compress it")
    with files.atomic_text_file(path) as file:
        count = 0

        def write(hands: HandRecords) -> None:
            nonlocal count
            if kind == ".log" and count == 0:
                file.write(f"# name/game/hands/seed record {hands.rules.name.replace(' ', '-')} {len(hands)} 0\n")
            for i in range(len(hands)):
                count += 1
                if kind == ".phhs":
                    file.write(f"[{count}]\n{phh.format_hand(hands, i)}\n\n")
                else:
                    file.write(_format_log_line(hands, i) + "\n")

        yield write


def format_phhs(hands: HandRecords) -> str:
    r"""Format a record as the text of a `.phhs` file.

    Parameters
    ----------
    hands
        The record.

    Returns
    -------
    str
        A table for each hand, under `[1]`, `[2]`, ….

    Raises
    ------
    InputError
        The rules are not those of heads-up hold'em.

    Examples
    --------
    >>> log = "# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"
    >>> print(format_phhs(parse_hands(log, ".log").hands).splitlines()[1])
    variant = 'NT'
    """
    return "\n".join(f"[{i + 1}]\n{phh.format_hand(hands, i)}\n" for i in range(len(hands)))


def write_hands(path: str | Path, hands: HandRecords) -> None:
    r"""Write a record to a file atomically.

    Parameters
    ----------
    path
        A `.phhs` or `.log` file.
    hands
        The record.

    Raises
    ------
    InputError
        The suffix is another, or a hand cannot be written in this format.

    Examples
    --------
    >>> import tempfile
    >>> log = "# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_hands(f"{folder}/match.log", parse_hands(log, ".log").hands)
    ...     print(Path(f"{folder}/match.log").read_text().splitlines()[-1])
    STATE:0:r300f:9s8h|KdKc:-100|100:alice|bob
    """
    with open_hand_writer(path) as write:
        write(hands)


def _format_log_line(hands: HandRecords, i: int) -> str:
    """Format the STATE line of a hand; logs have all cards and one set of blinds and stacks."""
    rules = hands.rules_of(i)
    if rules != hands.rules:
        raise InputError(
            f"hand {hands.number[i]}: its blinds and stacks differ from those of the game, as a log's cannot: write .phhs"
        )
    holes = hands.hole(i, 0), hands.hole(i, 1)
    won = hands.won[i].tolist()
    if not all(holes) or UNKNOWN_RESULT in won:
        raise InputError(f"hand {hands.number[i]}: a log needs the cards of both seats: write .phhs")
    state = hands.betting(i)
    first, second = hands.players(i)
    cards = format_deal(holes, hands.board(i), state)
    return acpc_log.format_state_line(int(hands.number[i]), state.line, cards, (won[0], won[1]), (first, second))
