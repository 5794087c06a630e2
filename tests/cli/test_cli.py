"""The command line for people and scripts."""

import json
import re
import subprocess
import sys

import pytest
import typer

from riverboat.cards.isomorphism import canonical_boards
from riverboat.cli import main
from riverboat.cli.terminal import format_error
from riverboat.core.errors import InputError
from riverboat.core.formatting import parse_duration

SOLVE_KEYS = {
    "game", "method", "schedule", "traversal", "iterations", "seconds", "value", "value_low", "value_high",
    "exploitability", "nash_conv", "unit", "infosets", "seed",
}  # fmt: skip


def test_solve_json_is_one_object_and_nothing_else(run):
    code, out, _ = run("solve", "leduc", "--iterations", 100, "--json")
    found = json.loads(out)
    assert code == 0
    assert set(found) >= SOLVE_KEYS
    assert found["value_low"] < -0.0856064 < found["value_high"]
    assert found["infosets"] == 936


@pytest.mark.parametrize("method", ["lp", "egt"])
def test_other_methods(run, method):
    code, out, _ = run("solve", "kuhn", "--method", method, "--json")
    assert code == 0
    assert json.loads(out)["value"] == pytest.approx(-1 / 18, abs=1e-4)


def test_comparison_and_plot_of_schedules(run, tmp_path):
    code, out, _ = run(
        "solve", "kuhn", "--schedule", "dcfr:alpha=1.5,beta=0,gamma=2", "--schedule", "cfr+", "--iterations", 50,
        "--plot", tmp_path / "a.png", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert [r["schedule"] for r in found["runs"]] == ["dcfr", "cfr+"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_missed_target_exits_with_1(run):
    code, _, err = run("solve", "kuhn", "--until", "1e-9", "--iterations", 5)
    assert code == 1
    reached = r"--until 1e-9 .*exploitability 0\.\d+ chips after 5 iterations"
    assert re.search(rf"{reached} .* --iterations 5$", err, re.MULTILINE)
    code, _, err = run("solve", "kuhn", "--until", "0.1")
    assert (code, err) == (0, "")


@pytest.mark.parametrize("limit", [("--time", "0s", "--time 0 s"), ("--iterations", "7", "--iterations 7")])
@pytest.mark.parametrize("game", ["kuhn", "spot"])
def test_a_missed_target_has_its_reason_in_json(run, game, limit):
    flags = [
        "--board",
        "Td9d6hQc2s",
        "--pot",
        100,
        "--stack",
        200,
        "--oop",
        "AA,JTs",
        "--ip",
        "QQ,T9s",
        "--bets",
        "50%",
    ]
    option, value, words = limit
    code, out, err = run("solve", game, *(flags if game == "spot" else []), "--until", "1e-12", option, value, "--json")
    found = json.loads(out)
    assert code == 1
    assert not found["reached"]
    assert found["reason"].endswith(words)
    assert f"{found.get('exploitability', found.get('exploitability_pct')):.4g}" in found["reason"]
    assert found["reason"] in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "kuhnn"], "did you mean 'kuhn'"),
        (["solve", "kuhn", "--schedule", "dcfrr"], "did you mean 'dcfr'"),
        (["solve", "kuhn", "--traversal", "sideways"], "chance, external, full, opcs, outcome, pcs, spcs"),
        (["solve", "kuhn", "--method", "magic"], "cfr, egt, lp"),
        (["solve", "kuhn:cards=x"], "cards=x"),
        (["solve", "kuhn:colour=3"], "'colour'"),
        (["solve", "kuhn", "--time", "soon"], "'soon'"),
        (["solve", "kuhn", "--resume"], "--out"),
        (["solve", "rps", "--traversal", "pcs"], "pcs"),
        (["solve", "nowhere.efg"], "nowhere.efg"),
        (["solve", "kuhn", "--iterations", "many"], "iterations"),
        (["show", "nowhere"], "nowhere"),
        (["fly"], "fly"),
    ],
)
def test_bad_input_exits_with_2_and_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_reading_commands(run, tmp_path):
    folder = tmp_path / "run"
    assert run("solve", "kuhn", "--until", "1e-4", "--schedule", "pcfr+", "--out", folder)[0] == 0
    facts = json.loads(run("show", folder, "--json")[1])
    assert facts["game"] == "kuhn"
    assert len(facts["strategy"]) == 12
    row = json.loads(run("show", folder, "Q:r", "--json")[1])
    assert row["strategy"]["c"] == pytest.approx(1 / 3, abs=0.02)
    assert "information set" in run("show", folder)[1]
    quality = json.loads(run("exploitability", folder, "--json")[1])
    assert quality["exploitability"] <= 1e-4
    assert quality["unit"] == "chips"
    responses = json.loads(run("respond", folder, "--json")[1])["responses"]
    assert sum(r["gain"] for r in responses) == pytest.approx(quality["nash_conv"], abs=1e-12)
    assert run("respond", folder, "--player", 1, "--out", tmp_path / "best")[0] == 0
    assert json.loads(run("show", tmp_path / "best", "K:r", "--json")[1])["strategy"]["c"] == 1.0
    assert run("respond", folder, "--player", 7)[0] == 2
    assert run("show", folder, "Z:r")[0] == 2
    assert run("solve", "kuhn", "--schedule", "pcfr+", "--iterations", 900, "--out", folder, "--resume")[0] == 0


def test_lists_and_traces(run, tmp_path):
    games = json.loads(run("games", "--json")[1])["games"]
    assert {"kuhn", "leduc", "bluff", "coin_toss", "clairvoyance", "rps", "rpst"} <= set(games)
    assert "leduc" in run("games")[1]
    code, out, _ = run("trace", "kuhn", "--deal", "QJ", "--svg", tmp_path / "t.svg")
    assert code == 0
    assert "Q:" in out
    assert (tmp_path / "t.svg").read_text().lstrip().startswith("<svg")
    assert json.loads(run("trace", "kuhn", "--deal", "QJ", "--json")[1])
    assert run("trace", "kuhn", "--deal", "QQ")[0] == 2
    assert run("cache")[0] == 0


def test_convergence_of_schedules_is_drawn(run, tmp_path):
    picture = tmp_path / "leduc.png"
    code, out, _ = run(
        "solve", "leduc", "--schedule", "vanilla", "--schedule", "dcfr", "--iterations", "300", "--plot", picture
    )
    assert code == 0
    assert "dcfr" in out
    assert picture.stat().st_size > 20_000


def test_durations():
    assert parse_duration("90s") == 90
    assert parse_duration("1h30m") == 5400
    assert parse_duration("2.5") == 2.5
    for text in ("", "s", "5x", "1e3s", "-5s", "nan", "٣s", "9" * 400, "9" * 400 + "h", "1h30"):
        with pytest.raises(InputError, match="time"):
            parse_duration(text)


def test_errors_are_one_printable_line():
    line = format_error("first\nsecond\x1b[31m \udcff " + "x" * 5000 + " and the way out")
    assert line.startswith("error: first second\\x1b[31m \\udcff xxx")
    assert line.endswith("and the way out")
    assert line.isprintable()
    assert len(line) < 500


def test_help_is_quick_and_imports_nothing_heavy():
    heavy = "('numba', 'numpy', 'rich', 'scipy')"
    code = f"import sys; import riverboat.cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    version = subprocess.run(
        [sys.executable, "-m", "riverboat.cli.main", "--version"], capture_output=True, text=True, check=True
    )
    assert version.stdout.startswith("riverboat ")


def test_equities_and_ranges(run, tmp_path):
    found = json.loads(run("equity", "AsAh", "KsKd", "--json")[1])
    assert found["wins"] == [1399204, 305177]
    assert found["equity_is"] == "exact"
    assert found["equity"][0] == pytest.approx(0.819461, abs=1e-6)
    code, out, _ = run("equity", "AhKh", "QQ", "--board", "2h7h9c")
    assert code == 0
    assert "exact on 2h 7h 9c" in out
    assert run("equity", "AhKh", "QQ", "--board", "2h7h")[0] == 2
    ranged = json.loads(run("range", "22+,A2s+", "--json")[1])
    assert ranged["combos"] == 78 + 48
    assert run("range", "22+,A2s+", "--out", tmp_path / "r.png")[0] == 0
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert run("range", "22+,AKx")[0] == 2


def test_feature_tables_are_artifacts(run, tmp_path, monkeypatch):
    boards, times = canonical_boards(5)
    monkeypatch.setattr(
        "riverboat.cards.features.hand_features.canonical_boards", lambda cards: (boards[::50], times[::50])
    )  # quick
    code, out, _ = run("features", "preflop", "--bins", 10, "--out", tmp_path / "f", "--json")
    assert code == 0
    assert json.loads(out)["tables"]["histogram"]["shape"] == [169, 10]
    assert (tmp_path / "f" / "manifest.json").exists()
    assert run("features", "rivr")[0] == 2


def test_only_the_called_command_is_fully_defined():
    """Options of other commands are never processed."""
    whole = typer.main.get_command(main.make_app())
    options = {name: [p.name for p in command.params] for name, command in whole.commands.items()}
    assert len(options) > 30
    for called in ["--help", *options]:
        needed = typer.main.get_command(main.make_app(called))
        assert {n: c.get_short_help_str() for n, c in needed.commands.items()} == {
            n: c.get_short_help_str() for n, c in whole.commands.items()
        }
        if called in options:
            assert [p.name for p in needed.commands[called].params] == options[called]
    outlined = [name for name, command in needed.commands.items() if not command.params]
    assert len(outlined) > len(options) - 5
