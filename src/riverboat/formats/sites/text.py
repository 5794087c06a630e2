"""Text, amounts, cards and dates in hand histories of sites.

text = decode(data)                   # UTF-8, UTF-16 or Windows-1252, any line ends
amount("€1.234,50")                   # 123450: chips are hundredths of the unit
"""

from __future__ import annotations

import re
from functools import lru_cache

from riverboat.core.errors import InputError
from riverboat.formats.phh import UnreadableHandError

SCALE = 100  # chips per unit of money
MAX_DIGITS = 13  # of an amount
CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY", "₹": "INR", "₽": "RUB", "kr": "SEK"}
NUMBER = r"[0-9](?:[0-9., \u00a0\u202f]*[0-9])?"  # digits with separators
_SYMBOL = (
    r"(?:[A-Z]{0,2}(?:[^\w\s()\[\]]|[âÂ]){1,4} ?|kr ?)?"  # also misread ones, such as those of UTF-8 in Windows-1252
)
MONEY = rf"{_SYMBOL}{NUMBER}(?: ?(?:[$€£¥₹₽]|kr|USD|EUR|GBP|CAD|[A-Z]{{3}}))?"
CARDS = r"[0-9TJQKAtjqka]{1,2}[cdhsCDHS](?:,? ?[0-9TJQKAtjqka]{1,2}[cdhsCDHS]){0,6}"
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_AMOUNT = re.compile(r"[0-9]+(?:[.,' ][0-9]+)*")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "Â": " "})
_CARD = re.compile(r"(10|[2-9TJQKAtjqka])([cdhsCDHS])")
_RANKS = {rank: k for k, rank in enumerate("23456789TJQKA")}
_SUITS = {suit: k for k, suit in enumerate("cdhs")}


class SiteHandError(UnreadableHandError):
    """A hand of a site is incomplete, inconsistent or of another game.

    Parameters
    ----------
    reason
        One of a few reasons, for counting.
    detail
        What is wrong in this hand.
    line
        Line of the hand, from 0, to which the detail refers.
    """

    def __init__(self, reason: str, detail: str = "", line: int = 0) -> None:
        super().__init__(reason, detail)
        self.detail, self.line = detail, line


def decode(data: bytes, where: str = "file") -> str:
    r"""Decode a file: UTF-8 or UTF-16 with a byte-order mark, plain UTF-8, or Windows-1252.

    Parameters
    ----------
    data
        Content of the file.
    where
        Name of the file, for messages.

    Returns
    -------
    str
        The text, with "\n" at the end of lines and without byte-order marks.

    Raises
    ------
    InputError
        The file is binary.

    Examples
    --------
    >>> decode("Table\r\nSeat".encode("utf-16"))
    'Table\nSeat'
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
    elif data[:4096].count(0) > len(data[:4096]) // 4:  # UTF-16 without a mark: every second byte is 0
        text = data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be", "replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    if "\0" in text[:4096]:
        raise InputError(f"{where}: a binary file, not a text; choose the files that the site's program writes")
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=1 << 14)
def amount(text: str | None) -> int:
    """Read an amount of money or chips, in hundredths of the unit.

    The last separator is the decimal one if one or two digits follow; separators before three digits are thousands.

    Parameters
    ----------
    text
        The amount, with or without a currency.

    Returns
    -------
    int
        Hundredths of the unit.

    Raises
    ------
    SiteHandError
        The text is no amount, or has fractions of a hundredth.

    Examples
    --------
    >>> [amount(text) for text in ("$1,234.50", "1 234,5 €", "2 000", "0.05", "1.000")]
    [123450, 123450, 200000, 5, 100000]
    """
    if text is None:
        raise SiteHandError("an amount that cannot be read", "there is none")
    plain = text.translate(_SPACES)
    found = _AMOUNT.search(plain)
    if found is None or _AMOUNT.search(plain, found.end()) is not None:
        raise SiteHandError("an amount that cannot be read", repr(text[:30]))
    parts = re.split(r"[.,' ]", found[0])
    last = parts[-1]
    if len(parts) == 1:
        whole, cents = last, "00"
    elif len(last) <= 2 and found[0][-len(last) - 1] in ".,":
        whole, cents = "".join(parts[:-1]), last.ljust(2, "0")
        parts = parts[:-1]
    elif all(len(part) == 3 for part in parts[1:]) and parts[0].lstrip("0"):
        whole, cents = "".join(parts), "00"
    else:
        raise SiteHandError("an amount that cannot be read", f"{text[:30]!r}: more than two decimals")
    if len(parts) > 1 and any(len(part) != 3 for part in parts[1:]):
        raise SiteHandError("an amount that cannot be read", repr(text[:30]))
    if len(whole) > MAX_DIGITS:
        raise SiteHandError("an amount that cannot be read", f"{text[:30]!r}: too large")
    return int(whole) * SCALE + int(cents)


def currency_of(text: str) -> str:
    """Return the ISO code of the currency in a text; "" if there is none.

    Parameters
    ----------
    text
        Part of a header, such as `($0.05/$0.10 USD)`.

    Examples
    --------
    >>> currency_of("(€0.05/€0.10)"), currency_of("(100/200)")
    ('EUR', '')
    """
    code = re.search(r"\b(USD|EUR|GBP|CAD|AUD|SEK|INR|CNY|BRL|RUB|PLN|DKK|NOK|CHF|MXN)\b", text)
    if code is not None:
        return code[1]
    return next((CURRENCIES[c] for c in text if c in CURRENCIES), "")


@lru_cache(maxsize=1 << 12)
def read_cards(text: str) -> tuple[int, ...]:
    """Read cards such as `As Td`, `[ 10h, 9c ]`; an empty text has none.

    Parameters
    ----------
    text
        Cards with any separators.

    Returns
    -------
    tuple of int
        Numbers of the cards.

    Raises
    ------
    SiteHandError
        A part of the text is no card.

    Examples
    --------
    >>> read_cards("[ 10h, 2c ]")
    (34, 0)
    """
    rest = _CARD.sub("", text)
    if rest.strip("[], \t"):
        raise SiteHandError("cards that cannot be read", repr(text[:30]))
    return tuple(
        4 * _RANKS["T" if rank == "10" else rank.upper()] + _SUITS[suit.lower()] for rank, suit in _CARD.findall(text)
    )


_DATES = (
    (re.compile(r"\b(\d{4})[/-](\d{1,2})[/-](\d{1,2})[ T]+(\d{1,2}):(\d{1,2}):(\d{1,2})"), (1, 2, 3, 4, 5, 6)),
    (re.compile(r"\b(\d{1,2})[/ -](\d{1,2})[/ -](\d{4}) +(\d{1,2}):(\d{1,2}):(\d{1,2})"), (3, 2, 1, 4, 5, 6)),
    (re.compile(r"\b(\d{1,2}):(\d{2}):(\d{2}) [A-Z]* ?- (\d{4})[/-](\d{1,2})[/-](\d{1,2})"), (4, 5, 6, 1, 2, 3)),
)
_NAMED_DATE = re.compile(r"\b([A-Z][a-z]{2})[a-z]* (\d{1,2}),? (\d{1,2}):(\d{2}):(\d{2}) \w+ (\d{4})")


def read_date(text: str) -> str:
    """Return the first date of a header as `2025-01-31 20:15:00`, in the site's own time zone; "" without one.

    Parameters
    ----------
    text
        A header.

    Examples
    --------
    >>> read_date("- 2014/01/06 7:47:13 ET"), read_date("Monday, January 06, 13:09:04 EST 2014")
    ('2014-01-06 07:47:13', '2014-01-06 13:09:04')
    """
    for pattern, order in _DATES:
        found = pattern.search(text)
        if found is not None:
            year, *rest = (int(found[k]) for k in order)
            return f"{year}-{rest[0]:02}-{rest[1]:02} {rest[2]:02}:{rest[3]:02}:{rest[4]:02}"
    found = _NAMED_DATE.search(text)
    if found is not None and found[1].lower() in MONTHS:
        month = MONTHS.index(found[1].lower()) + 1
        return f"{found[6]}-{month:02}-{int(found[2]):02} {int(found[3]):02}:{found[4]}:{found[5]}"
    return ""
