"""Report tables: cells are never truncated at any width, and rows are found by name, number or slice."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from riverboat.core.errors import InputError
from riverboat.core.formatting import format_bytes, format_seconds, shell_quote
from riverboat.core.tables import CHIPS, COUNT, FIGURE, MIN_PROSE_WIDTH, PROSE, SHARE, TEXT, ReportColumn, ReportTable

WIDTHS = (40, 60, 80, 120)
TABLE = ReportTable(
    "three hands",
    (
        ReportColumn("hand"), ReportColumn("x", SHARE), ReportColumn("b50", SHARE), ReportColumn("ev", CHIPS, "EV"),
        ReportColumn("value", FIGURE, "value (certified)", 1), ReportColumn("combos", COUNT, rank=2),
        ReportColumn("about", PROSE, rank=3),
    ),
    (
        ("AsAh", 0.25, 0.75, 120.5, "-0.085606424 ± 9.6e-05", 1.0, "an overpair that is happy to see a bet"),
        ("KsJs", 1.0, 0.0, -3.25, "0.000000001 ± 1.0e-12", 0.5, "a gutshot"),
        ("7c2d", None, None, None, "", 0.125, ""),
    ),
)  # fmt: skip


def words(text):
    return re.findall(r"\S+", text)


def shown(table, width):
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(table)
    return file.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_fits_and_names_dropped_columns(width):
    text = shown(TABLE, width)
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    whole = set(words(str(TABLE))) | {"no", "room", "for:"} | {word + "," for word in words(str(TABLE))}
    assert set(words(text)) <= whole  # every word, and so every number, is one of the full table
    missing = [title for title in TABLE._titles() if not re.search(rf"\b{re.escape(title)}", text)]
    assert not missing  # a column is printed, or its name is in the last line


def test_columns_are_dropped_by_rank():
    gone = []
    for width in range(120, 0, -1):
        _, _, line = TABLE.text(width).replace("\n", " ").partition("no room for: ")
        for title in reversed([t.strip() for t in line.split(", ") if t.strip()]):
            if title not in gone:
                gone.append(title)
    assert gone == ["about", "combos", "value (certified)", "EV", "b50 %", "x %"]
    assert "AsAh" in TABLE.text(1)  # the name of a row stays


@given(
    st.lists(st.tuples(st.sampled_from([TEXT, PROSE, FIGURE]), st.integers(0, 3)), min_size=1, max_size=7),
    st.lists(
        st.lists(st.from_regex(r"[0-9]{1,9}( [0-9]{1,9}){0,5}", fullmatch=True), min_size=7, max_size=7), max_size=4
    ),
    st.integers(1, 130),
)
def test_numbers_are_never_truncated(columns, rows, width):
    """Every printed number is a number of the table, for all kinds, ranks and widths."""
    heads = tuple(ReportColumn(f"c{k}", kind, rank=rank) for k, (kind, rank) in enumerate(columns))
    table = ReportTable("", heads, tuple(tuple(row[: len(heads)]) for row in rows))
    lines = table.text(width).splitlines()
    printed = [line for line in lines if not line.startswith("no room for")]
    given_words = {word for row in table.rows for cell in row for word in cell.split()}
    assert set(re.findall(r"(?<!c)\b\d+", "\n".join(printed))) <= given_words
    titles = words(printed[0])
    if len(titles) > 1:
        assert all(len(line) <= max(width, MIN_PROSE_WIDTH) for line in lines)


def test_without_a_width_the_table_is_complete():
    lines = TABLE.text().splitlines()
    assert len(lines) == 4
    assert "no room" not in TABLE.text()
    assert "an overpair that is happy to see a bet" in lines[1]
    assert str(TABLE) == f"three hands\n{TABLE.text()}"


def test_rows_by_name_number_and_slice():
    assert TABLE[0] == TABLE["AsAh"] == next(iter(TABLE))
    assert TABLE[-1]["hand"] == "7c2d"
    assert [row["hand"] for row in TABLE[1:]] == ["KsJs", "7c2d"]
    assert TABLE[::2].columns == TABLE.columns
    assert len(TABLE[:0]) == 0
    assert [row["hand"] for row in TABLE] == TABLE.column("hand")
    assert dict(TABLE[1]) == list(TABLE)[1]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (3, "row 3: "),
        (-4, "row -4: "),
        ("AsAd", "unknown hand 'AsAd'"),
        (1.5, "row 1.5: "),
        (None, "row None: "),
        (("AsAh", "ev"), "row ('AsAh', 'ev'): "),
    ],
)
def test_missing_rows(key, message):
    with pytest.raises(InputError, match=re.escape(message)):
        TABLE[key]


# --- sizes, durations and paths ---


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (999, "999 B"), (1000, "1 kB"), (10_000, "10 kB"), (9_996, "10 kB"), (999_499, "999 kB"),
        (999_999, "1 MB"), (1_234_567, "1.23 MB"), (2e9, "2 GB"), (1.5e12, "1.5 TB"), (1.5e16, "15,000 TB"),
    ],
)  # fmt: skip
def test_bytes(count, text):
    assert format_bytes(count) == text


@given(st.integers(1, 10**16), st.integers(1, 10**16))
def test_sizes_that_differ_by_a_hundredth_are_formatted_differently(small, large):
    """So no message says that 0.0 MB are needed and 0.0 MB are allowed."""
    if large > 1.011 * small:
        assert format_bytes(small) != format_bytes(large)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (4.2e-5, "42 µs"), (0.0123, "12.3 ms"), (0.9999, "1 s"),
     (9.99, "10 s"), (45.2, "45 s"), (59.7, "1 min"), (200, "3 min 20 s"), (7500, "2 h 5 min"),
     (3599.7, "1 h"), (40 * 86400, "40 days")],
)  # fmt: skip
def test_seconds(seconds, text):
    assert format_seconds(seconds) == text


def test_paths_are_quoted_for_shells():
    assert shell_quote("runs/x") == "runs/x"
    assert shell_quote("my runs/x") == "'my runs/x'"
