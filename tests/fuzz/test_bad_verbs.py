"""Invalid arguments of the library's verbs: a one-line error of ours, whatever the argument."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import riverboat as rb

NO_NUMBER = (-1, 2**70, 1.5, float("nan"), "three", [], True, object())
NO_AMOUNT = (-1, float("nan"), "soon", [], True, object())
NO_TEXT = ("no such thing", "two\nlines", "x" * 5000, "\0", 7, [], object())
NO_PATH = ("", "x" * 5000, "\0", 7, [], object())
NO_AGENT = (*NO_TEXT, None)

# Each verb with valid arguments, and invalid ones by option; the first argument is positional.
VERBS: dict[str, tuple[tuple[Any, ...], dict[str, Any], dict[str | int, tuple[Any, ...]]]] = {
    "abstract": (("tiny", "out"), {}, {0: (*NO_TEXT, None), 1: NO_PATH, "threads": (0, *NO_NUMBER, None)}),
    "train": (
        ("leduc.toml",),
        {"out": "out", "iterations": 64},
        {
            0: (*NO_TEXT, None),
            "out": (*NO_PATH, None),
            "abstraction": NO_TEXT,
            "time": NO_AMOUNT,
            "iterations": NO_NUMBER,
            "threads": (0, *NO_NUMBER, None),
            "seed": (*NO_NUMBER, None),
            "mode": (*NO_TEXT, None),
            "check_seconds": (*NO_AMOUNT, None),
            "checkpoint_seconds": (*NO_AMOUNT, None),
            "cluster": ("two\nlines", 7, [], object()),
            "blades": (0, *NO_NUMBER),
            "device": (*NO_TEXT, None),
        },
    ),
    "match": (
        ("always-call", "always-fold"),
        {"hands": 4},
        {
            0: NO_AGENT,
            1: NO_AGENT,
            "hands": (0, *NO_NUMBER, None),
            "seed": (*NO_NUMBER, None),
            "game": NO_TEXT,
            "threads": (0, *NO_NUMBER, None),
            "workers": (0, *NO_NUMBER, None),
            "worst": (*NO_NUMBER, None),
            "thin": (*NO_TEXT, "fifth"),
            "until_settled": ((1, 0), (0,), "close", (float("nan"), 1), 5),
        },
    ),
    "respond": (("kuhn",), {}, {0: (*NO_TEXT, None), "player": (2, *NO_NUMBER), "out": NO_PATH}),
    "exploit": (("kuhn",), {"p": 0.5}, {0: (*NO_TEXT, None), "player": (2, *NO_NUMBER), "p": (None, 2, *NO_AMOUNT)}),
    "play": (("always-call",), {}, {0: NO_AGENT, "seed": (*NO_NUMBER, None), "game": NO_TEXT}),
    "agent": (("always-call",), {}, {0: NO_AGENT, "seed": (*NO_NUMBER, None)}),
    "sweep": (
        ("kuhn",),
        {"iterations": 2},
        {
            0: (*NO_TEXT, None),
            "schedules": (*NO_TEXT, None),
            "seeds": (0, *(x for x in NO_NUMBER if x is not True), None),
            "traversal": (*NO_TEXT, None),
            "iterations": NO_NUMBER,
            "time": NO_AMOUNT,
            "until": (0, *NO_AMOUNT),
            "workers": (0, *NO_NUMBER, None),
        },
    ),
}


def cases() -> Iterator[tuple[str, str | int]]:
    return ((verb, option) for verb, (_, _, wrong) in VERBS.items() for option in wrong)


@pytest.mark.parametrize(("verb", "option"), list(cases()))
def test_verbs_reject_invalid_arguments(verb: str, option: str | int, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leduc.toml").write_text("game = 'leduc'\n", encoding="utf-8")
    if verb in ("respond", "exploit"):
        rb.save(rb.Strategy.uniform(rb.compile_game(rb.game("kuhn"))), "kuhn")
    before = sorted(tmp_path.rglob("*"))
    right, options, wrong = VERBS[verb]
    for value in wrong[option]:
        given = list(right)
        if isinstance(option, int):
            given[option] = value
        more = options if isinstance(option, int) else {**options, option: value}
        with pytest.raises(rb.RiverboatError) as error:
            getattr(rb, verb)(*given, **more)
        assert len(str(error.value).splitlines()) == 1, (value, str(error.value))
        assert len(str(error.value)) < 2000
    assert sorted(tmp_path.rglob("*")) == before  # no run was started


def test_all_verbs_are_tested() -> None:
    page = (Path(__file__).parents[2] / "docs" / "library.md").read_text()
    named = {line.split("`")[1].removeprefix("rb.") for line in page.splitlines() if line.startswith("| `rb.")}
    assert named - {"solve"} <= set(VERBS)
