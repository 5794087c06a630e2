"""Requests, jobs and files never decide which code runs or which files outside the data folder are opened.

The hostile specs go into every string of every route, as the schema lists them, so that a new route is tried by being there.
Whatever is imported or opened on the way is seen by an audit hook of the interpreter.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interfaces.test_web import SPOT, Client
from interfaces.test_web_jobs import RIVER
from random_blueprints import random_blueprint
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import CAPS, OPEN_OPTIONS, OPTIONS, Origin, from_file, parse_agent
from riverboat.core import plugins
from riverboat.core.errors import InputError
from riverboat.practice.session import Sitting
from riverboat.strategies.blueprint import save_blueprint
from riverboat.web.application import application
from riverboat.web.data_folder import DataFolder
from riverboat.web.jobs.queue import FAILED, STOPPED, Job, Jobs
from riverboat.web.server import Server

MODULE = "hostile_module"
watching: list[tuple[str, str]] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if watching is not None and event in (
        "import",
        "open",
        "os.listdir",
        "os.scandir",
        "os.system",
        "subprocess.Popen",
    ):
        watching.append((event, str(arguments[0])))


sys.addaudithook(_audit)


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder beside the data folder with a module, rules and a blueprint: nobody may import or open any of it."""
    global watching
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / f"{MODULE}.py").write_text("raise SystemExit('ran')\n")
    (outside / "secret.rules").write_text("preflop: call\n")
    save_blueprint(random_blueprint("leduc"), outside / "blueprint")
    monkeypatch.syspath_prepend(str(outside))
    monkeypatch.chdir(outside)
    watching = []
    try:
        yield outside
    finally:
        seen, watching = watching, None
    assert [what for what in seen if MODULE in what[1]] == []
    assert [what for what in seen if what[0] != "import" and f"{outside}/" in what[1]] == []
    assert [what for what in seen if what[0] in ("os.system", "subprocess.Popen")] == []


def hostile(outside: Path) -> list[str]:
    """Specs that name code, files, folders or other agents."""
    nested = [
        f"{MODULE}:Agent",
        "os:abort",
        f"{outside}/secret.rules",
        "secret.rules",
        f"{outside}/blueprint",
        "../outside/blueprint",
    ]
    return [
        *nested,
        *(f"default?exploit=known&opponent={one}" for one in nested),
        *(f"{kind}:always-call,{one}" for kind in ("switch", "hedge") for one in nested),
        *(f"default?{key}={outside}/blueprint" for key in ("endgames", "abstraction")),
        f"default?exploit=dbbr&memory={outside}/memory",
        f"mine?abstraction={outside}/blueprint",
        f"push:{outside}/blueprint",
        f"acpc:{MODULE}",
    ]


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data")
    save_blueprint(random_blueprint("leduc"), folder.root / "mine")
    return folder


# --- requests -------------------------------------------------------------------------------------


def _strings(schema: Any, spec: dict[str, Any]) -> list[str]:
    """Names of the entries of a body that take a string."""
    if "$ref" in schema:
        schema = spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    found = []
    for name, entry in schema.get("properties", {}).items():
        kinds = [entry, *entry.get("anyOf", [])]
        if any(kind.get("type") == "string" and "enum" not in kind for kind in kinds):
            found.append(name)
    return found


def requests(server: Server, texts: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every route with each text in each of its strings, the others filled with something that passes."""
    plain = {
        "agent": "default",
        "source": "mine",
        "run": "mine",
        "judge": "mine",
        "spot": SPOT,
        "player": "p",
        "hand": 1,
    }
    spec = application(server).openapi()
    for path, methods in spec["paths"].items():
        for method, about in methods.items():
            if method == "delete" or path.endswith("events"):
                continue
            body = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            query = [one for one in about.get("parameters", []) if one["in"] == "query"]
            names = [one["name"] for one in query if "enum" not in one["schema"]]
            filled = re.sub(r"\{\w+\}", "mine", path)
            needed = {one["name"]: plain.get(one["name"], "x") for one in query if one.get("required")}
            for text in texts:
                for name in names:
                    yield method, filled, {"params": needed | {name: text}, "json": {} if method == "post" else None}
                for name in _strings(body, spec) if body else ():
                    others = {"agent": "default"} if name in ("state", "line") else {}
                    yield method, filled, {"params": needed, "json": others | {name: text}}


def test_no_string_of_any_route_runs_code_or_leaves_the_data_folder(data: DataFolder, trap: Path) -> None:
    server = Server(data.root, memory=1 << 20)  # no job fits
    client, asked, codes = Client(server), 0, set()
    for method, path, more in requests(server, hostile(trap)):
        answer = client(method.upper(), path, **{key: value for key, value in more.items() if value is not None})
        assert answer.status_code < 500, (method, path, more, answer.text)
        codes.add(answer.status_code)
        asked += 1
    assert asked > 500
    assert 400 in codes
    server.close()


@pytest.mark.parametrize(
    "text", ["default?exploit=known&opponent=os:abort", "os:abort", "default?exploit=dbbr&memory=there"]
)
def test_a_session_is_refused_before_anything_is_made(text: str, data: DataFolder, trap: Path) -> None:
    client = Client(Server(data.root, memory=1 << 20))
    assert client("POST", "/api/play/sittings", json={"agent": text}).status_code == 400
    assert not (data.root / ".practice" / "sittings").glob("*.json") or not list(
        data.root.glob(".practice/sittings/*.json")
    )


# --- one function decides -------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["default", "demo", "mine", "always-call", f"{MODULE}:Agent", "os:abort", "../outside/blueprint", "secret.rules", "",
     "?", "&", "=", ":", ",", "switch:", "hedge:", "exploit", "known", "opponent", "memory", "endgames", "abstraction",
     "search", "river", "purify", "seed", "1", "threads", "9999999", "time", "9h"]
)  # fmt: skip


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=9).map("".join))
def test_any_text_from_a_request_is_a_safe_spec_or_an_error(data: DataFolder, trap: Path, text: str) -> None:
    for origin in (Origin("a request", find=data.run), from_file("session.json")):
        try:
            spec = parse_agent(text, origin)
        except InputError:
            continue
        assert spec.kind in ("baseline", "blueprint", "solution")
        assert spec.parts == ()
        assert spec.arguments == {}
        assert (spec.blueprint.abstraction, spec.blueprint.endgames) == (None, None)
        assert spec.blueprint.learn is None or (spec.blueprint.learn.memory, spec.blueprint.learn.opponent) == (
            None,
            "",
        )
        assert spec.target in ("default", "demo", "always-call", str(data.root / "mine"))


def test_what_only_a_person_may_set() -> None:
    """Whoever adds an option decides here whether a request may have it."""
    assert set(OPTIONS) - set(OPEN_OPTIONS) == {"abstraction", "memory", "endgames", "opponent"}
    assert set(OPEN_OPTIONS) <= set(OPTIONS)
    request = Origin("a request")
    for key, most in CAPS.items():
        head = "default?exploit=dbbr" if key in ("every", "work") else "default?search=river"
        parse_agent(f"{head}&{key}={most}", request)
        parse_agent(f"{head}&{key}={most + 1}")  # typed by a person
        with pytest.raises(InputError, match=key):
            parse_agent(f"{head}&{key}={most + 1}", request)
    with pytest.raises(InputError, match="time"):
        parse_agent("default?search=river&time=2h", request)


def test_a_person_may_name_code_paths_and_agents(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_agent(f"{MODULE}:Agent?mood=calm").arguments == {"mood": "calm"}
    spec = parse_agent("switch:always-call,blueprint?exploit=known&opponent=secret.rules")
    assert [part.kind for part in spec.parts] == ["baseline", "blueprint"]
    assert spec.parts[1].parts[0].kind == "rules"
    monkeypatch.setattr(plugins, "_forbidden", None)
    plugins.forbid("the server")
    with pytest.raises(InputError, match="the server"):
        make_agent(f"{MODULE}:Agent")  # a second door: nothing is imported by name in such a process


# --- files ----------------------------------------------------------------------------------------


def test_a_session_file_does_not_say_which_code_runs(tmp_path: Path, trap: Path) -> None:
    path = tmp_path / "evening.json"
    Sitting.begin(path, "always-call", seed=3)
    good = json.loads(path.read_text())
    for text in hostile(trap):
        path.write_text(json.dumps(good | {"agent": text}))
        with pytest.raises(InputError):
            Sitting.open(path)
    path.write_text(json.dumps(good))
    assert Sitting.open(path).table.hands == 0
    with pytest.raises(InputError, match="always-call"):
        Sitting.open(path, "always-raise")


JOB = {"name": "river", "kind": "spot", "options": {}, "bytes": 1, "state": STOPPED, "created": 1.0}
OTHERS = {
    "schedule": f"{MODULE}:x",
    "log": "elsewhere.jsonl",
    "out": "elsewhere",
    "plot": "elsewhere.png",
    "cards": "elsewhere",
    "boards": "/etc/hostname",
    "threads": "4; rm",
    "until": "x",
    "time": "-1",
    "dtype": "object",
    "line": ["--log=elsewhere"],
    "keep": "yes",
    "game": f"{MODULE}:Game",
    "memory": "900GB",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_job_of_somebody_else_is_shown_and_never_started(name: str, data: DataFolder, trap: Path) -> None:
    notes = data.root / ".jobs" / "river"
    notes.mkdir(parents=True)
    (notes / "spot.toml").write_text(RIVER)
    job = {
        "name": "river",
        "kind": "spot",
        "options": {"threads": 1, name: OTHERS[name]},
        "bytes": 1,
        "state": "stopped",
        "created": 1.0,
    }
    (notes / "job.json").write_text(json.dumps(job))
    jobs = Jobs(data, most=1, memory=1 << 30)
    assert jobs.get("river").state == FAILED
    assert name in jobs.get("river").message
    with pytest.raises(InputError, match=name):
        jobs.resume("river", {})
    with pytest.raises(InputError, match=name):
        jobs.resume("river", {name: OTHERS[name]})
    jobs.close()


@pytest.mark.parametrize(
    "entries",
    [
        {"created": "now"},
        {"bytes": None},
        {"state": "dancing"},
        {"facts": []},
        {"options": "x"},
        {"name": "../x"},
        {"kind": "x"},
    ],
)
def test_a_job_file_of_other_types_stops_nobody(entries: dict[str, Any], data: DataFolder) -> None:
    notes = data.root / ".jobs" / "river"
    notes.mkdir(parents=True)
    (notes / "job.json").write_text(json.dumps(JOB | entries))
    jobs = Jobs(data, most=1, memory=1 << 30)
    assert all(one.state == FAILED for one in jobs.all())


def _started(data: DataFolder, spot: str) -> Job:
    jobs = Jobs(data, most=1, memory=1 << 30)
    jobs.submit(spot, Job("river", "spot", {"threads": 1, "iterations": 1}, 1))
    jobs.close()
    return jobs.get("river")


def test_a_spot_of_a_job_reads_no_other_file(data: DataFolder, trap: Path) -> None:
    job = _started(data, RIVER.replace('"66+,AK"', f'"@{trap}/secret.rules"'))
    assert (job.state, "spot.toml" in job.message) == (FAILED, True)


@pytest.mark.parametrize("file", ["said.txt", "result.json", "log.jsonl"])
def test_a_job_writes_through_no_link(file: str, data: DataFolder, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("dear diary")
    notes = data.root / ".jobs" / "river"
    notes.mkdir(parents=True)
    (notes / file).symlink_to(tmp_path / "mine.txt")
    (notes / "spot.toml").write_text(RIVER)
    (notes / "job.json").write_text(json.dumps(JOB))
    jobs = Jobs(data, most=1, memory=1 << 30)
    assert jobs.resume("river", {}).state == FAILED
    assert file in jobs.get("river").message
    assert (tmp_path / "mine.txt").read_text() == "dear diary"


def test_a_job_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("open('ran', 'w').close()\n")  # what the standard library would be taken for
    data = tmp_path / "data"
    script = (
        "import os, sys, time\n"
        "from riverboat.web.data_folder import DataFolder\n"
        "from riverboat.web.jobs.queue import Job, Jobs\n"
        "os.chdir(sys.argv[1]); jobs = Jobs(DataFolder('data'), most=1, memory=1 << 30)\n"
        "jobs.submit(sys.argv[2], Job('river', 'spot', {'threads': 1, 'iterations': 1}, 1))\n"
        "while jobs.get('river').state in ('queued', 'running'): time.sleep(0.02)\n"
        "print(jobs.get('river').state, jobs.get('river').message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(tmp_path), RIVER], capture_output=True, text=True, timeout=100
    )
    assert done.stdout.split()[0] in ("done", "missed"), done.stdout + done.stderr
    assert data.is_dir()
    assert not (tmp_path / "ran").exists()
