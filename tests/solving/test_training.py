"""The training loop: limits, checkpoints that are read while it goes on, going on after a stop, and recipes."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.core import artifacts
from riverboat.core.errors import CorruptError, InputError
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.recipe import load_train_recipe, loads, presets
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.solvers.mccfr.training import Training
from riverboat.strategies import files
from riverboat.strategies.blueprint import load_blueprint

LEDUC = read_game("leduc")


def solver(seed=3, **options):
    return Blueprint(compile_actions(LEDUC), lossless(LEDUC.board[1:], LEDUC.deck), seed=seed, **options)


def training(out, seed=3, **options):
    return Training(solver(seed), out, None, {"recipe": "test"}, **options)


def test_a_run_ends_where_it_should_and_is_read_back(tmp_path):
    seen = []
    run = training(tmp_path / "run", progress=seen.append)
    run.open(resume=False)
    made = run.run(iterations=20_000)
    assert run.solver.iterations >= 20_000
    assert seen[-1].share == 1.0
    assert seen[-1].left == 0.0
    found = load_blueprint(tmp_path / "run")
    assert all((a == b).all() for a, b in zip(found.average, made.average, strict=True))
    node, bucket = 0, 2
    exact = run.solver.average(node, bucket)
    assert np.abs(found.probabilities(node, np.array([bucket]))[0] - exact).max() < 1 / 255


def test_going_on_is_the_same_as_never_having_stopped(tmp_path):
    whole = training(tmp_path / "whole")
    whole.open(resume=False)
    whole.run(iterations=64 * 300)
    first = training(tmp_path / "parts")
    first.open(resume=False)
    first.run(iterations=64 * 100)
    second = training(tmp_path / "parts")
    with pytest.raises(InputError, match="--resume"):
        second.open(resume=False)
    second.open(resume=True)
    assert second.solver.iterations == first.solver.iterations
    assert second.seconds == pytest.approx(first.seconds, abs=1e-3)
    second.run(iterations=whole.solver.iterations)
    assert (second.solver.tables.cells == whole.solver.tables.cells).all()


def test_a_checkpoint_is_read_while_training_goes_on(tmp_path):
    found = []

    def look(now):
        if files.checkpoints(tmp_path / "run") and not found:
            found.append(load_blueprint(tmp_path / "run").provenance["iterations"])

    run = training(tmp_path / "run", progress=look, checkpoint_seconds=0.0)
    run.open(resume=False)
    run.run(iterations=50_000)
    assert found
    assert found[0] < run.solver.iterations
    assert len(files.checkpoints(tmp_path / "run")) <= 2


def test_a_stop_leaves_a_checkpoint(tmp_path):
    run = training(tmp_path / "run")
    run.open(resume=False)
    calls = []

    def stop():
        calls.append(1)
        return len(calls) > 3

    run.run(seconds=3600, stop=stop)
    assert load_blueprint(tmp_path / "run").provenance["iterations"] == run.solver.iterations


FOREVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_training import training
run = training(Path(sys.argv[2]), checkpoint_seconds=0.2)
run.open(resume=False)
run.run(seconds=600)
"""


def test_a_killed_run_goes_on_from_its_last_checkpoint(processes, tmp_path):
    folder = tmp_path / "run"
    process = processes.python("-c", FOREVER, Path(__file__).parent, folder)
    deadline = time.monotonic() + 200
    while not (folder.is_dir() and len(files.checkpoints(folder)) > 1) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    run = training(folder)
    run.open(resume=True)
    before = run.solver.iterations
    assert before > 0
    run.run(iterations=before + 6400)
    assert run.solver.iterations >= before + 6400


def test_measures_and_the_log(tmp_path):
    pairs = []

    def measure(now, before):
        pairs.append((now, before))
        return {"sets": float(now.average[0].sum())}

    run = training(tmp_path / "run", check_seconds=0.0, measure=measure, snapshots=4)
    run.open(resume=False)
    run.run(iterations=40_000)
    assert pairs[0][1] is None
    assert pairs[1][1] is not None
    assert (pairs[1][1].average[1] == pairs[0][0].average[1]).all()
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert len(lines) == len(pairs)
    assert lines[-1]["touched"] <= 6 * 6 + 6 * 6 * 30  # hands and decisions; hands with boards and decisions
    assert lines[0]["regret"] > lines[-1]["regret"] > 0
    assert len(list((tmp_path / "run" / "snapshots").iterdir())) <= 5


def test_a_snapshot_that_somebody_forged_is_corrupt(tmp_path):
    run = training(tmp_path / "run", check_seconds=0.0, measure=lambda now, before: {})
    run.open(resume=False)
    run.run(iterations=5_000)
    (*_, last) = sorted((tmp_path / "run" / "snapshots").iterdir())
    entries, arrays = artifacts.read(last)
    kept = {name: np.array(table) for name, table in arrays.items()}
    artifacts.write(last, entries.text("kind"), kept | {"average_1": kept["average_1"][:-1]}, {})
    with pytest.raises(CorruptError, match=r"average_1\.npy"):
        run.run(iterations=10_000)


def test_another_game_or_a_torn_checkpoint_is_refused(tmp_path):
    run = training(tmp_path / "run")
    run.open(resume=False)
    run.run(iterations=1000)
    rules = read_game("kuhn")
    other = Blueprint(compile_actions(rules), lossless(rules.board[1:], rules.deck))
    with pytest.raises(InputError, match="another game"):
        Training(other, tmp_path / "run", None, {}).open(resume=True)
    place = files.checkpoints(tmp_path / "run")[-1]
    data = (place / "cells.npy").read_bytes()
    (place / "cells.npy").write_bytes(data[:-8])
    with pytest.raises(CorruptError, match="truncated"):
        training(tmp_path / "run").open(resume=True)
    with pytest.raises(InputError, match="no limit"):
        run.run()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    with pytest.raises(InputError, match="holds other files"):
        training(tmp_path / "mine").open(resume=False)


def test_presets_and_what_is_wrong_in_a_recipe():
    assert set(presets()) >= {"demo", "default", "demo-cluster", "limit"}
    demo = load_train_recipe("demo")
    assert demo.abstraction == "tiny"
    assert demo.rules.name == "nolimit-200bb"
    for text, words in [
        ("", "no game"),
        ("game = 'nolimit-200bb'", r"no \[menu\]"),
        ("game = 'limit'\n[menu]\nflop = 'a'", "limit game"),
        ("game = 'leduc'\n[training]\ntimes = '3s'", "did you mean 'time'"),
        ("game = 'leduc'\n[training]\nperiod = -4", "period = -4"),
        ("game = 'leduc'\n[training]\nprune = 0", "prune = 0"),
        ("game = 'leduc'\n[training]\ndtype = 'float16'", "unknown dtype"),
        ("game = 'leduc'\n[training]\nweighting = 'cfr+'", "weighting"),
        ("game = 'leduc'\n[training]\ntraversal = 'cfr-bt'", "did you mean 'cfr-br'"),
        ("game = 'leduc'\n[training]\ntraversal = 'pcs'\nprune = 300", "only external sampling prunes"),
        ("game = 'leduc", "not TOML"),
    ]:
        with pytest.raises(InputError, match=words):
            loads(text)
    with pytest.raises(InputError, match=r"presets: .*demo"):
        load_train_recipe("demon")


# Which values each entry takes, of all these; the others are refused by its name.
VALUES = {
    "int": "3", "zero": "0", "negative": "-3", "float": "2.5", "inf": "inf", "nan": "nan", "10^400": "1" + "0" * 400,
    "true": "true", "text": "'x'", "list": "[1]", "table": "{ x = 1 }",
}  # fmt: skip
ENTRIES = {
    "name": {"text"}, "about": {"text"}, "game": set(), "abstraction": {"text"}, "menu": set(), "training": set(),
    "training.time": {"text"}, "training.weighting": set(), "training.period": {"int"}, "training.until": {"int", "zero"},
    "training.prune": {"int", "float"}, "training.prune_after": {"int", "zero"}, "training.dtype": set(),
    "training.traversal": set(),
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_of_a_recipe_have_their_kinds(entry, kind):
    table = {"game": "'leduc'"} | ({"training.prune": "300"} if entry == "training.prune_after" else {})
    text = "\n".join(f"{key} = {value}" for key, value in (table | {entry: VALUES[kind]}).items())
    if kind in ENTRIES[entry]:
        loads(text)
        return
    with pytest.raises(InputError, match=r"menu|game" if entry in ("menu", "game") else entry.split(".")[-1]) as caught:
        loads(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", presets())
def test_a_recipe_that_comes_with_riverboat_says_what_it_is_worth(name):
    worth = load_train_recipe(name).worth
    assert re.search(r"\d ± \d|exactly", worth), worth
    assert "not measured" not in worth


def test_a_recipe_on_a_device():
    """What cannot be done there is refused by name."""
    plain = "game = 'leduc'\n[training]\nweighting = 'linear'\nperiod = 500_000\n"
    for fine in ("", "traversal = 'pcs'"):
        loads(plain + fine).check_device()
    for more, words in [
        ("prune = 300", "prune and runouts are for external sampling"),
        ("runouts = 8", "prune and runouts are for external sampling"),
        ("dtype = '16-bit'", "dtype = '16-bit': tables on a GPU are float32"),
        ("traversal = 'opcs'", "traversal = 'opcs' runs on processors"),
    ]:
        with pytest.raises(InputError, match=words):
            loads(plain + more).check_device()


def test_what_goes_with_pruning_needs_it():
    with pytest.raises(InputError, match="prune_after = 5: nothing is pruned without prune"):
        loads("game = 'leduc'\n[training]\nprune_after = 5")
    with pytest.raises(InputError, match="prune_after = 'x': must be a whole number"):
        loads("game = 'leduc'\n[training]\nprune_after = 'x'")


@pytest.mark.parametrize(
    "limits", [{"iterations": -1}, {"iterations": 0}, {"seconds": -1.0}, {"seconds": float("nan")}]
)
def test_limits_of_a_run(limits, tmp_path):
    with pytest.raises(InputError, match=f"{next(iter(limits))}=.*above zero"):
        training(tmp_path / "run").run(**limits)
