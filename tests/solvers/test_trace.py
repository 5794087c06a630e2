"""Traces: Kuhn's first iteration computed by hand, and agreement with the compiled kernels."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from numba import njit
from rich.console import Console

from random_games import random_history_game, random_public_game
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Game
from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import matrix
from riverboat.solvers.schedules import Rule
from riverboat.solvers.tabular import trace as module
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.trace import Trace, regret_matching, trace
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

KUHN_DEALS = ("JQ", "JK", "QJ", "QK", "KJ", "KQ")
SCHEDULES = ("vanilla", "vanilla:alternating=1", "cfr+", "linear", "dcfr", "pcfr+")


@pytest.fixture(scope="module")
def first() -> Trace:
    return trace(game_from_spec("kuhn"), "QJ")


# --- Kuhn: player 0 holds Q, player 1 holds J, both play 1/2 -------------------------


def test_kuhn_values(first: Trace) -> None:
    # Q beats J. Player 0 gets 1 after cc, -1 after crf, 2 after crc, 1 after rf and 2 after rc, so that
    #   cr:    (-1 + 2) / 2     = 1/2
    #   c:     (1 + 1/2) / 2    = 3/4
    #   r:     (1 + 2) / 2      = 3/2
    #   start: (3/4 + 3/2) / 2  = 9/8
    values = {row.line: row.value[0] for row in first.nodes}
    assert values == {"": 1.125, "c": 0.75, "cc": 1, "cr": 0.5, "crf": -1, "crc": 2, "r": 1.5, "rf": 1, "rc": 2}
    assert all(row.value[1] == -row.value[0] for row in first.nodes)


def test_kuhn_reach(first: Trace) -> None:
    # A player's reach halves with each of its own actions: in crc player 0 has acted twice, player 1 once.
    reach = {row.line: row.reach for row in first.nodes}
    assert reach == {
        "": (1, 1),
        "c": (0.5, 1), "cc": (0.5, 0.5), "cr": (0.5, 0.5), "crf": (0.25, 0.5), "crc": (0.25, 0.5),
        "r": (0.5, 1), "rf": (0.5, 0.5), "rc": (0.5, 0.5),
    }  # fmt: skip
    assert {row.chance for row in first.nodes} == {1}  # given the deal
    assert first.probability == pytest.approx(1 / 6)
    assert [row.actor for row in first.nodes] == [0, 1, TERMINAL, 0, TERMINAL, TERMINAL, 1, TERMINAL, TERMINAL]
    assert all(set(row.strategy.values()) == {0.5} for row in first.nodes if row.actor >= 0)


def test_kuhn_counterfactual_values(first: Trace) -> None:
    # The opponent's reach times the value of the action to the actor:
    #   Q:    1 * 3/4 and 1 * 3/2            (player 1 has not acted)
    #   J:c   1/2 * -1 and 1/2 * -1/2        (player 0 checked with 1/2)
    #   Q:cr  1/2 * -1 and 1/2 * 2           (player 1 bet with 1/2)
    #   J:r   1/2 * -1 and 1/2 * -2          (player 0 bet with 1/2)
    assert {row.infoset: row.counterfactual for row in first.nodes if row.infoset} == {
        "Q:": {"c": 0.75, "r": 1.5},
        "J:c": {"c": -0.5, "r": -0.25},
        "Q:cr": {"f": -0.5, "c": 1},
        "J:r": {"f": -0.5, "c": -1},
    }


def test_kuhn_regrets_given_the_deal(first: Trace) -> None:
    # Counterfactual values minus their mean, as both play 1/2:
    #   Q:    3/4 and 3/2, mean 9/8      J:c   -1/2 and -1/4, mean -3/8
    #   Q:cr  -1/2 and 1, mean 1/4       J:r   -1/2 and -1, mean -3/4
    assert {row.name: row.deal_regrets for row in first.infosets} == {
        "Q:": {"c": -0.375, "r": 0.375},
        "J:c": {"c": -0.125, "r": 0.125},
        "Q:cr": {"f": -0.75, "c": 0.75},
        "J:r": {"f": 0.25, "c": -0.25},
    }


def test_kuhn_regrets_of_the_iteration(first: Trace) -> None:
    # Each information set occurs in two of the six deals.
    # Under QK player 0 gets -1 after cc, -1 after crf, -2 after crc, 1 after rf, -2 after rc, so that
    #   cr: -3/2    c: (-1 - 3/2) / 2 = -5/4    r: -1/2    start: -7/8
    #   Q:    c: -5/4 + 7/8 = -3/8 again;   both deals: (-3/8 - 3/8) / 6 = -1/8
    #   Q:cr  f: 1/2 * (-1 + 3/2) = 1/4;    both deals: (-3/4 + 1/4) / 6 = -1/12
    # Against K, J loses the same as against Q:
    #   J:c   c: 2 * -1/8 / 6 = -1/24       J:r   f: 2 * 1/4 / 6 = 1/12
    expected = {
        "Q:": ({"c": -1 / 8, "r": 1 / 8}, {"c": 0, "r": 1}),
        "J:c": ({"c": -1 / 24, "r": 1 / 24}, {"c": 0, "r": 1}),
        "Q:cr": ({"f": -1 / 12, "c": 1 / 12}, {"f": 0, "c": 1}),
        "J:r": ({"f": 1 / 12, "c": -1 / 12}, {"f": 1, "c": 0}),
    }
    assert [row.name for row in first.infosets] == list(expected)
    for name, (regrets, after) in expected.items():
        row = first[name]
        assert row.regrets == pytest.approx(regrets, abs=1e-15)
        assert row.cumulative == row.regrets
        assert row.next_strategy == after


def test_the_deals_add_up() -> None:
    """The regrets of an iteration are those of its deals, each weighted by the probability of the deal."""
    for schedule in ("vanilla", "cfr+"):
        traces = [trace(game_from_spec("kuhn"), deal, schedule, 3) for deal in KUHN_DEALS]
        for name in ("Q:", "K:cr", "J:c", "K:r"):
            rows = [(t.probability, t[name]) for t in traces if name in {row.name for row in t.infosets}]
            assert len(rows) == 2
            for action, regret in rows[0][1].regrets.items():
                assert sum(p * row.deal_regrets[action] for p, row in rows) == pytest.approx(regret, abs=1e-15)


# --- regret matching --------------------------------------------------------------------------


def test_regret_matching() -> None:
    # The textbook example with rock, paper and scissors prints (2/5, 1/5, 1/5) for the regrets (2, 1, 1), a slip: that
    # does not sum to one. Their sum is 4, not 5.
    assert regret_matching(np.array([2.0, 1.0, 1.0])).tolist() == [1 / 2, 1 / 4, 1 / 4]
    # Only positive regrets count, in the sum too.
    assert regret_matching(np.array([3.0, -5.0, 1.0])).tolist() == [3 / 4, 0, 1 / 4]
    assert regret_matching(np.array([-1.0, 0.0])).tolist() == [1 / 2, 1 / 2]


def test_always_rock() -> None:
    moves = ("rock", "paper", "scissors")
    game = matrix([[0], [1], [-1]], moves, ("rock",), "always rock")
    # Uniform play has the value 0, so the regrets are the payoffs.
    row = trace(game)["player 0"]
    assert row.regrets == pytest.approx({"rock": 0, "paper": 1, "scissors": -1})
    assert row.next_strategy == {"rock": 0, "paper": 1, "scissors": 0}
    # Paper has the value 1: the regrets are the payoffs minus 1.
    row = trace(game, iterations=2)["player 0"]
    assert row.strategy == {"rock": 0, "paper": 1, "scissors": 0}
    assert row.regrets == pytest.approx({"rock": -1, "paper": 0, "scissors": -2})
    assert row.cumulative == pytest.approx({"rock": -1, "paper": 1, "scissors": -3})


# --- agreement with the kernels ---------------------------------------------------------------


def agree(game: Game, schedule: str, deals: tuple[str | None, ...] = (None,), iterations: int = 5) -> None:
    """Check that regrets and next strategies of the traces equal those of the solver, iteration by iteration."""
    tree = compile_game(game)
    solver = CFR(tree, schedule)
    for t in range(1, iterations + 1):
        solver.step(1)
        current = solver.current()
        for deal in deals:
            for row in trace(tree, deal, schedule, t).infosets:
                infoset = tree.infoset(row.name)
                stop = infoset.offset + len(infoset.actions) * infoset.stride
                regret = solver.regret[infoset.offset : stop : infoset.stride] / scale(tree, row.name, row.player)
                assert list(row.cumulative.values()) == pytest.approx(regret.tolist(), abs=1e-12), (t, row)
                assert row.next_strategy == pytest.approx(current[row.name], abs=1e-9), (t, row)


def scale(tree: Tree, name: str, player: int) -> float:
    """The factor that the kernels leave out: the weight of the own hand and the sum of all weights."""
    if not isinstance(tree, PublicTree):
        return 1.0
    hand = tree.hands[player].index(name.partition(":")[0])
    return float(tree.total / tree.deal.weights[player][hand])


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("spec", "deals"),
    [
        ("kuhn", KUHN_DEALS),
        ("kuhn", (None,)),
        ("coin_toss", ("heads|guesser", "tails,guesser")),
        ("clairvoyance:stack=2,chip=0.5", ("winner|caller",)),
        ("rps", (None,)),
        ("rpst", (None,)),
    ],
)
def test_agrees_with_the_kernels(spec: str, deals: tuple[str | None, ...], schedule: str) -> None:
    agree(game_from_spec(spec), schedule, deals)


@pytest.mark.parametrize("schedule", ["vanilla", "cfr+", "dcfr"])
def test_agrees_on_leduc(schedule: str) -> None:
    agree(game_from_spec("leduc"), schedule, ("KsQh",))


@pytest.mark.parametrize("seed", range(6))
def test_agrees_on_random_games(seed: int) -> None:
    schedule = SCHEDULES[seed]
    agree(random_history_game(seed), schedule, iterations=3)
    agree(random_history_game(seed, players=3), "vanilla", iterations=3)
    game = random_public_game(seed, zero_sum=False)
    h0, h1 = (int(h) for h in np.argwhere(game.deal.joint() > 0)[0])
    agree(game, schedule, (f"{game.hands[0][h0]}|{game.hands[1][h1]}",), iterations=3)


# --- contents of a trace ------------------------------------------------------------------------


def test_alternating_traversals() -> None:
    """Player 1 responds to player 0's updated strategy."""
    result = trace(game_from_spec("kuhn"), "QJ", "cfr+")
    assert result.walks == ((0,), (1,))
    new = {row.line: row.strategy for row in result.nodes if row.walk == 1}
    assert new[""] == result["Q:"].next_strategy == {"c": 0, "r": 1}
    assert new["c"] == {"c": 0.5, "r": 0.5}
    assert {row.infoset for row in result.nodes if row.counterfactual and row.walk == 0} == {"Q:", "Q:cr"}
    assert {row.infoset for row in result.nodes if row.counterfactual and row.walk == 1} == {"J:c", "J:r"}


def test_public_chance() -> None:
    result = trace(game_from_spec("leduc"), ("Ks", "Qh"))
    card = next(row for row in result.nodes if row.line == "cc")
    assert card.actor == CHANCE
    cards = ("/Jh/", "/Js/", "/Qs/", "/Kh/")
    assert {label: p for label, p in card.strategy.items() if p > 0} == dict.fromkeys(cards, 0.25)
    after = next(row for row in result.nodes if row.line == "cc/Kh/")
    assert after.chance == 0.25
    assert after.infoset == "Ks:cc/Kh/"
    assert not any("/Ks/" in row.line or "/Qh/" in row.line for row in result.nodes)
    values = {row.line: row.value[0] for row in result.nodes}
    assert values["cc"] == pytest.approx(sum(values[f"cc{c}"] for c in cards) / 4)


def test_whole_tree() -> None:
    result = trace(game_from_spec("kuhn"))
    assert result.deal is None
    assert len(result.nodes) == 58
    assert len(result.infosets) == 12
    assert result.nodes[0].strategy == pytest.approx(dict.fromkeys("JQK", 1 / 3))
    assert result["Q:"].deal_regrets == pytest.approx(result["Q:"].regrets)
    assert result["Q:"].regrets == pytest.approx({"c": -1 / 8, "r": 1 / 8})


def test_text(first: Trace) -> None:
    text = str(first)
    assert text.startswith("kuhn, iteration 1 of vanilla: player 0 holds Q, player 1 holds J (probability 0.1667)")
    assert "Q:cr" in text
    assert "f -0.75  c +0.75" in text
    assert max(map(len, text.splitlines())) <= 120
    out = io.StringIO()
    Console(width=140, file=out).print(first)
    assert "Information sets and their regrets, given the deal and of all deals" in out.getvalue()
    html = first._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2
    assert ">J:r</td>" in html
    assert "<th>all deals</th>" in html
    assert "all deals" not in str(trace(game_from_spec("rps")))


def test_json(first: Trace) -> None:
    data = json.loads(json.dumps(first.to_dict()))
    assert data["deal"] == ["Q", "J"]
    assert data["nodes"][0]["value"] == [1.125, -1.125]
    assert data["infosets"][0]["next_strategy"] == {"c": 0, "r": 1}


@pytest.mark.parametrize("deal", ["QJ", "Q|J", "Q,J", "Q, J", ("Q", "J"), ["Q", "J"]])
def test_spellings_of_a_deal(deal: str | tuple[str, str]) -> None:
    assert trace(game_from_spec("kuhn"), deal).deal == ("Q", "J")


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "deal", "words"),
    [
        ("kuhn", "XJ", ["'XJ'", "J, Q, K", "'J|Q'"]),
        ("kuhn", "Q", ["'Q'"]),
        ("kuhn", ("Q", "J", "K"), ["kuhn"]),
        ("kuhn", "KK", ["'KK'"]),
        ("coin_toss", "heads|tails", ["heads, tails", "player 1: guesser"]),
        ("rps", "QJ", ["rps", "deal"]),
    ],
)
def test_bad_deals(spec: str, deal: str, words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        trace(game_from_spec(spec), deal)
    assert all(word in str(error.value) for word in words)


def test_invalid_input(monkeypatch: pytest.MonkeyPatch, first: Trace) -> None:
    with pytest.raises(InputError, match="iterations=0"):
        trace(game_from_spec("kuhn"), "QJ", iterations=0)
    with pytest.raises(InputError, match=r"5,000.*deal="):
        trace(game_from_spec("leduc"))
    with pytest.raises(InputError, match=r"8,191 .*5,000$"):
        trace(game_from_spec("bluff:1,1"), "1|2")
    with pytest.raises(InputError, match=r"cfr\+\+"):
        trace(game_from_spec("kuhn"), "QJ", "cfr++")
    with pytest.raises(InputError, match=r"'K:'.*Q:, J:c, Q:cr, J:r"):
        first["K:"]
    nothing = njit(lambda *_: None)
    with pytest.raises(InputError, match=r"rule.*dcfr"):
        trace(game_from_spec("kuhn"), "QJ", Rule(nothing, nothing))
    monkeypatch.setattr(module, "MAX_CELLS", 80)
    with pytest.raises(InputError, match=r"\b81\b.*\b80\b"):
        trace(game_from_spec("kuhn"), "QJ")
    monkeypatch.setattr(module, "MAX_DEPTH", 2)
    with pytest.raises(InputError, match=r"kuhn: \d+ .*more than 2"):
        trace(game_from_spec("kuhn"))
