"""Experiments in pieces: each is made once, by whoever comes first, and never mixed with those of another recipe."""

from __future__ import annotations

import pytest

from riverboat.core.errors import InputError
from riverboat.papers.pieces import Pieces


class Bench:
    """Three pieces, and which of them were worked out."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def run(self, **how: object) -> list[float | None]:
        pieces = Pieces("trial", str(how.pop("recipe", "a")), **{"keep": True, **how})  # type: ignore[arg-type]
        self.note, out = "", []
        for value, name in enumerate("xyz"):

            def make(name: str = name, value: int = value) -> dict[str, object]:
                self.made.append(name)
                return {"figure": value, "pair": (value, -value)}

            figures = pieces.get(name, make)
            out.append(None if figures is None else float(figures["figure"]))
        self.note = pieces.note
        return out


@pytest.fixture
def bench(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr("riverboat.core.cache.folder", lambda: tmp_path)
    return Bench()


def test_parts_are_put_together(bench: Bench) -> None:
    assert bench.run(part=2) == [None, 1.0, None]
    assert "1 of 3" in bench.note
    assert "x (part=1)" in bench.note
    assert bench.run() == [0.0, 1.0, 2.0]
    assert bench.made == ["y", "x", "z"]
    with pytest.raises(InputError, match="part=9: there are pieces 1 … 3"):
        bench.run(part=9)
    assert len(bench.made) == 3


def test_an_interrupted_run_goes_on(bench: Bench) -> None:
    pieces = Pieces("trial", "a", keep=True)
    pieces.get("x", lambda: {"figure": 7.0})
    with pytest.raises(KeyboardInterrupt):
        pieces.get("y", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert bench.run() == [7.0, 1.0, 2.0]


def test_recipes_and_quick_runs_keep_apart(bench: Bench) -> None:
    bench.run()
    bench.run(recipe="b")
    bench.run(keep=False)
    assert bench.made == list("xyz") * 3
    with pytest.raises(InputError, match="part=-1"):
        Pieces("trial", "a", keep=True, part=-1)
