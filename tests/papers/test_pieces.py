"""Long experiments in parts: each part is computed once, and never mixed with those of another cache key."""

from __future__ import annotations

import pytest

from riverboat.core.errors import InputError
from riverboat.papers.framework import ExperimentParts


class Bench:
    """Three parts, and a list of those that were computed."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def run(self, **options: object) -> list[float | None]:
        parts = ExperimentParts("trial", str(options.pop("recipe", "a")), **{"use_cache": True, **options})  # type: ignore[arg-type]
        self.note, out = "", []
        for value, name in enumerate("xyz"):

            def make(name: str = name, value: int = value) -> dict[str, object]:
                self.made.append(name)
                return {"figure": value, "pair": (value, -value)}

            figures = parts.get_or_compute(name, make)
            out.append(None if figures is None else float(figures["figure"]))
        self.note = parts.note
        return out


@pytest.fixture
def bench(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr("riverboat.core.cache.cache_folder", lambda: tmp_path)
    return Bench()


def test_parts_are_combined(bench: Bench) -> None:
    assert bench.run(part=2) == [None, 1.0, None]
    assert "1 of 3" in bench.note
    assert "x (part=1)" in bench.note
    assert bench.run() == [0.0, 1.0, 2.0]
    assert bench.made == ["y", "x", "z"]
    with pytest.raises(InputError, match=r"part=9\b.*\b3\b"):
        bench.run(part=9)
    assert len(bench.made) == 3


def test_an_interrupted_run_resumes(bench: Bench) -> None:
    parts = ExperimentParts("trial", "a", use_cache=True)
    parts.get_or_compute("x", lambda: {"figure": 7.0})
    with pytest.raises(KeyboardInterrupt):
        parts.get_or_compute("y", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert bench.run() == [7.0, 1.0, 2.0]


def test_cache_keys_and_quick_runs_are_separate(bench: Bench) -> None:
    bench.run()
    bench.run(recipe="b")
    bench.run(use_cache=False)
    assert bench.made == list("xyz") * 3
    with pytest.raises(InputError, match="part=-1"):
        ExperimentParts("trial", "a", use_cache=True, part=-1)
