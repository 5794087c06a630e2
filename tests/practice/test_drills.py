"""Drills: grades against a recomputation, random numbers, filters, the record, and charts."""

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
from riverboat.cli import practice as practice_commands
from riverboat.core.errors import InputError
from riverboat.practice.charts import compare_charts, load_charts, push_table, save_sheet
from riverboat.practice.drills import Drill, DrillAnswer, DrillOptions, DrillRecord
from riverboat.practice.questions import make_source
from riverboat.practice.verdicts import DecisionVerdict, VerdictOption

ROUNDING = 1e-6 * 500  # chips: the largest pot, with sums of float32 tables


def test_grades_against_a_recomputation(river):
    """Ten questions with every kind of answer, each recomputed by a recursion over the opponent's hands."""
    drill, slow, rng = Drill(make_source(river), seed=3), SlowSpot(rb.load(river)), np.random.default_rng(3)
    total = 0.0
    for _ in range(10):
        question = drill.next_question()
        move = str(rng.choice(question.moves))
        seat = ("oop", "ip").index(question.seat)
        evs = list(slow.move_evs(question.line, hand_index(*parse_cards(question.hole, "hand")), seat).values())
        lost = max(evs) - evs[question.moves.index(move)]
        grade = drill.answer(move)
        assert grade.ev_lost == pytest.approx(lost, abs=ROUNDING)
        assert grade.percent == pytest.approx(100 * lost / question.pot, abs=ROUNDING)
        total += lost
    assert total > 10
    assert drill.ev_lost == pytest.approx(total, abs=ROUNDING)


def test_actions_for_random_numbers():
    mix = DecisionVerdict(
        (VerdictOption("f", 0.25, 0.0), VerdictOption("c", 0.5, 0.0), VerdictOption("r9", 0.25, 0.0)), "", 10.0
    )
    assert Counter(map(mix.action_for_number, range(100))) == {"f": 25, "c": 50, "r9": 25}
    assert [mix.action_for_number(n) for n in (0, 24, 25, 74, 75, 99)] == ["f", "f", "c", "c", "r9", "r9"]
    assert Counter(
        map(
            DecisionVerdict(
                (VerdictOption("f", 1 / 3, 0.0), VerdictOption("c", 2 / 3, 0.0)), "", 1.0
            ).action_for_number,
            range(100),
        )
    )["f"] in (33, 34)
    with pytest.raises(InputError, match=r"100.*0 to 99"):
        mix.action_for_number(100)


@pytest.mark.parametrize("only", ["mixed", "close"])
def test_filters(river, only):
    drill = Drill(make_source(river), DrillOptions(only=only), seed=1)
    for _ in range(8):
        verdict = drill.next_question().verdict
        if only == "mixed":
            assert sorted(option.probability for option in verdict.options)[-2] >= 0.1
        else:
            first, second = sorted((option.ev for option in verdict.options), reverse=True)[:2]
            assert first - second <= verdict.pot / 100
        drill.answer(verdict.moves[0])


def test_fixed_lines_and_whole_hands(river, turn):
    same = Drill(make_source(river), DrillOptions(line="c", seat="ip"), seed=1)
    holes = set()
    for _ in range(12):
        question = same.next_question()
        assert (question.line, question.seat) == ("x", "ip")
        holes.add(question.hole)
        same.answer("c")
    assert len(holes) > 3
    shown = Drill(
        make_source(turn), DrillOptions(line="x-x/8h-x"), seed=4
    ).next_question()  # in the solution's notation
    assert (shown.board, shown.line, shown.seat) == ("Td9d6hQc8h", "x-x/8h-x", "ip")
    whole = Drill(make_source(turn), DrillOptions(scope="end", seat="oop"), seed=2)
    streets = []
    for _ in range(12):
        question = whole.next_question()
        streets.append((question.street, question.hole))
        whole.answer("c")
    assert any(a[1] == b[1] and (a[0], b[0]) == ("turn", "river") for a, b in pairwise(streets))
    with pytest.raises(InputError, match="line 'cc'"):
        Drill(make_source(river), DrillOptions(line="cc")).next_question()


def test_record_and_focus(river, tmp_path):
    record = DrillRecord(tmp_path / "drills.jsonl")
    for k in range(40):
        kinds = {"line": "river c", "board": "low", "hand": "top pair" if k % 2 else "air"}
        record.add(
            DrillAnswer(river, kinds, "c", 10.0 * (k % 2), 10.0 * (k % 2), False, None, f"2026-01-{k % 28 + 1:02}")
        )
    again = DrillRecord.read(tmp_path / "drills.jsonl")
    assert again.answers == record.answers
    assert [(g.name, g.answers, g.percent) for g in again.losses_by("hand")] == [
        ("top pair", 20, 10.0),
        ("air", 20, 0.0),
    ]
    assert sum(group.answers for group in again.over_time()) == 40
    dear, cheap = (again.weight(river, {"line": "river c", "board": "low", "hand": h}) for h in ("top pair", "air"))
    assert dear > 1.5 * cheap
    # A drill with this record asks more top pairs than one without.
    shares = []
    for known in (again.answers, []):
        drill = Drill(make_source(river), record=DrillRecord(), seed=5)
        drill.record.answers = [*known]
        found = 0
        for _ in range(80):
            question = drill.next_question()
            found += question.kinds["hand"] == "air" or question.kinds["hand"] == "underpair"
            drill.question = None
        shares.append(found)
    assert len(set(shares)) == 2
    (tmp_path / "torn.jsonl").write_text('{"source": 3}\n')
    with pytest.raises(InputError, match="line 1"):
        DrillRecord.read(tmp_path / "torn.jsonl")


def test_a_drill_in_the_terminal(river, tmp_path, capsys):
    typed = io.StringIO("zz\nc\nc\nc\nc\nc\n")
    practice_commands.drill(river, questions=3, record=tmp_path / "d.jsonl", seed=1, input_lines=typed)
    text = capsys.readouterr().out
    assert text.count("EV lost") == 3 + 2  # the greeting and the sum
    assert "'zz'" in text
    practice_commands.drill(river, record=tmp_path / "d.jsonl", show=True, json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["answers"] == 3
    assert sum(group["answers"] for group in told["where"]["hand"]) == 3


# --- Charts ---


@pytest.mark.slow
def test_push_chart_is_an_equilibrium():
    """The chart jams if the EV of a jam is larger, and folds if it is smaller; the EV of a fold is known."""
    table = push_table("push:10,10")
    for line, posted in (("", 0.5), ("J", 1.0)):
        jam, fold = table.evs[table.line_number(line)]
        assert fold == pytest.approx(np.full(169, -posted), abs=1e-9)  # a fold loses the blind
        played = table.strategy[table.line_number(line)]
        assert (jam > fold)[played > 0.99].all()
        assert (jam < fold)[played < 0.01].all()
    aces = table.verdict("J", 0)
    assert aces.best.move == "all-in"
    # Aces win about 85 % against the range of a jam.
    assert 5 < aces.best.ev < 9.5


@pytest.mark.slow
def test_compare_charts():
    one, other = load_charts("push:10,10"), load_charts("push:6,6")
    jams = [book["J"].grid.frequencies["all-in"] for book in (one, other)]
    change = compare_charts(one["J"], other["J"])["change"]["all-in"]
    assert change == pytest.approx((jams[1] - jams[0]).ravel().tolist())
    assert compare_charts(one["J"], one["J"])["mean"] == 0


def test_charts_of_spots_are_drawn(river, tmp_path):
    book = load_charts(river)
    assert [chart.line for chart in book.charts] == ["", "x", "b50", "a"]
    root = rb.load(river)[""]
    assert book[""].to_dict()["strategy"]["x"] == pytest.approx(root.grid().frequencies["x"].ravel().tolist())
    save_sheet(book.charts[:2], tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 10_000
    with pytest.raises(InputError, match="line 'X'"):
        book["X"]
    with pytest.raises(InputError, match="'ten'"):
        load_charts("push:ten")
    with pytest.raises(InputError, match="1 to 12"):
        save_sheet(book.charts * 4, tmp_path / "no.png")
