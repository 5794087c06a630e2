"""Folders from untrusted sources: no code runs, nothing outside is read, and there is no traceback.

Small genuine artifacts of every kind are altered in many ways, and signed again so that their checksums are right.
"""

import copy
import hashlib
import io
import json
import shutil
import sys

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.isomorphism import canonical_boards
from riverboat.core import artifacts
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.cluster.distributed import DistributedTrainer
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.mccfr.training import Training
from riverboat.strategies import files
from riverboat.strategies.blueprint import save_blueprint

RIGHT = {0, 2, 3, 4}  # exit codes: accepted or rejected
EVERY = 71  # one in this many alterations is tried; all of them in the slow test
BAD_VALUES = [
    None, True, -1, 0, 7, 10**30, 1e308, float("nan"), float("inf"), "", "x", "x" * 5000, "hostile:boom", "os:abort",
    "../../etc", "/etc/passwd", "\x1b[31mred", "[bold]", [], [1], {}, {"a": 1}, [[[[[[[[1]]]]]]]], "open_spiel:nfg_game",
    "kuhn", "checkpoint", "blueprint", "9" * 30, "@/etc/passwd",
]  # fmt: skip


# --- Genuine artifacts ---


def halves(rules):
    """A card abstraction of Leduc in which hands share buckets."""
    fine = lossless_abstraction(rules.board[1:], rules.deck)
    coarse = [np.arange(count)[None] // 2 for count in fine.counts]
    facts = {
        "method": "histogram",
        "unit": "bins",
        "cost": 0.5,
        "square": 0.25,
        "passes": 3,
        "seconds": 1.0,
        "threads": 1,
    }
    streets = tuple(
        StreetBuckets(
            int(c.max()) + 1, labels=c.astype(np.uint16), sizes=np.ones(int(c.max()) + 1),
            nearest=np.zeros(int(c.max()) + 1, np.int64), metadata=facts,
        )
        for c in coarse
    )  # fmt: skip
    return CardAbstraction(streets, fine.deals, fine.deck, name="halves", recipe={"about": "halves"})


def in_layers(rules):
    """A card abstraction of Leduc with public buckets."""
    public = PublicBuckets(np.arange(len(canonical_boards(1, rules.deck)[0])) % 3, 1, rules.deck)
    found = cluster_private(public, 1, lambda bucket, hands, weights: np.arange(len(hands)))
    first = lossless_abstraction(rules.board[1:], rules.deck).streets[0]
    streets = (first, StreetBuckets(int(found.first[-1]), found.labels, found.layer, first=found.first))
    return CardAbstraction(streets, rules.board[1:], rules.deck, public)


def trained(out):
    rules = read_game("leduc")
    run = Training(
        BlueprintTrainer(compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)),
        out,
        None,
        {"recipe": "x"},
    )
    run.start_or_resume(resume=False)
    run.run(iterations=64)
    return run


SPOT = (
    "solve", "spot", "--board", "2s3s5hJdQc", "--pot", 10, "--stack", 20, "--oop", "AA,KK", "--ip", "QQ,AA", "--bets", "50%",
)  # fmt: skip
TRAIN = """game = "leduc"\nabstraction = "lossless"\n"""


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    """Folders by kind."""
    from riverboat.cli import main

    home = tmp_path_factory.mktemp("genuine")

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main.main([str(a) for a in arguments])
        assert stopped.value.code == 0

    efg = home / "pennies.nfg"
    efg.write_text('NFG 1 R "pennies" { "a" "b" } { 2 2 }\n\n1 -1 -1 1 -1 1 1 -1\n')
    run("solve", "kuhn", "--method", "lp", "--out", home / "strategy")
    run("solve", "kuhn", "--schedule", "pcfr+", "--iterations", 20, "--out", home / "checkpoint")
    run("solve", "kuhn", "--traversal", "external", "--iterations", 20, "--out", home / "sampled")
    run("solve", efg, "--iterations", 20, "--out", home / "file")
    run(*SPOT, "--iterations", 20, "--out", home / "spot")
    files.save(files.load(home / "spot"), home / "solution")
    save_blueprint(random_blueprint("leduc"), home / "blueprint")
    trained(home / "training")
    shutil.rmtree(home / "training" / "strategy")
    rules = read_game("leduc")
    cards = halves(rules).save(home / "cards")
    save_blueprint(random_blueprint("leduc", cards=halves(rules), cards_path=cards), home / "with-cards")
    in_layers(rules).save(home / "public")
    (home / "leduc.toml").write_text(TRAIN)
    with DistributedTrainer(compile_action_tree(rules), in_layers(rules), blades=2) as head:
        head.step(64)
        head.save(home / "cluster")
    return home


def commands(kind, folder, home):
    """Return the commands that read a kind, and the artifact that they read first."""
    solved = [("show", folder), ("show", folder, "--json"), ("export", folder), ("exploitability", folder)]
    resume = ("--iterations", 25, "--out", folder, "--resume")
    recipe = home / "leduc.toml"
    act = ("act", folder, "MATCHSTATE:0:0::Ks|", "--json")
    table = {
        "strategy": [*solved, ("respond", folder)],
        "checkpoint": [*solved[:2], ("solve", "kuhn", "--schedule", "pcfr+", *resume)],
        "sampled": [("solve", "kuhn", "--traversal", "external", *resume)],
        "file": solved[2:],
        "spot": [solved[0], (*SPOT, *resume)],
        "solution": solved[1:],
        "blueprint": [solved[0], act, ("match", folder, "random", "--hands", 4)],
        "training": [
            solved[1], ("train", recipe, "--iterations", 128, "--out", folder, "--resume", "--threads", 1),
            ("train", recipe, "--iterations", 64, "--out", folder.parent / "begun", "--begin", folder, "--threads", 1),
        ],
        "cards": [
            *solved[:2], ("show", folder, "--hand", "Ks"), ("train", recipe, "--estimate", "--abstraction", folder),
        ],
        "public": [*solved[:2], ("show", folder, "--hand", "Ks", "--board", "Kh")],
        "with-cards": [solved[0], act],
    }  # fmt: skip
    return table[kind]


KINDS = (
    "strategy", "checkpoint", "sampled", "file", "spot", "solution", "blueprint", "training", "cards", "public", "with-cards",
)  # fmt: skip


# --- Alterations ---


def sign(place, manifest):
    """Write a manifest with the right checksums, also of its files."""
    body = json.dumps(manifest, indent=2, sort_keys=True)
    signed = {"manifest": manifest, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    (place / artifacts.MANIFEST).write_text(json.dumps(signed, indent=2, sort_keys=True))


def paths(entries, deep=4):
    """Yield the path of every entry of every table in a manifest, and of the first entry of lists."""
    for key in entries:
        yield (key,)
        inner = entries[key]
        if deep and isinstance(inner, dict):
            yield from ((key, *rest) for rest in paths(inner, deep - 1))
        elif deep and isinstance(inner, list) and inner:
            yield (key, 0)
            if isinstance(inner[0], dict):
                yield from ((key, 0, *rest) for rest in paths(inner[0], deep - 1))


def altered(manifest):
    """Yield manifests with one entry changed, and descriptions of the change."""
    for path in paths(manifest):
        for value in [KeyError, *BAD_VALUES]:
            found = copy.deepcopy(manifest)
            inner = found
            for key in path[:-1]:
                inner = inner[key]
            if value is KeyError:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            yield f"{'.'.join(map(str, path))} = {str(value)[:30]}", found


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def head(text):
    body = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body


def bad_arrays(array):
    """Yield file contents that replace an array."""
    flat = np.array(array)
    yield "empty file", b""
    yield "text", b"hello"
    yield "zip", b"PK\x03\x04" + bytes(100)
    yield "pickle", npy(np.array([{"a": 1}], dtype=object))
    yield "no head", head("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}")
    yield "negative shape", head("{'descr': '<f8', 'fortran_order': False, 'shape': (-5,)}") + bytes(80)
    yield "huge shape", head("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 4)}")
    yield "code", head("{'descr': __import__('os').abort(), 'fortran_order': False, 'shape': (3,)}")
    yield "deep", head("(" * 200 + ")" * 200)
    yield "not closed", head("{'descr': '<f8', 'fortran_order': False, 'shape': (3,")
    yield "extra data", npy(flat) + b"more"
    yield "truncated", npy(flat)[:-1]
    for dtype in (np.float16, np.complex128, ">f8", "S8", "U3", "M8[s]", np.int8, [("a", "f8")], bool):
        yield f"dtype {dtype}", npy(np.zeros(flat.shape, dtype))
    yield "shorter", npy(flat[:-1])
    yield "nothing", npy(flat[:0])
    yield "one more", npy(np.concatenate([flat, flat[:1]]))
    yield "a dimension more", npy(flat[None])
    yield "no dimension", npy(flat.reshape(-1)[0])
    if flat.ndim == 2:
        yield "column by column", npy(np.asfortranarray(flat))
    if flat.dtype.kind == "f":
        for value in (np.nan, np.inf, -np.inf, -1.0):
            yield f"all {value}", npy(np.full_like(flat, value))
        one = flat.copy()
        one.reshape(-1)[-1] = np.nan
        yield "one nan", npy(one)
    else:
        yield "greatest", npy(np.full_like(flat, np.iinfo(flat.dtype).max))
        yield "least", npy(np.full_like(flat, np.iinfo(flat.dtype).min))


def alterations(place):
    """Yield all alterations of an artifact: (name, function)."""
    manifest = json.loads((place / artifacts.MANIFEST).read_text())["manifest"]
    for name, changed in altered(manifest):
        yield name, lambda here, changed=changed: sign(here, changed)
    for file in manifest["files"]:
        bodies = [("empty", b""), ("no text", b"\xff\xfe\x00"), ("other text", b'ranges = "@/etc/passwd"')]
        if file.endswith(".npy"):
            bodies = bad_arrays(np.load(place / file))
        for name, body in bodies:

            def replace(here, file=file, body=body):
                (here / file).write_bytes(body)
                changed = copy.deepcopy(manifest)
                changed["files"][file] = {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
                sign(here, changed)

            yield f"{file}: {name}", replace

        def outside(here, file=file):
            shutil.copy(here / file, here.parent / "outside")
            (here / file).unlink()
            (here / file).symlink_to(here.parent / "outside")

        def moved(here, file=file):
            shutil.copy(here / file, here.parent / file)
            changed = copy.deepcopy(manifest)
            changed["files"][f"../{file}"] = changed["files"].pop(file)
            sign(here, changed)

        yield f"{file}: a link to elsewhere", outside
        yield f"{file}: elsewhere", moved
    for entries in ([], None, 3, {"a": []}, "x"):
        yield f"manifest {entries}", lambda here, entries=entries: sign(here, entries)
    for body in (
        b"",
        b"{}",
        b"[" * 100_000,
        b"\xff",
        b'{"manifest": ' + b"9" * 5000 + b"}",
        b'{"manifest": {}, "sha256": 3}',
    ):
        yield f"bytes {body[:20]}", lambda here, body=body: (here / artifacts.MANIFEST).write_bytes(body)


HOSTILE = "from pathlib import Path\nPath('ran').touch()\ndef boom():\n    Path('ran').touch()\n"


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A working folder with a module that leaves a trace if it is imported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hostile.py").write_text(HOSTILE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    assert "hostile" not in sys.modules
    assert not (tmp_path / "ran").exists()


def check(name, arguments, code, err):
    """Check for one line of output and a documented exit code."""
    told = f"{name}: {' '.join(map(str, arguments))}: exit code {code}\n{err[-2000:]}"
    assert code in RIGHT, told
    assert "Traceback" not in err, told
    if code:
        assert sum(line.startswith("error: ") for line in err.splitlines()) == 1, told
        assert all(line.isprintable() for line in err.splitlines()), told


def attack(kind, every, genuine, run, trap):
    """Try one in `every` alterations with each command that reads the kind; return how many were tried."""
    whole = genuine / kind
    inner = files.latest_artifact(whole).relative_to(whole)
    cases = list(alterations(whole / inner))
    tried = refused = 0
    for number, (name, alter) in enumerate(cases):
        if number % every:
            continue
        here = trap / "folder"
        shutil.copytree(whole, here)
        alter(here / inner)
        every_command = commands(kind, here, genuine)
        arguments = every_command[number // every % len(every_command)]
        code, _, err = run(*arguments)
        check(f"{kind}, {name}", arguments, code, err)
        tried, refused = tried + 1, refused + (code == 2)
        shutil.rmtree(here)
        shutil.rmtree(trap / "begun", ignore_errors=True)
    return tried, refused


@pytest.mark.parametrize("kind", KINDS)
def test_some_alterations(kind, genuine, run, trap):
    tried, refused = attack(kind, EVERY, genuine, run, trap)
    assert tried > 5
    assert refused > tried / 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_alterations(kind, genuine, run, trap):
    tried, refused = attack(kind, 1, genuine, run, trap)
    assert tried > 400
    assert refused > tried / 5  # many entries of a checkpoint only matter for --resume


def test_genuine_folders_are_read(genuine, run, trap):
    """Check that the genuine folders are accepted, otherwise the other tests would prove nothing."""
    for kind in KINDS:
        shutil.copytree(genuine / kind, trap / kind)
        for arguments in commands(kind, trap / kind, genuine):
            code, _, err = run(*arguments)
            assert code == 0, (arguments, err)


def test_parts_of_a_cluster(genuine, tmp_path):
    """Check a checkpoint of head and blades, which no command reads by itself."""
    from riverboat.core.errors import CorruptError, InputError

    rules, refused = read_game("leduc"), 0
    for part in ("head", "blade-0001"):
        cases = list(alterations(genuine / "cluster" / part))
        for _, alter in cases[::17]:
            here = tmp_path / "cluster"
            shutil.copytree(genuine / "cluster", here)
            alter(here / part)
            with DistributedTrainer(compile_action_tree(rules), in_layers(rules), blades=2) as solver:
                try:
                    solver.load(here)
                except (CorruptError, InputError):  # any other exception is an error
                    refused += 1
            shutil.rmtree(here)
            for stray in tmp_path.iterdir():
                stray.unlink()
    assert refused


# --- No code, and no files outside ---


@pytest.mark.parametrize("command", ["show", "export", "exploitability", "respond"])
@pytest.mark.parametrize("name", ["hostile:boom", "os:abort"])
def test_folder_cannot_name_code(command, name, genuine, run, trap):
    shutil.copytree(genuine / "strategy", trap / "s")
    place = files.latest_artifact(trap / "s")
    manifest = json.loads((place / artifacts.MANIFEST).read_text())["manifest"]
    sign(place, manifest | {"game": name, "rebuild": True})
    code, out, err = run(command, trap / "s")
    assert (code, out) == (2, "")
    assert "--game" in err
    assert run(command, trap / "s", "--game", "kuhn")[0] == 0  # typed by the user


def test_recipe_cannot_name_code(run, trap):
    (trap / "r.toml").write_text(TRAIN + '[training]\nweighting = "hostile:boom"\n')
    code, _, err = run("train", trap / "r.toml", "--estimate")
    assert code == 2
    assert "'hostile'" in err


def test_custom_game_must_be_named_again(run, tmp_path, monkeypatch):
    tree = 'EFG 2 R "t" { "a" "b" } p "" 1 1 "" { "l" "r" } 0 t "" 1 "" { 1, -1 } t "" 2 "" { -1, 1 }'
    (tmp_path / "mine.py").write_text(f"from riverboat.formats.gambit import loads_efg\ngame = loads_efg({tree!r})\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "run"
    assert run("solve", "mine:game", "--iterations", 20, "--out", out)[0] == 0
    code, _, err = run("show", out)
    assert code == 2
    assert "'mine:game'" in err
    for command in ("show", "export", "exploitability", "respond"):
        assert run(command, out, "--game", "mine:game")[0] == 0
    assert run("solve", "mine:game", "--iterations", 40, "--out", out, "--resume")[0] == 0
    code, _, err = run("show", out, "--game", "kuhn")
    assert code == 2
    assert "mine:game" in err or "kuhn" in err


def test_saved_spot_reads_no_range_file(genuine, run, trap):
    shutil.copytree(genuine / "solution", trap / "s")
    (trap / "range.txt").write_text("AA,KK")
    text = (trap / "s" / "game.toml").read_text()
    body = "\n".join(f'oop = "@{trap}/range.txt"' if line.startswith("oop") else line for line in text.splitlines())
    (trap / "s" / "game.toml").write_text(body)
    manifest = json.loads((trap / "s" / artifacts.MANIFEST).read_text())["manifest"]
    manifest["files"]["game.toml"] = {"bytes": len(body), "sha256": hashlib.sha256(body.encode()).hexdigest()}
    sign(trap / "s", manifest)
    code, _, err = run("show", trap / "s")
    assert code == 2
    assert "AA" not in err
    assert "range" in err


def test_abstraction_is_only_searched_next_to_the_blueprint(genuine, run, trap):
    """The path in a manifest is printed, not followed."""
    shutil.copytree(genuine / "with-cards", trap / "b")
    assert run("show", trap / "b")[0] == 0
    shutil.rmtree(trap / "b" / "cards")
    code, _, err = run("show", trap / "b")  # although the abstraction is still at the path of the manifest
    assert code == 2
    assert str(genuine / "cards") in err
    assert run("show", trap / "b", "--abstraction", genuine / "cards")[0] == 0
    (trap / "b" / "cards").symlink_to(genuine / "cards")
    assert run("show", trap / "b")[0] == 2


@pytest.mark.slow
def test_boards_that_are_done(run, tmp_path):
    """`boards.jsonl` is validated when --resume reads it."""
    (tmp_path / "list").write_text("2s3s5hJdQc\n2s3s5hJdQd\n")
    spot = ("solve", "spot", "--board", "2s3s5hJdQc", *SPOT[4:], "--iterations", 5)
    arguments = (*spot, "--boards", tmp_path / "list", "--out", tmp_path / "out", "--resume")
    assert run(*arguments)[0] == 0
    row = json.loads((tmp_path / "out" / "boards.jsonl").read_text().splitlines()[0])
    for name, changed in list(altered(row))[::13]:
        (tmp_path / "out" / "boards.jsonl").write_text(json.dumps(changed) + "\n")
        code, _, err = run(*arguments)
        check(name, arguments, code, err)
    (tmp_path / "out" / "boards.jsonl").write_text("[" * 5000 + "\n")
    assert run(*arguments)[0] == 2
