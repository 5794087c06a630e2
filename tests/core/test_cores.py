"""Processors and memory available to a process: affinity, and limits of control groups in simulated files."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from riverboat.core import resources

SOURCES = sorted((Path(__file__).parents[2] / "src" / "riverboat").rglob("*.py"))


def system(root: Path, groups: str, **files: str) -> Path:
    """Make the files of a system: the groups of the process, and their files (`__` is a slash)."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name.replace("_", ".", 1)).write_text(text + "\n")
    return root


QUOTAS = {
    "none": ("0::/\n", {"cpu_max": "max 100000"}, None),
    "two and a half": ("0::/\n", {"cpu_max": "250000 100000"}, 2.5),
    "its own": ("0::/a/b\n", {"a__b__cpu_max": "50000 100000", "cpu_max": "max 100000"}, 0.5),
    "that of its parent": ("0::/a/b\n", {"a__b__cpu_max": "800000 100000", "a__cpu_max": "150000 50000"}, 3.0),
    "version 1": ("3:cpu,cpuacct:/\n", {"cpu__cpu_cfs_quota_us": "150000", "cpu__cpu_cfs_period_us": "100000"}, 1.5),
    "version 1, none": ("3:cpu:/\n", {"cpu__cpu_cfs_quota_us": "-1", "cpu__cpu_cfs_period_us": "100000"}, None),
    "version 1, elsewhere": (
        "3:cpu,cpuacct:/docker/123\n0::/docker/123\n",
        {"cpu__cpu_cfs_quota_us": "400000", "cpu__cpu_cfs_period_us": "100000"},
        4.0,
    ),
    "nonsense": (
        "0::/\n3:cpu:/\n",
        {"cpu_max": "x", "cpu__cpu_cfs_quota_us": "1", "cpu__cpu_cfs_period_us": "0"},
        None,
    ),
    "outside": ("0::/../../..\n", {"cpu_max": "100000 100000"}, 1.0),
    "no groups": ("", {"cpu_max": "100000 100000"}, None),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_quotas_of_containers(tmp_path: Path, name: str) -> None:
    groups, files, quota = QUOTAS[name]
    assert resources.cpu_quota(system(tmp_path, groups, **files)) == quota


def test_a_system_without_groups(tmp_path: Path) -> None:
    assert (resources.cpu_quota(tmp_path), resources.cgroup_memory_left(tmp_path)) == (None, None)


@pytest.mark.parametrize(
    ("quota", "scheduled", "expected"), [(None, 8, 8), (2.5, 8, 3), (0.1, 8, 1), (16.0, 8, 8), (3.0, 1, 1)]
)
def test_cores_are_limited_by_quota_and_affinity(
    monkeypatch: pytest.MonkeyPatch, quota: float | None, scheduled: int, expected: int
) -> None:
    monkeypatch.setattr(resources, "cpu_quota", lambda: quota)
    monkeypatch.setattr(os, "process_cpu_count", lambda: scheduled, raising=False)
    assert resources.available_cores() == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_affinity_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "cpu_quota", lambda: None)
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert resources.available_cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert resources.available_cores() == len(before)


MEMORY = {
    "none": ("0::/\n", {"memory_max": "max", "memory_current": "5"}, None),
    "version 2": ("0::/\n", {"memory_max": "1000", "memory_current": "700"}, 300),
    "reclaimable files": (
        "0::/a\n",
        {"a__memory_max": "1000", "a__memory_current": "700", "a__memory_stat": "anon 3\ninactive_file 200\n"},
        500,
    ),
    "that of its parent": (
        "0::/a/b\n",
        {"a__b__memory_max": "max", "a__b__memory_current": "10", "a__memory_max": "1000", "a__memory_current": "990"},
        10,
    ),
    "beyond": ("0::/\n", {"memory_max": "1000", "memory_current": "1700"}, 0),
    "version 1": (
        "4:memory:/\n",
        {
            "memory__memory_limit_in_bytes": "1000",
            "memory__memory_usage_in_bytes": "600",
            "memory__memory_stat": "inactive_file 900\ntotal_inactive_file 100\n",
        },
        500,
    ),
    "version 1, none": (
        "4:memory:/\n",
        {"memory__memory_limit_in_bytes": "9223372036854771712", "memory__memory_usage_in_bytes": "600"},
        None,
    ),
}


@pytest.mark.parametrize("name", MEMORY)
def test_memory_of_containers(tmp_path: Path, name: str) -> None:
    groups, files, left = MEMORY[name]
    assert resources.cgroup_memory_left(system(tmp_path, groups, **files)) == left


def test_free_memory_is_the_smaller_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_read_meminfo", lambda: 1000)
    for left, expected in ((None, 1000), (300, 300), (5000, 1000)):
        monkeypatch.setattr(resources, "cgroup_memory_left", lambda left=left: left)
        assert resources._read_available_memory() == expected
    monkeypatch.setattr(resources, "_read_meminfo", lambda: None)
    monkeypatch.setattr(resources, "cgroup_memory_left", lambda: None)
    assert resources._read_available_memory() is None


def test_only_one_module_counts_processors() -> None:
    functions = ("cpu_count", "process_cpu_count", "sched_getaffinity")
    found = {
        path.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute | ast.alias)
        and (node.attr if isinstance(node, ast.Attribute) else node.name) in functions
    }
    assert found == {"resources.py"}
