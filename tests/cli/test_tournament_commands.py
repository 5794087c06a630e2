"""`riverboat icm`, `pushfold` and `tournament`: printed output and invalid arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reference.all_in import classes_of
from riverboat.cards.deck import Deck
from riverboat.cards.grid import CLASS_NAMES
from riverboat.cli.main import main
from riverboat.practice.charts import push_table
from riverboat.tournaments import hand_tables
from riverboat.tournaments.run import load_tournament
from riverboat.tournaments.stage_game import PushFoldStage


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_icm(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "icm", "--stacks", "2,1,1", "--payouts", "50,30,20", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["values"] == pytest.approx([115 / 3, 185 / 6, 185 / 6])
    assert found["call_off_equities"][0][0] is None
    code, out, _ = run(capsys, "icm", "--stacks", "2,1,1", "--payouts", "50,30,20")
    assert code == 0
    assert "38.33" in out
    assert "bubble factors" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["icm", "--stacks", "2,x", "--payouts", "1"], "number 2, 'x'"),
        (["icm", "--stacks", "2,,1", "--payouts", "1"], "number 2, ''"),
        (["icm", "--stacks", "2,0", "--payouts", "1"], "number 2"),
        (["icm", "--stacks", "1e400,1", "--payouts", "1"], "number 1"),
        (["pushfold", "--stacks", "10"], "2 to 9"),
        (["pushfold", "--stacks", "10,10", "--blinds", "1"], "--blinds '1'"),
        (["pushfold", "--stacks", "10,10", "--line", "JJ"], "--line 'JJ'"),
        (["pushfold", "--stacks", "9,9,9,9,9", "--line", "JJJJ"], "--line 'JJJJ'"),  # after four all-ins
        (["pushfold", "--stacks", "10,10", "--plot", "a.png"], "--line"),
        (["pushfold", "--stacks", "10,10", "--line", "", "--plot", "a.doc"], "a.doc"),
        (["tournament", "no.toml"], "no.toml"),
        (["tournament", "--method", "fp"], "'fp'"),
        (["tournament", "--state", "1,2,3"], "45 units of 300 chips"),
        (["tournament", "--state", "15,15,15", "--line", "JJJ"], "--line 'JJJ'"),
        (["tournament", "--small", "--plot", "a.png"], "--line"),
        (["tournament", "--time", "soon"], "'soon'"),
    ],
)
def test_invalid_arguments(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.fixture
def small_cards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace the table of three hands by one of a small deck, because the real table takes half a minute."""
    deck = Deck.small(4, 2)
    small = hand_tables.count_two_way(deck, classes_of(deck), board=1)
    wide = hand_tables.TwoWayShowdowns(*(_spread(part) for part in (small.wins, small.ties, small.hands)))
    monkeypatch.setattr(hand_tables, "load_two_way", lambda *_: wide)
    hand_tables.starting_hands.cache_clear()
    yield
    hand_tables.starting_hands.cache_clear()


@pytest.mark.usefixtures("small_cards")
def test_pushfold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, picture = tmp_path / "all.csv", tmp_path / "sb.png"
    words = ["pushfold", "--stacks", "5,5", "--line", "", "--csv", str(table), "--plot", str(picture), "--until", "1"]
    code, out, err = run(capsys, *words)
    assert code == 0
    assert "SB first in" in out
    assert "(exact)" in out
    assert picture.stat().st_size > 1000
    assert table.read_text().splitlines()[0] == ",".join(("line", *CLASS_NAMES))
    assert len(table.read_text().splitlines()) == 3
    assert "Traceback" not in err
    code, out, _ = run(capsys, "pushfold", "--stacks", "5,5", "--until", "0", "--iterations", "3", "--json")
    found = json.loads(out)
    assert code == 1  # the target was missed
    assert found["values"][0] == pytest.approx(-found["values"][1], abs=1e-6)
    assert found["epsilon"] == max(found["gains"]) > 0
    assert [decision["position"] for decision in found["decisions"]] == ["SB", "BB"]


@pytest.mark.usefixtures("small_cards")
def test_tournament(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, run_folder = tmp_path / "t.toml", str(tmp_path / "run")
    file.write_text("players = 2\nchips = 14\nunit = 1\nblinds = [1, 2]\npayouts = [60, 40]\n")
    begin = ["tournament", str(file), "--out", run_folder, "--iterations", "1", "--until", "0"]
    assert run(capsys, *begin)[0] == 1  # the target was missed
    code, _, err = run(capsys, *begin)
    assert (code, err.count("\n")) == (2, 1)
    assert "--resume" in err
    code, out, _ = run(
        capsys, "tournament", str(file), "--out", run_folder, "--resume", "--iterations", "2", "--until", "0", "--json"
    )
    found = json.loads(out)
    assert (code, found["steps"]) == (1, 2)
    assert 0 < found["epsilon"] <= 0.02 * 10
    table, picture = tmp_path / "s.csv", tmp_path / "s.png"
    read = ["tournament", run_folder, "--state", "6,8", "--line", "J", "--csv", str(table), "--plot", str(picture)]
    code, out, _ = run(capsys, *read, "--until", "2")
    assert code == 0
    assert "stacks 6, 8 units" in out
    assert "BB behind 1 all-in" in out
    assert len(table.read_text().splitlines()) == 3
    assert picture.stat().st_size > 1000
    code, out, _ = run(capsys, "tournament", run_folder, "--state", "6,8", "--until", "2", "--json")
    shown = json.loads(out)["state"]
    assert sum(shown["values"]) == pytest.approx(100, abs=1e-3)
    assert [decision["line"] for decision in shown["decisions"]] == ["", "J"]
    code, out, _ = run(capsys, "show", run_folder, "--json")
    assert code == 0
    assert json.loads(out)["method"] == "pi-fp"
    # The same as charts: one state, and the names of all states.
    code, out, _ = run(capsys, "charts", f"{run_folder}?state=6,8", "--line", "J", "--json")
    charts = json.loads(out)
    assert (code, charts["state"], len(charts["states"])) == (0, "6,8", 13)
    assert charts["charts"][0]["strategy"]["all-in"] == pytest.approx(list(shown["decisions"][1]["all_in"].values()))
    code, out, _ = run(capsys, "charts", run_folder, "--against", f"{run_folder}?state=1,13", "--line", "J")
    assert code == 0
    assert "of hands differ" in out
    for words, said in (("?state=6,9", "14 units"), ("?line=J", "'line'")):
        code, _, err = run(capsys, "charts", run_folder + words)
        assert code == 2
        assert said in err
    # EVs of moves in the state: the mean over hands is the value of the state in the run.
    place = load_tournament(Path(run_folder))
    strategy, seats = place.strategy((6, 8)), PushFoldStage(place.tournament.spot((6, 8)))
    worth = (seats.response_problem(strategy).outcome_probabilities(strategy) * place.outcome_payoffs((6, 8))).sum(
        axis=1
    )
    assert worth == pytest.approx(shown["values"], abs=1e-9)
    pushed = push_table(f"{run_folder}?state=6,8")
    value, reach = pushed.counterfactual_values()
    by_moves = (strategy[0] * value[0, 0] + (1 - strategy[0]) * value[0, 1]).sum()
    assert by_moves == pytest.approx(shown["values"][0], abs=1e-9)
    assert reach[0].sum() == pytest.approx(1)


@pytest.mark.slow
def test_cluster_gives_the_same_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text("players = 2\nchips = 10\nunit = 1\nblinds = [0.5, 1]\npayouts = [60, 40]\n")
    words = ["tournament", str(file), "--iterations", "2", "--until", "0", "--threads", "1", "--json"]
    here, there = (json.loads(run(capsys, *words, *more)[1]) for more in ((), ("--cluster", "local")))
    assert {**here, "seconds": 0} == {**there, "seconds": 0}


def test_tournament_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "tournament", "--estimate", "--json")
    assert code == 0
    assert json.loads(out)["states_of_three"] == 946
    assert "91 states of three" in run(capsys, "tournament", "--small", "--estimate")[1]


def _spread(part):  # type: ignore[no-untyped-def]
    import numpy as np

    wide = np.zeros((169, 169), part.dtype)
    wide[: len(part), : len(part)] = part
    return wide
