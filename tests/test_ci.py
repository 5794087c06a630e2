"""Workflows, lock file and pre-commit hooks agree with the Makefile and with pyproject.toml."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from tests.conftest import in_shard, parse_shard

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in ROOT.glob(".github/workflows/*.yml")
}
PYTHONS = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]
PLATFORMS = [
    {"os_name": os_name, "sys_platform": sys_platform, "platform_system": system, "platform_machine": machine}
    for os_name, sys_platform, system, machine in (
        ("posix", "linux", "Linux", "x86_64"),
        ("posix", "darwin", "Darwin", "arm64"),
        ("nt", "win32", "Windows", "AMD64"),
    )
]
ENVIRONMENTS = [
    {**platform, "python_version": python, "python_full_version": f"{python}.1", "extra": ""}
    for platform in PLATFORMS
    for python in PYTHONS
]


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for workflow, body in sorted(WORKFLOWS.items()):
        for name, job in body["jobs"].items():
            yield f"{workflow}.{name}", job


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def make_calls(text: str) -> list[str]:
    return re.findall(r"^\s*make ([a-z-]+)", text, re.MULTILINE)


def tool(name: str) -> str:
    """Find a tool of the environment that runs the tests."""
    result = shutil.which(name, path=str(Path(sys.executable).parent))
    assert result is not None, f"{name} is not in the environment: run `make .venv/.dev`"
    return result


def numba_requirement() -> Requirement:
    return next(r for r in map(Requirement, PROJECT["dependencies"]) if r.name == "numba")


# --- workflows ------------------------------------------------------------------------------------


def test_workflows_call_targets_that_exist() -> None:
    called = {target for _, job in jobs() for line in commands(job) for target in make_calls(line)}
    assert {"test", "test-smoke", "test-slow"} <= called <= TARGETS


def test_the_local_script_and_the_workflow_run_the_same_target() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert make_calls(script)[-1] == "test"
    assert commands(WORKFLOWS["test"]["jobs"]["test"])[-1] == "make test"


def test_the_matrix_has_the_python_versions_of_the_project() -> None:
    matrix = WORKFLOWS["test"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert sum("Operating System" in text for text in PROJECT["classifiers"]) == len(matrix["os"])


def test_the_matrix_has_the_oldest_and_the_newest_numba() -> None:
    """The bounds in pyproject.toml are the tested versions."""
    supported = numba_requirement().specifier
    rows = WORKFLOWS["test"]["jobs"]["numba"]["strategy"]["matrix"]["include"]
    oldest, newest = (Version(row["numba"].removesuffix(".*")) for row in rows)
    lowest = next(Version(s.version) for s in supported if s.operator == ">=")
    assert oldest.release == lowest.release[:2]
    assert str(newest) in supported
    assert f"{newest.major}.{newest.minor + 1}" not in supported
    assert all(row["python"] in PYTHONS for row in rows)


@pytest.mark.parametrize(("name", "job"), list(jobs()))
def test_jobs_are_bounded(name: str, job: dict[str, Any]) -> None:
    """Each ends below GitHub's limit of six hours, and installs from the lock file."""
    assert 0 < job["timeout-minutes"] <= 300
    caches = [step["with"]["cache-dependency-path"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert caches == ["requirements-dev.lock"]


@pytest.mark.parametrize("name", sorted(WORKFLOWS))
def test_workflows_are_read_only(name: str) -> None:
    assert WORKFLOWS[name]["permissions"] == {"contents": "read"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    assert WORKFLOWS[name]["concurrency"]["cancel-in-progress"]


def test_all_shards_are_run() -> None:
    job = WORKFLOWS["slow"]["jobs"]["slow"]
    shards = job["strategy"]["matrix"]["shard"]
    parts = int(job["steps"][-1]["env"]["SHARD"].rpartition("/")[2])
    assert shards == list(range(1, parts + 1))


def test_every_test_is_in_one_shard() -> None:
    names = [f"tests/test_a.py::test_it[{k}]" for k in range(400)]
    result = [[name for name in names if in_shard(name, (part, 8))] for part in range(1, 9)]
    assert sorted(name for part in result for name in part) == sorted(names)
    assert min(map(len, result)) > 25  # of 50 on average


@pytest.mark.parametrize("text", ["", "1", "0/8", "9/8", "a/8", "-1/8", "1/0"])
def test_invalid_shards(text: str) -> None:
    with pytest.raises(pytest.UsageError, match=re.escape(repr(text))):
        parse_shard(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("timeout-minutes", "timeout-minuts"),
        ("      - run: make test\n", "      - runs: make test\n"),
        ("runs-on: ${{ matrix.os }}", "runs_on: ${{ matrix.os }}"),
    ],
)
def test_the_linter_finds_mistakes(old: str, new: str, tmp_path: Path) -> None:
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "test.yml").write_text(text.replace(old, new), encoding="utf-8")
    line = [tool("check-jsonschema"), "-q", "--builtin-schema", "vendor.github-workflows", str(tmp_path / "test.yml")]
    assert subprocess.run(line, check=False, capture_output=True).returncode == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"@[0-9a-f]{40} # v", "@v"),  # a tag, which its owner can move
        ("make test\n", "echo ${{ github.head_ref }}\n"),  # untrusted input in a shell
        ("contents: read", "contents: write"),
    ],
)
def test_linter_finds_vulnerabilities(old: str, new: str, tmp_path: Path) -> None:
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    place = tmp_path / ".github" / "workflows"
    place.mkdir(parents=True)
    changed, count = re.subn(old, new, text)
    assert count > 0
    (place / "test.yml").write_text(changed, encoding="utf-8")
    line = [tool("zizmor"), "-q", "--offline", "--strict-collection", "--no-progress", str(place)]
    assert subprocess.run(line, check=False, capture_output=True).returncode >= 11  # 10 + severity of the worst


# --- the Makefile on Windows ------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["test", "tests", "style", "types", "test-slow", "demo", "lock", ".venv/.dev"])
def test_the_makefile_knows_the_environment_of_windows(target: str) -> None:
    """Nothing is run: GNU make prints its commands."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "PYTHON")
    }
    line = ["make", "-n", "-B", "-C", str(ROOT), "OS=Windows_NT", target]
    printed = subprocess.run(line, check=True, capture_output=True, text=True, encoding="utf-8", env=environment).stdout
    assert ".venv/Scripts/" in printed
    assert ".venv/bin" not in printed
    assert "python3" not in printed


# --- the lock file ----------------------------------------------------------------------------------


def lock_lines() -> list[str]:
    lines = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def locked(environment: dict[str, str]) -> dict[str, Version]:
    """Read the versions in the lock file for an environment."""
    result: dict[str, Version] = {}
    for line in lock_lines():
        pin = Requirement(line)
        if pin.marker is None or pin.marker.evaluate(environment):
            (exact,) = pin.specifier
            assert exact.operator == "=="
            name = canonicalize_name(pin.name)
            assert name not in result, f"{name} has two versions for {environment}"
            result[name] = Version(exact.version)
    return result


def wanted(extra: str) -> Iterator[Requirement]:
    """List the requirements of an extra, through the extras that it names."""
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        if requirement.name == PROJECT["name"]:
            for other in sorted(requirement.extras):
                yield from wanted(other)
        else:
            yield requirement


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: f"{e['sys_platform']}-{e['python_version']}")
def test_the_lock_file_satisfies_the_project(environment: dict[str, str]) -> None:
    pins = locked(environment)
    for requirement in (*map(Requirement, PROJECT["dependencies"]), *wanted("dev")):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            name = canonicalize_name(requirement.name)
            assert name in pins, f"{name} is not in the lock file: run `make lock`"
            assert pins[name] in requirement.specifier, f"{name} {pins[name]}: run `make lock`"


def test_the_lock_file_names_no_host() -> None:
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    assert re.findall(r"://|@|--(?:extra-)?index|--find-links|\bfile:", text) == []


# --- before a commit ----------------------------------------------------------------------------------


def test_hooks_call_the_tools_of_the_environment() -> None:
    """Versions come from the lock file: no hook fetches another copy of a tool."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    hooks = config["repos"][0]["hooks"]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert {target for hook in hooks for target in make_calls(hook["entry"])} == {"style", "types"} <= TARGETS
    assert all(make_calls(hook["entry"]) for hook in hooks)


def test_large_files_are_found(tmp_path: Path) -> None:
    large_files = runpy.run_path(str(ROOT / ".ci" / "large_files.py"))["large_files"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    shipped = tmp_path / "src" / "riverboat" / "agents" / "shipped"
    shipped.mkdir(parents=True)
    for name, size in (("small", 10), ("large", 5_000_001), ("not added", 5_000_001)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    shutil.copy(tmp_path / "large", shipped / "table.npy")
    subprocess.run(["git", "-C", str(tmp_path), "add", "small", "large", "src"], check=True)
    assert large_files(tmp_path) == ["large"]
