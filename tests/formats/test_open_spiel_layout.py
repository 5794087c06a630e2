"""The fast traversal of OpenSpiel games against the plain one, its cache, and games without end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from damaged_caches import HARMS, damage  # noqa: E402
from pyspiel_kinds import small_game_type  # noqa: E402
from riverboat.core.errors import InputError, MemoryLimitError, ZeroSumError  # noqa: E402
from riverboat.formats import open_spiel_layout as layouts  # noqa: E402
from riverboat.formats.open_spiel_games import load_open_spiel_game  # noqa: E402
from riverboat.games import tree_layout  # noqa: E402
from riverboat.games.tree_layout import HistoryTreeLayout, layout_from_histories  # noqa: E402
from riverboat.trees.compile import compile_game  # noqa: E402

LOADED = [
    "kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "liars_dice(dice_sides=3)", "matrix_rps", "tiny_hanabi",
    "goofspiel(num_cards=3,imp_info=True)", "tiny_bridge_2p", "python_kuhn_poker", "sheriff(max_items=2)",
    "oshi_zumo(coins=3,size=1,horizon=4)", "dark_hex(board_size=2)", "first_sealed_auction", "lewis_signaling",
]  # fmt: skip


class Line(pyspiel.State):
    """One player who walks along a line; every step pays nothing, and the end pays 1."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.steps = 0

    def current_player(self) -> int:
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else 0

    def is_terminal(self) -> bool:
        return self.steps == LineGame.length

    def _legal_actions(self, _: int) -> list[int]:
        return [0]

    def _apply_action(self, action: int) -> None:
        self.steps += 1

    def _action_to_string(self, _: int, action: int) -> str:
        return "on"

    def returns(self) -> list[float]:
        return [1.0]

    def information_state_string(self, *_: int) -> str:
        return f"step {self.steps}"

    def __str__(self) -> str:
        return str(self.steps)


class LineGame(pyspiel.Game):
    length = 10
    kind = small_game_type("riverboat_line", 1)

    def __init__(self, params: Any = None) -> None:
        info = pyspiel.GameInfo(
            num_distinct_actions=1, max_chance_outcomes=0, num_players=1, min_utility=0.0, max_utility=1.0,
            utility_sum=None, max_game_length=10**9,
        )  # fmt: skip
        super().__init__(self.kind, info, params or {})

    def new_initial_state(self) -> Line:
        return Line(self)


pyspiel.register_game(LineGame.kind, LineGame)


def check_equal(first: HistoryTreeLayout, second: HistoryTreeLayout) -> None:
    for name, value in vars(first).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(second, name), name)
            assert value.dtype == getattr(second, name).dtype
        else:
            assert value == getattr(second, name), name


@pytest.mark.parametrize("spec", LOADED)
def test_layout_equals_that_of_the_plain_traversal(spec: str) -> None:
    game = load_open_spiel_game(spec)
    check_equal(layouts.layout_of_game(game.name, game.game, game.root), layout_from_histories(game))


# --- cache ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache that also stores small games."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path))
    monkeypatch.setattr(layouts, "MIN_CACHED_HISTORIES", 1)
    return tmp_path / "open_spiel"


@pytest.fixture
def traversals(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games that were traversed."""
    names: list[str] = []
    traverse = layouts._traverse

    def counted(name: str, *rest: Any) -> HistoryTreeLayout:
        names.append(name)
        return traverse(name, *rest)

    monkeypatch.setattr(layouts, "_traverse", counted)
    return names


def layout(spec: str) -> HistoryTreeLayout:
    return load_open_spiel_game(spec).layout()


def test_second_load_is_from_the_cache(folder: Path, traversals: list[str]) -> None:
    for spec in ("leduc_poker", "liars_dice(dice_sides=3)", "goofspiel(num_cards=3,imp_info=True)", "tiny_hanabi"):
        first, second = layout(spec), layout(spec)
        check_equal(first, second)
    assert len(traversals) == len(list(folder.iterdir())) == 4
    # the fingerprint in folders of earlier releases
    assert compile_game(load_open_spiel_game("leduc_poker")).fingerprint.startswith("cdf2d75cb107fb75")


def test_parameters_and_versions_have_files_of_their_own(
    folder: Path, traversals: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout("liars_dice(dice_sides=3)")
    layout("liars_dice(dice_sides=2)")
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0")
    layout("liars_dice(dice_sides=3)")
    assert len(traversals) == len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("harm", [*HARMS, "of another game"])
def test_damaged_and_foreign_files_are_replaced(folder: Path, traversals: list[str], harm: str) -> None:
    right = layout("kuhn_poker")
    (path,) = folder.iterdir()
    if harm in HARMS:
        damage(path, harm, "payoffs")
    else:
        layout("leduc_poker")
        (other,) = set(folder.iterdir()) - {path}
        path.write_bytes(other.read_bytes())  # a valid file, with its own checksum
    del traversals[:]
    check_equal(layout("kuhn_poker"), right)
    assert traversals == ["open_spiel:kuhn_poker"]
    check_equal(layout("kuhn_poker"), right)
    assert len(traversals) == 1


def test_small_games_are_not_stored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "MIN_CACHED_HISTORIES", 50_000)
    layout("leduc_poker")
    assert not folder.exists()


def test_only_games_of_open_spiel_are_cached(tmp_path: Path) -> None:
    """A game of a user may change without a new version, as a file may; it is found inside other games, too."""
    path = tmp_path / "game.nfg"
    path.write_text('NFG 1 R "one" { "a" "b" } { 1 2 }\n\n1 2 3 4\n', encoding="utf-8")
    for spec in ("kuhn_poker", "python_kuhn_poker", "misere(game=kuhn_poker())"):
        assert layouts.cache_identity(load_open_spiel_game(spec).game) is not None
    for spec in ("riverboat_line", "misere(game=riverboat_line())", f"nfg_game(filename={path})"):
        assert layouts.cache_identity(load_open_spiel_game(spec).game) is None


def test_limits_hold_for_cached_games(folder: Path, traversals: list[str]) -> None:
    layout("leduc_poker")
    with pytest.raises(MemoryLimitError, match=r"leduc_poker: 9,457 histories.*100 kB are allowed"):
        compile_game(load_open_spiel_game("leduc_poker"), memory=100_000)
    layout("tiny_hanabi")
    with pytest.raises(ZeroSumError, match="tiny_hanabi"):
        compile_game(load_open_spiel_game("tiny_hanabi"), constant_sum=True)
    assert len(traversals) == 2


# --- games that are too large ---


def test_a_game_without_end_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_open_spiel_game("riverboat_line")
    assert compile_game(game).infoset_count == 10
    monkeypatch.setattr(LineGame, "length", -1)
    monkeypatch.setattr(layouts, "MAX_DEPTH", 500)
    with pytest.raises(InputError, match=r"riverboat_line: a line of more than .* actions, at node 501: .*unbounded"):
        compile_game(game)


def test_a_large_game_is_rejected_before_it_has_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    with pytest.raises(MemoryLimitError, match=r"phantom_ttt: about .* histories.*random lines have up to"):
        compile_game(load_open_spiel_game("phantom_ttt"), memory=10**9, progress=lambda p: counts.append(p.count))
    assert counts[-1] < 10_000_000 < tree_layout.estimate_num_nodes(load_open_spiel_game("phantom_ttt").root(), 0.2)
