"""Verbs of the library: the JSON output of a command equals the library's result for the same options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riverboat as rb
from reference.matches import hand_payoffs
from riverboat.cards.notation import parse_cards
from riverboat.cli import main
from riverboat.core import artifacts
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import BettingState
from riverboat.strategies import files

TIMES = ("seconds", "hands_per_second", "iterations_per_second", "updates_per_second")  # differ between runs


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return the output of a command with --json."""
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main.main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def timeless(found: Any) -> Any:
    """Return a JSON value without times."""
    if isinstance(found, dict):
        return {key: timeless(value) for key, value in found.items() if key not in TIMES}
    return [timeless(each) for each in found] if isinstance(found, list | tuple) else found


few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@few
@given(
    game=st.sampled_from(["kuhn", "rps", "kuhn:cards=4", "kuhn:players=3"]),
    schedule=st.sampled_from(["dcfr", "cfr+", "vanilla", "pcfr+"]),
    iterations=st.integers(1, 60),
    seed=st.integers(0, 3),
)
def test_solve(capsys: pytest.CaptureFixture[str], game: str, schedule: str, iterations: int, seed: int) -> None:
    told = printed(capsys, "solve", game, "--schedule", schedule, "--iterations", str(iterations), "--seed", str(seed))
    found = rb.solve(game, schedule=schedule, iterations=iterations, seed=seed).to_dict()
    assert timeless(told) == timeless(found) | {"reason": None}


def test_solve_a_spot(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """EVs, equities and memory are in the result, not only in the command."""
    path = tmp_path / "river.toml"
    path.write_text(
        'board = "Td9d6hQc2s"\npot = 20\nstack = 40\n[ranges]\noop = "AA,66"\nip = "KK,99"\n[bets]\nriver = { bet = "a" }\n'
    )
    told = printed(capsys, "solve", str(path), "--iterations", "30")
    facts = rb.solve(str(path), iterations=30).to_dict()
    assert timeless(told) == timeless(facts) | {"reason": None}
    assert told["ev_oop"] + told["ev_ip"] == pytest.approx(20)
    assert told["equity_oop"] + told["equity_ip"] == pytest.approx(1)


@few
@given(player=st.none() | st.integers(0, 1), iterations=st.integers(1, 20))
def test_respond(capsys: pytest.CaptureFixture[str], tmp_path: Path, player: int | None, iterations: int) -> None:
    strategy = rb.solve("kuhn", iterations=iterations).strategy
    folder = str(rb.save(strategy, tmp_path / str(iterations)))
    told = printed(capsys, "respond", folder, *([] if player is None else ["--player", str(player)]))
    found = rb.respond(folder, player)
    assert told == timeless(found.to_dict())
    for best in found.values():
        assert best.gain >= -1e-12
        assert rb.quality(best.strategy).values[best.player] == pytest.approx(best.value)  # its value is confirmed


@few
@given(
    hands=st.integers(2, 30).map(lambda k: 2 * k),
    seed=st.integers(0, 5),
    game=st.sampled_from(["kuhn", "leduc"]),
)
def test_match(capsys: pytest.CaptureFixture[str], hands: int, seed: int, game: str) -> None:
    options = ["--hands", str(hands), "--seed", str(seed), "--game", game]
    told = printed(capsys, "match", "always-call", "random", *options)
    found = rb.match("always-call", "random", hands=hands, seed=seed, game=game)
    assert timeless(told) == timeless(found.to_dict())
    assert (found.claim.value, found.claim.size, found.claim.seed) == (found.mbb_per_game, hands, seed)


@pytest.mark.slow
def test_match_with_aivat(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(
        capsys, "match", "always-call", "random", "--hands", "40", "--game", "leduc", "--aivat", "--worst", "2"
    )
    found = rb.match("always-call", "random", hands=40, game="leduc", aivat=True, worst=2)
    assert timeless(told) == timeless(found.to_dict())
    assert len(told["worst"]) == 2


def test_round_robin(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("always-call", "random", "always-raise")
    told = printed(capsys, "match", *names, "--hands", "40", "--game", "kuhn")
    found = rb.match(*names, hands=40, game="kuhn")
    assert timeless(told) == timeless(found.to_dict())
    with pytest.raises(InputError, match="3 agents, 2 "):
        rb.match("random", "random", "always-call", game="kuhn")
    with pytest.raises(InputError, match="1 agents"):
        rb.match("random")  # type: ignore[call-overload]


def test_train(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Library and command give the same tables, figures and claims, and the whole recipe is stored."""
    recipe = tmp_path / "leduc.toml"
    recipe.write_text("game = 'leduc'\n[training]\nweighting = 'linear'\nperiod = 4096\nprune = 20\n")
    options = {"iterations": 20_000, "threads": 1, "seed": 7}
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    told = printed(capsys, "train", str(recipe), "--out", str(tmp_path / "a"), "--check", "0s", *words)
    found = rb.train(recipe, out=tmp_path / "b", check_seconds=0.0, **options)  # type: ignore[arg-type]
    assert timeless(told) | {"out": ""} == timeless(found.to_dict()) | {"out": ""}
    assert (found.claims[0].kind, found.claims[0].unit, found.ended) == ("exact", "mbb/g", "limit")
    assert found.claims[0].value == pytest.approx(rb.quality(found.strategy).claims[0].value, rel=0.5)
    facts = artifacts.read_manifest(files.latest_artifact(tmp_path / "b"))
    known = facts.table("provenance")
    asked = {"seed": 7, "mode": "racing", "weighting": "linear", "period": 4096, "prune": 20, "dtype": "float32"}
    assert {key: known[key] for key in asked} == asked
    assert facts.text("version") == rb.__version__


CHANGED = {
    "seed": ({"seed": 8}, ""),
    "mode": ({"mode": "deterministic"}, ""),
    "weighting": ({}, "weighting = 'linear'"),
    "period": ({}, "period = 8192"),
    "until": ({}, "until = 100000"),
    "prune": ({}, "prune = 20"),
    "dtype": ({}, "dtype = '16-bit'"),
    "traversal": ({}, "traversal = 'chance'"),
}


def test_resume_needs_the_same_recipe(tmp_path: Path) -> None:
    """The error names every option that determines the result and differs."""
    recipe = tmp_path / "leduc.toml"
    recipe.write_text("game = 'leduc'\n[training]\n")
    rb.train(recipe, out=tmp_path / "run", iterations=2_000, threads=1)
    for key, (options, text) in CHANGED.items():
        other = tmp_path / f"{key}.toml"
        other.write_text(f"game = 'leduc'\n[training]\n{text}\n")
        with pytest.raises(InputError, match=f"{key}="):
            rb.train(other, out=tmp_path / "run", iterations=4_000, threads=1, resume=True, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"seed=0.*8.*mode='racing'.*'deterministic'"):
        rb.train(recipe, out=tmp_path / "run", iterations=4_000, seed=8, mode="deterministic", resume=True)
    renamed = recipe.rename(tmp_path / "other.toml")
    assert rb.train(renamed, out=tmp_path / "run", iterations=4_000, threads=2, resume=True).iterations >= 4_000


# --- Tables ---


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), game=st.sampled_from(["kuhn", "leduc", "nolimit-200bb"]), moves=st.data())
def test_winnings_of_a_table(seed: int, game: str, moves: st.DataObject) -> None:
    """For any actions, events contain the line, and the end is decided by the dealt cards."""
    table = rb.play("random", seed=seed, game=game)
    total = 0
    for number in range(3):
        if number:
            table.deal()
        while not table.over:
            assert table.to_dict()["shown"] is None
            words = table.legal()
            assert words
            move = moves.draw(st.sampled_from([word.partition(" ")[0] for word in words]))
            table.act(move)
        line = [event.move for event in table.events if event.kind == "move"]
        end = table.state
        again = BettingState.start(table.rules)
        for move in line:
            again = again.deal_due_streets()
            again = again.apply_action(again.parse_action(move))
        assert again.deal_due_streets().spent == end.spent
        (won,) = (event.won for event in table.events if event.kind == "won")
        if table.shown_cards is not None:
            both = [parse_cards("".join(cards)) for cards in (table.hole, table.shown_cards)]
            mine, theirs = both
            holes = (theirs, mine) if table.seat else (mine, theirs)
            assert won == hand_payoffs(end, holes, parse_cards("".join(table.board)))[table.seat]
        else:
            assert (won > 0) == (end.folded != table.seat)
        total += won
        with pytest.raises(InputError, match="is over"):
            table.act("c")
    assert (table.won, table.hands) == (total, 3)


def test_errors_of_a_table() -> None:
    table = rb.play("always-call", game="nolimit-200bb")
    with pytest.raises(InputError, match="200-20000"):
        table.act("r150")
    with pytest.raises(InputError, match=r"hand 1.*f, c, r200 to r20000"):
        table.deal()
    assert table.to_dict()["legal"] == ["f", "c", "r200 to r20000"]
