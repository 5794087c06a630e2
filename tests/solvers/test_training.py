"""Training runs: limits, checkpoints that are readable during training, resuming, and recipes."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.core import artifacts
from riverboat.core.errors import CorruptError, InputError
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.recipe import load_train_recipe, parse_train_recipe, presets
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.mccfr.training import Training
from riverboat.strategies import files
from riverboat.strategies.blueprint import load_blueprint

LEDUC = read_game("leduc")


def solver(seed=3, **options):
    return BlueprintTrainer(
        compile_action_tree(LEDUC), lossless_abstraction(LEDUC.board[1:], LEDUC.deck), seed=seed, **options
    )


def training(out, seed=3, **options):
    return Training(solver(seed), out, None, {"recipe": "test"}, **options)


def test_run_ends_at_its_limit_and_is_read_back(tmp_path):
    seen = []
    run = training(tmp_path / "run", progress=seen.append)
    run.start_or_resume(resume=False)
    made = run.run(iterations=20_000)
    assert run.solver.iterations >= 20_000
    assert seen[-1].share == 1.0
    assert seen[-1].left == 0.0
    result = load_blueprint(tmp_path / "run")
    assert all((a == b).all() for a, b in zip(result.average, made.average, strict=True))
    node, bucket = 0, 2
    exact = run.solver.average(node, bucket)
    assert np.abs(result.probabilities(node, np.array([bucket]))[0] - exact).max() < 1 / 255


def test_resumed_training_equals_an_uninterrupted_one(tmp_path):
    full = training(tmp_path / "whole")
    full.start_or_resume(resume=False)
    full.run(iterations=64 * 300)
    first = training(tmp_path / "parts")
    first.start_or_resume(resume=False)
    first.run(iterations=64 * 100)
    second = training(tmp_path / "parts")
    with pytest.raises(InputError, match="--resume"):
        second.start_or_resume(resume=False)
    second.start_or_resume(resume=True)
    assert second.solver.iterations == first.solver.iterations
    assert second.seconds == pytest.approx(first.seconds, abs=1e-3)
    second.run(iterations=full.solver.iterations)
    assert (second.solver.tables.cells == full.solver.tables.cells).all()


def test_checkpoint_is_readable_during_training(tmp_path):
    result = []

    def look(now):
        if files.checkpoints(tmp_path / "run") and not result:
            result.append(load_blueprint(tmp_path / "run").provenance["iterations"])

    run = training(tmp_path / "run", progress=look, checkpoint_seconds=0.0)
    run.start_or_resume(resume=False)
    run.run(iterations=50_000)
    assert result
    assert result[0] < run.solver.iterations
    assert len(files.checkpoints(tmp_path / "run")) <= 2


def test_stopping_writes_a_checkpoint(tmp_path):
    run = training(tmp_path / "run")
    run.start_or_resume(resume=False)
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
run.start_or_resume(resume=False)
run.run(seconds=600)
"""


def test_killed_run_resumes_from_its_last_checkpoint(processes, tmp_path):
    folder = tmp_path / "run"
    process = processes.python("-c", FOREVER, Path(__file__).parent, folder)
    deadline = time.monotonic() + 200
    while not (folder.is_dir() and len(files.checkpoints(folder)) > 1) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    run = training(folder)
    run.start_or_resume(resume=True)
    before = run.solver.iterations
    assert before > 0
    run.run(iterations=before + 6400)
    assert run.solver.iterations >= before + 6400


def test_measure_and_log(tmp_path):
    pairs = []

    def measure(now, before):
        pairs.append((now, before))
        return {"sets": float(now.average[0].sum())}

    run = training(tmp_path / "run", check_seconds=0.0, measure=measure, snapshots=4)
    run.start_or_resume(resume=False)
    run.run(iterations=40_000)
    assert pairs[0][1] is None
    assert pairs[1][1] is not None
    assert (pairs[1][1].average[1] == pairs[0][0].average[1]).all()
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert len(lines) == len(pairs)
    assert lines[-1]["touched"] <= 6 * 6 + 6 * 6 * 30  # hands and decisions; hands with boards and decisions
    assert lines[0]["regret"] > lines[-1]["regret"] > 0
    assert len(list((tmp_path / "run" / "snapshots").iterdir())) <= 5


def test_forged_snapshot_is_detected(tmp_path):
    run = training(tmp_path / "run", check_seconds=0.0, measure=lambda now, before: {})
    run.start_or_resume(resume=False)
    run.run(iterations=5_000)
    (*_, last) = sorted((tmp_path / "run" / "snapshots").iterdir())
    entries, arrays = artifacts.read(last)
    stored = {name: np.array(table) for name, table in arrays.items()}
    artifacts.write(last, entries.text("kind"), stored | {"average_1": stored["average_1"][:-1]}, {})
    with pytest.raises(CorruptError, match=r"average_1\.npy"):
        run.run(iterations=10_000)


def test_other_games_and_truncated_checkpoints_are_rejected(tmp_path):
    run = training(tmp_path / "run")
    run.start_or_resume(resume=False)
    run.run(iterations=1000)
    rules = read_game("kuhn")
    other = BlueprintTrainer(compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck))
    with pytest.raises(InputError, match="checkpoint-"):
        Training(other, tmp_path / "run", None, {}).start_or_resume(resume=True)
    place = files.checkpoints(tmp_path / "run")[-1]
    data = (place / "cells.npy").read_bytes()
    (place / "cells.npy").write_bytes(data[:-8])
    with pytest.raises(CorruptError, match=r"\.npy"):
        training(tmp_path / "run").start_or_resume(resume=True)
    with pytest.raises(InputError, match="seconds or iterations"):
        run.run()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    with pytest.raises(InputError, match=r"mine: .*empty folder"):
        training(tmp_path / "mine").start_or_resume(resume=False)


def test_presets_and_invalid_recipes():
    assert set(presets()) >= {"demo", "default", "demo-cluster", "limit"}
    demo = load_train_recipe("demo")
    assert demo.abstraction == "tiny"
    assert demo.rules.name == "nolimit-200bb"
    for text, pattern in [
        ("", "game = "),
        ("game = 'nolimit-200bb'", r"\[menu\]: nolimit-200bb"),
        ("game = 'limit'\n[menu]\nflop = 'a'", r"\[menu\]: limit"),
        ("game = 'leduc'\n[training]\ntimes = '3s'", "'times'.*'time'"),
        ("game = 'leduc'\n[training]\nperiod = -4", "period = -4"),
        ("game = 'leduc'\n[training]\nprune = 0", "prune = 0"),
        ("game = 'leduc'\n[training]\ndtype = 'float16'", "dtype 'float16'"),
        ("game = 'leduc'\n[training]\nweighting = 'cfr+'", "weighting"),
        ("game = 'leduc'\n[training]\ntraversal = 'cfr-bt'", "'cfr-bt'.*'cfr-br'"),
        ("game = 'leduc'\n[training]\ntraversal = 'pcs'\nprune = 300", "prune with traversal = 'pcs'"),
        ("game = 'leduc", "TOML"),
    ]:
        with pytest.raises(InputError, match=pattern):
            parse_train_recipe(text)
    with pytest.raises(InputError, match=r"presets: .*demo"):
        load_train_recipe("demon")


# Valid values of each entry; all others are rejected by its name.
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
def test_types_of_recipe_entries(entry, kind):
    table = {"game": "'leduc'"} | ({"training.prune": "300"} if entry == "training.prune_after" else {})
    text = "\n".join(f"{key} = {value}" for key, value in (table | {entry: VALUES[kind]}).items())
    if kind in ENTRIES[entry]:
        parse_train_recipe(text)
        return
    with pytest.raises(InputError, match=r"menu|game" if entry in ("menu", "game") else entry.split(".")[-1]) as caught:
        parse_train_recipe(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", presets())
def test_shipped_recipes_state_their_strength(name):
    strength = load_train_recipe(name).measured_strength
    assert re.search(r"\d ± \d|exactly", strength), strength
    assert "not measured" not in strength


def test_a_recipe_on_a_device():
    """Unsupported options are rejected by name."""
    plain = "game = 'leduc'\n[training]\nweighting = 'linear'\nperiod = 500_000\n"
    for fine in ("", "traversal = 'pcs'"):
        parse_train_recipe(plain + fine).check_device()
    for more, pattern in [
        ("prune = 300", "prune and runouts"),
        ("runouts = 8", "prune and runouts"),
        ("dtype = '16-bit'", "dtype = '16-bit'.*float32"),
        ("traversal = 'opcs'", "traversal = 'opcs'.*'external', 'pcs'"),
    ]:
        with pytest.raises(InputError, match=pattern):
            parse_train_recipe(plain + more).check_device()


def test_prune_after_needs_prune():
    with pytest.raises(InputError, match=r"prune_after = 5: .*prune = 300"):
        parse_train_recipe("game = 'leduc'\n[training]\nprune_after = 5")
    with pytest.raises(InputError, match="prune_after = 'x'"):
        parse_train_recipe("game = 'leduc'\n[training]\nprune_after = 'x'")


@pytest.mark.parametrize(
    "limits", [{"iterations": -1}, {"iterations": 0}, {"seconds": -1.0}, {"seconds": float("nan")}]
)
def test_limits_of_a_run(limits, tmp_path):
    with pytest.raises(InputError, match=f"{next(iter(limits))}="):
        training(tmp_path / "run").run(**limits)
