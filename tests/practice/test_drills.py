"""Drills: grades against a recomputation, numbers to randomise by, filters, the record; charts."""

import io
import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import riverboat as rb
from reference.spot_ev import SlowSpot
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import parse_cards
from riverboat.cli.practice import drill as drilling
from riverboat.core.errors import InputError
from riverboat.practice.charts import charts_of, difference, save_sheet
from riverboat.practice.drill_record import DrillRecord, Entry
from riverboat.practice.drills import Drill, DrillOptions
from riverboat.practice.push_charts import push_table
from riverboat.practice.questions import source_of
from riverboat.practice.verdicts import Option, Verdict

ROUNDING = 1e-6 * 500  # chips: all that can be in the middle, and walks sum float32 tables


def test_grades_are_those_of_a_recomputation(river):
    """Ten questions with every kind of answer, each by a recursion over the other's hands."""
    drill, slow, rng = Drill(source_of(river), seed=3), SlowSpot(rb.load(river)), np.random.default_rng(3)
    total = 0.0
    for _ in range(10):
        question = drill.ask()
        move = str(rng.choice(question.moves))
        seat = ("oop", "ip").index(question.seat)
        evs = list(slow.move_evs(question.line, hand_index(*parse_cards(question.hole, "hand")), seat).values())
        lost = max(evs) - evs[question.moves.index(move)]
        grade = drill.answer(move)
        assert grade.lost == pytest.approx(lost, abs=ROUNDING)
        assert grade.percent == pytest.approx(100 * lost / question.pot, abs=ROUNDING)
        total += lost
    assert total > 10
    assert drill.lost == pytest.approx(total, abs=ROUNDING)


def test_numbers_stand_for_shares_of_the_hundred():
    mix = Verdict((Option("f", 0.25, 0.0), Option("c", 0.5, 0.0), Option("r9", 0.25, 0.0)), "", 10.0)
    assert Counter(map(mix.stands_for, range(100))) == {"f": 25, "c": 50, "r9": 25}
    assert [mix.stands_for(n) for n in (0, 24, 25, 74, 75, 99)] == ["f", "f", "c", "c", "r9", "r9"]
    assert Counter(map(Verdict((Option("f", 1 / 3, 0.0), Option("c", 2 / 3, 0.0)), "", 1.0).stands_for, range(100)))[
        "f"
    ] in (33, 34)
    with pytest.raises(InputError, match="from 0 to 99"):
        mix.stands_for(100)


@pytest.mark.parametrize("only", ["mixed", "close"])
def test_filters_keep_what_they_say(river, only):
    drill = Drill(source_of(river), DrillOptions(only=only), seed=1)
    for _ in range(8):
        verdict = drill.ask().verdict
        if only == "mixed":
            assert sorted(option.probability for option in verdict.options)[-2] >= 0.1
        else:
            first, second = sorted((option.ev for option in verdict.options), reverse=True)[:2]
            assert first - second <= verdict.pot / 100
        drill.answer(verdict.moves[0])


def test_one_line_again_and_again_and_hands_to_their_end(river, turn):
    same = Drill(source_of(river), DrillOptions(line="c", seat="ip"), seed=1)
    holes = set()
    for _ in range(12):
        question = same.ask()
        assert (question.line, question.seat) == ("x", "ip")
        holes.add(question.hole)
        same.answer("c")
    assert len(holes) > 3
    shown = Drill(source_of(turn), DrillOptions(line="x-x/8h-x"), seed=4).ask()  # as the solution writes it
    assert (shown.board, shown.line, shown.seat) == ("Td9d6hQc8h", "x-x/8h-x", "ip")
    whole = Drill(source_of(turn), DrillOptions(scope="end", seat="oop"), seed=2)
    streets = []
    for _ in range(12):
        question = whole.ask()
        streets.append((question.street, question.hole))
        whole.answer("c")
    assert any(a[1] == b[1] and (a[0], b[0]) == ("turn", "river") for a, b in pairwise(streets))
    with pytest.raises(InputError, match="nobody is to act there"):
        Drill(source_of(river), DrillOptions(line="cc")).ask()


def test_the_record_says_where_and_deals_more_of_it(river, tmp_path):
    record = DrillRecord(tmp_path / "drills.jsonl")
    for k in range(40):
        kinds = {"line": "river c", "board": "low", "hand": "top pair" if k % 2 else "air"}
        record.add(Entry(river, kinds, "c", 10.0 * (k % 2), 10.0 * (k % 2), False, None, f"2026-01-{k % 28 + 1:02}"))
    again = DrillRecord.read(tmp_path / "drills.jsonl")
    assert again.entries == record.entries
    assert [(g.name, g.answers, g.percent) for g in again.where("hand")] == [("top pair", 20, 10.0), ("air", 20, 0.0)]
    assert sum(group.answers for group in again.over_time()) == 40
    dear, cheap = (again.weight(river, {"line": "river c", "board": "low", "hand": h}) for h in ("top pair", "air"))
    assert dear > 1.5 * cheap
    # A drill that knows this record asks more top pairs than one that does not.
    shares = []
    for known in (again.entries, []):
        drill = Drill(source_of(river), record=DrillRecord(), seed=5)
        drill.record.entries = [*known]
        found = 0
        for _ in range(80):
            question = drill.ask()
            found += question.kinds["hand"] == "air" or question.kinds["hand"] == "underpair"
            drill.question = None
        shares.append(found)
    assert len(set(shares)) == 2
    (tmp_path / "torn.jsonl").write_text('{"source": 3}\n')
    with pytest.raises(InputError, match="line 1"):
        DrillRecord.read(tmp_path / "torn.jsonl")


def test_a_drill_in_the_terminal(river, tmp_path, capsys):
    options = drilling.Options(questions=3, record=tmp_path / "d.jsonl", seed=1)
    drilling.drill(river, options, io.StringIO("zz\nc\nc\nc\nc\nc\n"))
    text = capsys.readouterr().out
    assert text.count("EV lost") == 3 + 2  # the greeting and the sum
    assert "'zz': one of" in text
    drilling.drill(river, drilling.Options(record=tmp_path / "d.jsonl", show=True, json=True))
    told = json.loads(capsys.readouterr().out)
    assert told["answers"] == 3
    assert sum(group["answers"] for group in told["where"]["hand"]) == 3


# --- charts -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_push_chart_is_an_equilibrium_of_its_own_evs():
    """Jams where jamming is worth more, folds where it is worth less; and an independent figure for folding."""
    table = push_table("push:10,10")
    for line, posted in (("", 0.5), ("J", 1.0)):
        jam, fold = table.evs[table.number(line)]
        assert fold == pytest.approx(np.full(169, -posted), abs=1e-9)  # who folds has lost its blind
        played = table.jams(line)
        assert (jam > fold)[played > 0.99].all()
        assert (jam < fold)[played < 0.01].all()
    aces = table.verdict("J", 0)
    assert aces.best.move == "all-in"
    # Aces called by the whole range of a jam win the stacks about 85 times in 100.
    assert 5 < aces.best.ev < 9.5


@pytest.mark.slow
def test_push_charts_are_compared():
    one, other = charts_of("push:10,10"), charts_of("push:6,6")
    jams = [book["J"].grid.frequencies["all-in"] for book in (one, other)]
    change = difference(one["J"], other["J"])["change"]["all-in"]
    assert change == pytest.approx((jams[1] - jams[0]).ravel().tolist())
    assert difference(one["J"], one["J"])["mean"] == 0


def test_charts_of_spots_are_drawn(river, tmp_path):
    book = charts_of(river)
    assert [chart.line for chart in book.charts] == ["", "x", "b50", "a"]
    root = rb.load(river)[""]
    assert book[""].to_dict()["strategy"]["x"] == pytest.approx(root.grid().frequencies["x"].ravel().tolist())
    save_sheet(book.charts[:2], tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 10_000
    with pytest.raises(InputError, match="has no chart"):
        book["X"]
    with pytest.raises(InputError, match="write numbers"):
        charts_of("push:ten")
    with pytest.raises(InputError, match="1 to 12"):
        save_sheet(book.charts * 4, tmp_path / "no.png")
