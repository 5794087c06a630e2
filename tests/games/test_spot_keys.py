"""Every key of a spot file with values of every wrong kind: one line that names the key."""

from __future__ import annotations

import time
from typing import Any

import pytest

from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.formats.spot_file import loads
from riverboat.games.spots.spot import Spot

# Values in TOML, by kind.
NUMBERS = {"int": "3", "negative": "-3", "zero": "0", "float": "2.5", "inf": "inf", "minus inf": "-inf", "nan": "nan"}
HUGE = {"2^53": "9007199254740993", "2^64": "18446744073709551616", "10^400": "1" + "0" * 400}
OTHERS = {"true": "true", "text": '"x"', "empty": '""', "list": "[1, 2]", "table": "{ x = 1 }", "date": "2020-01-01"}
KINDS = NUMBERS | HUGE | OTHERS

# Kinds that each key accepts; all others are rejected.
WHOLE = {"int"}
TAKES: dict[str, set[str]] = {
    "board": set(),
    "pot": WHOLE,
    "stack": {"int", "list"},
    "least_bet": WHOLE,
    "name": {"text", "empty"},
    "rake": set(),
    "rake.rate": {"zero"},
    "rake.cap": {"int", "zero", "float", "inf", *HUGE},
    "deck": set(),
    "deck.ranks": set(),
    "deck.suits": set(),
    "deck.rules": set(),
    "ranges": set(),
    "ranges.oop": set(),
    "ranges.ip": set(),
    "bets": set(),
    "bets.flop": set(),
    "bets.turn": set(),
    "bets.oop": set(),
    "bets.oop.flop": set(),
    "bets.flop.bet": {"empty"},
    "bets.flop.raise": {"empty"},
    "bets.flop.donk": {"empty"},
    "tree": set(),
    "tree.add_all_in": set(),
    "tree.force_all_in": set(),
    "tree.merge": set(),
    "tree.donk_bets": {"true"},
    "tree.raise_cap": {"int", "zero", *HUGE},
    "tree.most_raises": {"int", "zero", "list", *HUGE},
    "street": set(),
    "street.led": set(),
    "lock": set(),
    "lock.line": {"empty", "text"},  # the text is x, a line
    "lock.hands": set(),
    "lock.strategy": {"table"},
    "lock.strategy.x": set(),
}


def spot_with(key: str, value: str) -> str:
    """Return the text of a spot in which one key has this value."""
    table: dict[str, Any] = {
        "board": '"QsJh2h"', "pot": "10", "stack": "20", "rake": {"rate": "0.05"}, "deck": {"suits": '"cdhs"'},
        "ranges": {"oop": '"AA"', "ip": '"KK"'}, "bets": {"flop": {"bet": '"50%"'}, "oop": {"turn": "{}"}},
        "tree": {"merge": '"0%"'}, "lock": {"line": '""', "strategy": {"x": "1.0"}},
    }  # fmt: skip
    at, (*path, last) = table, key.split(".")
    for name in path:
        at = at.setdefault(name, {})
    at[last] = value

    def write(value: Any) -> str:
        if isinstance(value, str):
            return value
        return f"{{ {', '.join(f'{name} = {write(inner)}' for name, inner in value.items())} }}"

    if isinstance(table["lock"], dict):
        table["lock"] = f"[{write(table['lock'])}]"
    return "\n".join(f"{name} = {write(inner)}" for name, inner in table.items())


def read(text: str) -> Spot:
    spot = loads(text)
    return spot.lock("x", {"x": 1.0})  # so that locks are checked against the tree too


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", TAKES)
def test_wrong_values_are_rejected_by_key(key: str, kind: str) -> None:
    text = spot_with(key, KINDS[kind])
    if kind in TAKES[key]:
        assert isinstance(read(text), Spot)
        return
    with pytest.raises(InputError) as caught:
        read(text)
    message = str(caught.value)
    assert key.split(".")[-1] in message or key.split(".")[0] in message
    assert "\n" not in message
    assert len(message) < 500


def test_the_unmodified_spot_is_valid() -> None:
    assert read(spot_with("name", '"x"')).name == "x"


@pytest.mark.parametrize("key", TAKES)
def test_misspelt_keys_are_rejected(key: str) -> None:
    *path, last = key.split(".")
    wrong = ".".join([*path, f"{last}q"])
    with pytest.raises(InputError, match=f"{last}q"):
        read(spot_with(wrong, '"x"'))


# --- values that must not be ignored ---


def test_actions_before_the_root_are_a_text() -> None:
    for kind in ("int", "zero", "float", "true", "list", "table", "date", *HUGE):
        with pytest.raises(InputError, match="played="):
            loads(spot_with("street.played", KINDS[kind]))
    assert loads(spot_with("street.played", '"x-b7"')).pot == 17


def test_a_cap_needs_a_rate() -> None:
    for rake in ("{ cap = 3 }", "{ cap = 0 }"):
        with pytest.raises(InputError, match=r"rake cap \d"):
            loads(spot_with("rake", rake))
    assert loads(spot_with("rake", "{ rate = 0, cap = 3 }")).rules.rake.amount(100) == 0  # a rate of zero is explicit
    with pytest.raises(InputError, match="rake cap 3"):
        Spot.make(board="QsJh2h", pot=10, stack=20, oop="AA", ip="KK", rake_cap=3, bets="")


def test_bets_are_required() -> None:
    text = spot_with("name", '"x"')
    without = "\n".join(line for line in text.splitlines() if not line.startswith("bets"))
    with pytest.raises(InputError, match=r"\[bets\].*flop = \{\}"):
        loads(without)
    assert len(loads(spot_with("bets", "{ flop = {} }")).betting.actor) == 3 * 3  # checked down on three streets


def test_chips_are_counted_exactly() -> None:
    """As long as float64 represents all integers."""
    most = 2**53
    given: dict[str, Any] = {"board": "QsJh2h8c3d", "oop": "AA", "ip": "KK", "bets": "a"}
    spot = Spot.make(pot=most - 2 * 1001, stack=1001, **given)
    assert float(spot.betting.payoffs.max()) == most - 1001
    with pytest.raises(InputError, match=r"pot=9007199254738991 and stack=1001: .*2\^53"):
        Spot.make(pot=most - 2 * 1001 + 1, stack=1001, **given)


# --- trees that are too large ---

MANY = ", ".join(f"{k}%" for k in range(1, 701))


@pytest.mark.parametrize(
    ("bets", "words"),
    [
        ({"flop": {"bet": MANY}}, "flop bets of oop have 700"),
        ({"flop": {"bet": "50%", "raise": MANY}}, "flop raises of oop have 700"),
        ({"oop": {"flop": {"bet": "50%"}}, "ip": {"flop": {"bet": MANY, "raise": MANY}}}, "flop bets of ip have 700"),
    ],
    ids=["bets", "raises", "one player"],
)
def test_a_large_tree_is_rejected_early(bets: dict[str, Any], words: str) -> None:
    spot = Spot.make(board="QsJh2h", pot=100, stack=10_000, oop="AA", ip="KK", bets=bets)
    started = time.perf_counter()
    with pytest.raises(MemoryLimitError, match=rf"spot: about .* betting nodes, .*{words}.*raise_cap"):
        _ = spot.betting
    assert time.perf_counter() - started < 30  # seconds, on a busy machine


def test_a_large_tree_with_a_poor_estimate_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises by a chip or two: most lines are short, but there are astronomically many long ones."""
    monkeypatch.setattr("riverboat.games.boards.betting_tree.MAX_BETTING_NODES", 10_000)
    bets = {"flop": {"bet": "1c", "raise": "1c, 2c"}}
    spot = Spot.make(board="QsJh2h", pot=100, stack=10_000, oop="AA", ip="KK", bets=bets)
    with pytest.raises(MemoryLimitError, match=r"spot: .* betting nodes.* 10,000.* flop raises of oop have 2 "):
        _ = spot.betting


def test_many_sizes_of_few_chips_are_few_bets() -> None:
    spot = Spot.make(board="QsJh2h8c3d", pot=10, stack=12, oop="AA", ip="KK", bets=MANY)
    assert len(spot.betting.actions(0)) == 1 + 12
