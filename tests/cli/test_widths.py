"""Commands in terminals of all widths: no line is wider, and no number is cut; files get the full output."""

import re
import sys

import pytest
from rich.cells import cell_len

import riverboat as rb
from riverboat.formats import spot_file

WIDTHS = (40, 60, 80, 120)
SPOT = """
board = "Td9d6hQc"
pot = 100
stack = 200
[ranges]
oop = "AA,KsKd,JTs:0.5,8h7h"
ip = "QQ,T9s,5d4d:0.7"
[bets]
turn = { bet = "50%", raise = "a" }
"""
COMMANDS = [
    ["solve", "leduc", "--iterations", "30", "--schedule", "dcfr:alpha=1.5,beta=0,gamma=2", "--schedule", "cfr+"],
    ["solve", "SPOT", "--iterations", "30"],
    ["solve", "SPOT", "--estimate"],
    ["solve", "SPOT", "--boards", "BOARDS", "--iterations", "20", "--line", "b50"],
    ["show", "RUN"],
    ["show", "RUN", "b50", "--table", "combos"],
    ["show", "RUN", "b50", "--hand", "QQ"],
    ["show", "RUN", "x-x/*", "--limit", "5"],
    ["show", "SMALL"],
    ["games"],
    ["trace", "kuhn", "--deal", "QJ"],
    ["equity", "AhKh", "QQ", "--board", "2h7h9c"],
    ["range", "22+,A2s+", "--board", "Td9d6h"],
    ["reproduce", "--list"],
    ["abstract", "--list"],
    ["abstract", "tiny", "--estimate"],
    ["train", "--list"],
    ["train", "demo", "--estimate"],
    ["act", "rule-based", "MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c"],
]
ANSI = re.compile(r"\x1b\[[0-9;]*m")
NUMBER = re.compile(r"[-+]?\d+(?:[,.]\d+)*(?:e[-+]?\d+)?")


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Files and folders for the commands."""
    folder = tmp_path_factory.mktemp("widths")
    (folder / "spot.toml").write_text(SPOT)
    (folder / "boards.txt").write_text("Td9d6hQc 3\nAsKd7h7c\n")
    rb.solve(spot_file.loads(SPOT, name="turn"), iterations=30, out=folder / "run")
    rb.solve("kuhn", iterations=30, out=folder / "small")
    names = {"SPOT": "spot.toml", "BOARDS": "boards.txt", "RUN": "run", "SMALL": "small"}
    return {word: str(folder / name) for word, name in names.items()}


@pytest.fixture
def printed(run, places, monkeypatch, capsys):
    """A function that returns the output of a command in a terminal of some width, or elsewhere."""

    def call(command, width):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: width is not None)
        monkeypatch.setenv("COLUMNS", str(width or 80))
        monkeypatch.setenv("TERM", "xterm-256color")
        code, out, err = run(*(places.get(word, word) for word in command))
        assert code == 0, err
        return ANSI.sub("", out)

    return call


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:3]))
def test_commands_fit_their_terminal(printed, command):
    whole = printed(command, None)
    assert "no room for" not in whole
    figures = set(NUMBER.findall(whole))
    # Seconds differ from run to run, and a colored grid has other text than one with numbers.
    same = command[0] not in ("solve", "range") and command != ["show", "RUN"]
    for width in WIDTHS:
        text = printed(command, width)
        wide = [line for line in text.splitlines() if cell_len(line.rstrip()) > width]
        assert not wide, f"{width} columns: {wide[0]!r}"
        if same:
            assert set(NUMBER.findall(text)) <= figures
        assert text.count("…") <= whole.count("…")


def test_the_result_has_its_exponents(printed):
    """Regression: the table of results at 80 columns once cut `± 9.6e-05` in the middle."""
    for width in WIDTHS:
        text = printed(COMMANDS[0], width)
        assert len(re.findall(r"\d\.\d{9} ± \d\.\de[-+]\d\d(?!\d)", text)) == 2
        assert len(re.findall(r"\d\.\d{3}e[-+]\d\d(?!\d)", text)) >= (2 if width >= 60 else 0)
        assert ("NashConv" in text) or "no room for" in text
