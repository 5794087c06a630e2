"""Progress lines: exploitability at any width, and regular output without a terminal."""

import re
import sys
import threading
import time

import pytest

from riverboat.cli import progress
from riverboat.cli.progress import BAR_COLUMNS, ProgressBar, ProgressLine, SolveProgressLine, fit_columns
from riverboat.cli.terminal import say
from riverboat.solvers.result import SolveProgress

WIDTHS = (32, 40, 60, 80, 120)


def at(iteration, seconds, exploitability, checked=True):
    return SolveProgress(iteration, seconds, 0, exploitability, None, None, None, checked=checked)


@pytest.fixture
def live():
    made = SolveProgressLine("a game with a long name dcfr", "% of pot", iterations=2000, seconds=None, until=0.001)
    yield made
    made.done()


@pytest.mark.parametrize("width", WIDTHS)
def test_exploitability_is_shown_at_any_width(live, width):
    live(at(100, 10.0, 1.234567))
    live(at(1000, 100.0, 0.01234567))
    line = live.render(width)
    assert len(line) <= width
    assert "exploitability 0.0123 % of pot" in line
    assert line.startswith("a game with a long name") == (width == 120)  # details replace the title
    if width >= 40:
        assert sum(line.count(mark) for mark in (progress.FULL, progress.EMPTY)) >= BAR_COLUMNS[0]
    if width >= 80:
        assert "left" in line
        assert "iteration 1,000" in line


def test_remaining_time(live):
    live(at(100, 10.0, 1.0))
    live(at(1000, 100.0, 0.1))
    assert live._seconds_left(at(1000, 100.0, 0.1), 10.0) == pytest.approx(100.0)  # to 2,000 iterations at 10 a second
    near = SolveProgressLine("x", "chips", iterations=None, seconds=None, until=0.01)
    near(at(100, 10.0, 1.0))
    assert near.share is None  # one check is not enough for an estimate
    near(at(1000, 100.0, 0.1))  # it falls as 1 / T, so ten times as many iterations are needed
    assert near._seconds_left(at(1000, 100.0, 0.1), 10.0) == pytest.approx(900.0)
    assert near.share == pytest.approx(0.1)
    near(at(2000, 200.0, 2.0))  # exploitability rises: no estimate
    assert near._seconds_left(at(2000, 200.0, 2.0), 10.0) is None
    near.done()


def test_unreachable_targets():
    live = SolveProgressLine("x", "chips", iterations=None, seconds=None, until=1e-300)
    for k in range(1, 20):
        live(at(k, float(k), 1.0 - k * 1e-9))
    assert live._seconds_left(at(20, 20.0, 0.5), 1.0) is None
    live.done()


def test_bars_show_title_share_and_time():
    """A file and a terminal of 80 columns show the same text; the terminal also has a bar."""
    with ProgressBar("Card abstraction, step 1 of 7: turn features") as bar:
        bar.started -= 9.0
        bar(0.25)
        plain, drawn = bar.plain_text(), bar.render(80)
    assert plain == "Card abstraction, step 1 of 7: turn features  25 %  27 s left"
    assert re.sub(f" *[{progress.FULL}{progress.EMPTY}=.]{{{BAR_COLUMNS[0]},}}", "", drawn) == plain
    assert drawn != plain


def test_last_details_are_dropped_first():
    facts = ["first 1.25", "second", "third 3", "fourth"]
    kept = [len([f for f in facts if f in fit_columns(facts, 0.5, width)]) for width in range(10, 80)]
    assert kept == sorted(kept)
    assert {0, 1, 2, 3, 4} - set(kept) <= {0}
    assert fit_columns(facts, None, 80) == "first 1.25  second  third 3  fourth"


def test_no_silence_without_a_terminal(capsys, monkeypatch):
    """Lines appear regularly, also if the work reports nothing."""
    monkeypatch.setattr(progress, "FIRST_LINE_SECONDS", 0.05)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    with ProgressLine("building the tree of x") as line:
        time.sleep(0.3)
        line.update(0.25, "exploitability 0.5 chips", "", "iteration 7")
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 3
    assert re.fullmatch(r"building the tree of x  \d s", lines[0])
    assert lines[-1] == "building the tree of x  25 %  exploitability 0.5 chips  iteration 7"
    assert progress.FIRST_LINE_SECONDS < 2
    time.sleep(0.1)
    assert capsys.readouterr().err == ""  # nothing after the end


class Screen:
    """A terminal that records what is written to it."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def fileno(self):
        raise OSError

    def rows(self):
        """The visible rows."""
        found = []
        for line in self.text.split("\n"):
            row = ""
            for piece in line.split("\r"):
                row = piece + row[len(piece) :]
            found.append(row.rstrip())
        return found


def test_messages_replace_the_line_temporarily(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "DRAW_DELAY", 0.01)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.01)
    with ProgressBar("equity") as bar:
        bar(0.5)
        time.sleep(0.15)
        assert "equity" in screen.rows()[-1]
        say("a word")
        assert screen.rows()[-2] == "a word"
        time.sleep(0.15)
        assert "equity" in screen.rows()[-1]
        with ProgressLine("inside"):
            time.sleep(0.15)
            assert screen.rows()[-1].startswith("inside")
        time.sleep(0.15)
        assert "equity" in screen.rows()[-1]
    assert screen.rows() == ["a word", ""]
    ProgressLine("left open")
    time.sleep(0.15)
    ProgressLine.close_all()
    assert screen.rows() == ["a word", ""]


def test_terminals_without_unicode(monkeypatch):
    screen = Screen()
    screen.encoding = "ascii"
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar("x") as bar:
        bar(0.5)
        assert bar.render(60).isascii()


def test_an_interrupt_before_the_line_is_shown_leaves_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between creating and starting the thread once ended commands with exit code 70."""

    def interrupted(thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ProgressLine("work")
    ProgressLine.close_all()
    assert ProgressLine._open is None
