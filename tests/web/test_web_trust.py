"""Requests, jobs and files never decide which code runs or which files outside the data folder are opened.

The hostile specs are tried in every string of every route of the schema, so that new routes are covered automatically. An
audit hook of the interpreter sees every import and every opened file.
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

from browsing import PATIENCE
from random_blueprints import random_blueprint
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import OPTIONS, UNTRUSTED_MAXIMA, UNTRUSTED_OPTIONS, SpecOrigin, file_origin, parse_agent
from riverboat.core import plugins
from riverboat.core.errors import InputError
from riverboat.practice.session import PracticeSession
from riverboat.strategies.blueprint import save_blueprint
from riverboat.web.application import create_application
from riverboat.web.data_folder import DataFolder
from riverboat.web.jobs.queue import FAILED, STOPPED, JobQueue, SolveJob
from riverboat.web.server import Server
from web.test_web import SPOT, Client
from web.test_web_jobs import RIVER

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
    """A folder next to the data folder with a module, rules and a blueprint that must not be imported or opened."""
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
    """Return specs that name code, files, folders or other agents."""
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


# --- Requests ---


def _strings(schema: Any, spec: dict[str, Any]) -> list[str]:
    """Return the names of string fields of a body."""
    if "$ref" in schema:
        schema = spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    found = []
    for name, entry in schema.get("properties", {}).items():
        kinds = [entry, *entry.get("anyOf", [])]
        if any(kind.get("type") == "string" and "enum" not in kind for kind in kinds):
            found.append(name)
    return found


def requests(server: Server, texts: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every route with each text in each of its strings, and valid values in the others."""
    plain = {
        "agent": "default",
        "source": "mine",
        "run": "mine",
        "judge": "mine",
        "spot": SPOT,
        "player": "p",
        "hand": 1,
    }
    spec = create_application(server).openapi()
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


def test_strings_of_requests_are_harmless(data: DataFolder, trap: Path) -> None:
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
def test_rejected_sessions_write_nothing(text: str, data: DataFolder, trap: Path) -> None:
    client = Client(Server(data.root, memory=1 << 20))
    assert client("POST", "/api/play/sittings", json={"agent": text}).status_code == 400
    assert not (data.root / ".practice" / "sittings").glob("*.json") or not list(
        data.root.glob(".practice/sittings/*.json")
    )


# --- Parser of specs ---

PIECES = st.sampled_from(
    ["default", "demo", "mine", "always-call", f"{MODULE}:Agent", "os:abort", "../outside/blueprint", "secret.rules", "",
     "?", "&", "=", ":", ",", "switch:", "hedge:", "exploit", "known", "opponent", "memory", "endgames", "abstraction",
     "search", "river", "purify", "seed", "1", "threads", "9999999", "time", "9h"]
)  # fmt: skip


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=9).map("".join))
def test_specs_of_requests_are_safe_or_rejected(data: DataFolder, trap: Path, text: str) -> None:
    for origin in (SpecOrigin("a request", find=data.run_folder), file_origin("session.json")):
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


def test_options_for_trusted_users_only() -> None:
    """New options must be classified here: whether a request may set them."""
    assert set(OPTIONS) - set(UNTRUSTED_OPTIONS) == {"abstraction", "memory", "endgames", "opponent"}
    assert set(UNTRUSTED_OPTIONS) <= set(OPTIONS)
    request = SpecOrigin("a request")
    for key, most in UNTRUSTED_MAXIMA.items():
        head = "default?exploit=dbbr" if key in ("every", "work") else "default?search=river"
        parse_agent(f"{head}&{key}={most}", request)
        parse_agent(f"{head}&{key}={most + 1}")  # typed by a person
        with pytest.raises(InputError, match=key):
            parse_agent(f"{head}&{key}={most + 1}", request)
    with pytest.raises(InputError, match="time"):
        parse_agent("default?search=river&time=2h", request)


def test_trusted_users_may_name_code_paths_and_agents(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_agent(f"{MODULE}:Agent?mood=calm").arguments == {"mood": "calm"}
    spec = parse_agent("switch:always-call,blueprint?exploit=known&opponent=secret.rules")
    assert [part.kind for part in spec.parts] == ["baseline", "blueprint"]
    assert spec.parts[1].parts[0].kind == "rules"
    monkeypatch.setattr(plugins, "_forbidden", None)
    plugins.forbid_imports("the server")
    with pytest.raises(InputError, match="the server"):
        make_agent(f"{MODULE}:Agent")  # a second safeguard: the server process imports nothing by name


# --- Files ---


def test_session_files_cannot_name_code(tmp_path: Path, trap: Path) -> None:
    path = tmp_path / "evening.json"
    PracticeSession.begin(path, "always-call", seed=3)
    good = json.loads(path.read_text())
    for text in hostile(trap):
        path.write_text(json.dumps(good | {"agent": text}))
        with pytest.raises(InputError):
            PracticeSession.open(path)
    path.write_text(json.dumps(good))
    assert PracticeSession.open(path).table.hands == 0
    with pytest.raises(InputError, match="always-call"):
        PracticeSession.open(path, "always-raise")


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
def test_foreign_jobs_are_shown_but_never_started(name: str, data: DataFolder, trap: Path) -> None:
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
    jobs = JobQueue(data, max_running=1, memory=1 << 30)
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
def test_malformed_job_files_are_ignored(entries: dict[str, Any], data: DataFolder) -> None:
    notes = data.root / ".jobs" / "river"
    notes.mkdir(parents=True)
    (notes / "job.json").write_text(json.dumps(JOB | entries))
    jobs = JobQueue(data, max_running=1, memory=1 << 30)
    assert all(one.state == FAILED for one in jobs.list_jobs())


def _started(data: DataFolder, spot: str) -> SolveJob:
    jobs = JobQueue(data, max_running=1, memory=1 << 30)
    jobs.submit(spot, SolveJob("river", "spot", {"threads": 1, "iterations": 1}, 1))
    jobs.close()
    return jobs.get("river")


def test_job_spots_read_no_other_file(data: DataFolder, trap: Path) -> None:
    job = _started(data, RIVER.replace('"66+,AK"', f'"@{trap}/secret.rules"'))
    assert (job.state, "spot.toml" in job.message) == (FAILED, True)


@pytest.mark.parametrize("file", ["said.txt", "result.json", "log.jsonl"])
def test_jobs_do_not_follow_links(file: str, data: DataFolder, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("dear diary")
    notes = data.root / ".jobs" / "river"
    notes.mkdir(parents=True)
    (notes / file).symlink_to(tmp_path / "mine.txt")
    (notes / "spot.toml").write_text(RIVER)
    (notes / "job.json").write_text(json.dumps(JOB))
    jobs = JobQueue(data, max_running=1, memory=1 << 30)
    assert jobs.resume("river", {}).state == FAILED
    assert file in jobs.get("river").message
    assert (tmp_path / "mine.txt").read_text() == "dear diary"


def test_jobs_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text(
        "open('ran', 'w').close()\n"
    )  # a module with the name of one of the standard library
    data = tmp_path / "data"
    script = (
        "import os, sys, time\n"
        "from riverboat.web.data_folder import DataFolder\n"
        "from riverboat.web.jobs.queue import JobQueue, SolveJob\n"
        "os.chdir(sys.argv[1]); jobs = JobQueue(DataFolder('data'), max_running=1, memory=1 << 30)\n"
        "jobs.submit(sys.argv[2], SolveJob('river', 'spot', {'threads': 1, 'iterations': 1}, 1))\n"
        "while jobs.get('river').state in ('queued', 'running'): time.sleep(0.02)\n"
        "print(jobs.get('river').state, jobs.get('river').message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(tmp_path), RIVER], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.split()[0] in ("done", "missed"), done.stdout + done.stderr
    assert data.is_dir()
    assert not (tmp_path / "ran").exists()
