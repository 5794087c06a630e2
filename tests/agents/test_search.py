"""Search agents: their subgames, their strategies, and that actions depend only on the observation."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.base import ranges
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.search import SearchAgent
from riverboat.cards.deck import FULL_DECK, NUM_HANDS
from riverboat.cards.notation import parse_cards
from riverboat.cli import play
from riverboat.compiled.simd import decode_codes
from riverboat.core.errors import InputError
from riverboat.engines.tables import table_block
from riverboat.evaluation.matches.match import play_match
from riverboat.games.boards.root_gadgets import MaxmarginGadget, ResolvingGadget
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.actions import CALL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.strategies.solution import Solution
from riverboat.subgames.search.report import SubgameReport
from riverboat.subgames.search.search import SearchSettings
from riverboat.subgames.search.subgames import GIFT_METHODS, SEARCH_METHODS, SearchSubgame
from riverboat.testing.agents import check_agent, random_views

# Twelve cards: hold'em with 66 hands, all streets, stacks of fifteen big blinds.
SMALL = PokerRules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=6, suits=2, name="small")
MENU = parse_menu('preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 1, 2, 2]')
BOARD = "AsKhQh9s9h"


@cache
def base(seed: int = 3, rules: PokerRules = SMALL) -> BlueprintAgent:
    tree, cards = compile_action_tree(rules, MENU), lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(rules.rounds)]
    sums = tuple((rng.random(shape) * (rng.random(shape) > 0.2)).astype(np.float32) for shape in shapes)
    return BlueprintAgent(Blueprint(rules, MENU, tree, cards, sums))


def agent(method: str = "unsafe", street: str = "turn", **more) -> SearchAgent:
    return SearchAgent(base(), SearchSettings(street, method, **({"iterations": 20} | more)))


def places(*lines: str) -> PublicStates:
    shown = [2 * SMALL.board_sizes[line.count("/")] for line in lines]
    return PublicStates.from_lines(SMALL, lines, [BOARD[:n] for n in shown])


@pytest.mark.parametrize("method", SEARCH_METHODS)
def test_contract(method: str) -> None:
    check_agent(agent(method, iterations=5), tables=40)


@pytest.mark.parametrize("method", ["unsafe", "resolve"])
def test_stacks_may_differ(method: str) -> None:
    """Bets above the shorter stack are all-in in effect; an all-in of the deeper stack is a raise that the table
    allows.
    """
    odd = replace(SMALL, stacks=(1_500, 733), name="odd")
    found = SearchAgent(base(rules=odd), SearchSettings("turn", method, iterations=5))
    check_agent(found, tables=40)
    told = found.strategies(
        PublicStates.from_lines(odd, [f"cc/cc/cc/r{total}" for total in (733, 734, 1_500)], [BOARD] * 3)
    )
    assert told.labels(0) == ("f", "c")
    np.testing.assert_array_equal(told.probabilities[:1], told.probabilities[1:2])
    np.testing.assert_array_equal(told.probabilities[:1], told.probabilities[2:])
    assert found.strategies(PublicStates.from_lines(odd, ["cc/r296c/r465r639c/"], [BOARD])).labels(0) == ("c", "r739")


def test_blueprint_before_the_searched_street() -> None:
    early = places("cr250", "cc/r200", "cc/cc/")
    found, blueprint = agent(street="river").strategies(early), base().strategies(early)
    for i in range(len(early)):
        k = len(blueprint.labels(i))
        np.testing.assert_array_equal(found.probabilities[i, :, :k], blueprint.probabilities[i, :, :k])
    assert agent().strategies(early).labels(2) != blueprint.labels(2)  # the turn is searched


# --- Subgames ---


def root(found: SearchAgent, line: str, seat: int) -> SearchSubgame:
    return found.search.positions(places(line), [seat])[0].subgame


def test_a_subgame_has_the_real_pot_and_stacks() -> None:
    """The example of the thesis proposal: pot 5,000, stacks 17,500, a bet of 10,000 that is called gives 25,000 and
    7,500.
    """
    deep = replace(SMALL, blinds=(2_500, 1_250), stacks=(20_000, 20_000), name="deep")
    menu = parse_menu('preflop = [""]\nflop = ["50%"]\nmost_raises = [0, 1, 1, 1]')
    tree, cards = compile_action_tree(deep, menu), lossless_abstraction(deep.board[1:], deep.deck)
    sums = tuple(np.ones((cards.counts[s], int(tree.width[s])), np.float32) for s in range(deep.rounds))
    blueprint = BlueprintAgent(Blueprint(deep, menu, tree, cards, sums))
    for method, street in (("unsafe", "turn"), ("resolve", "turn"), ("maxmargin", "river")):
        here = SearchAgent(blueprint, SearchSettings(street, method, iterations=2))
        before = "cc/cc/" if street == "turn" else "cc/cc/cc/"
        at = PublicStates.from_lines(deep, [before + "r12500"], [BOARD[: 8 if street == "turn" else 10]])
        position = here.search.positions(at, [1])[0]
        assert (position.state.pot, position.state.to_call) == (15_000, 10_000)
        after = position.child(0)
        assert after is not None
        assert (after.state.pot, after.state.behind) == (25_000, (7_500, 7_500))


@pytest.mark.parametrize("method", SEARCH_METHODS)
def test_off_tree_bets_start_new_subgames(method: str) -> None:
    found, line = agent(method), "cc/cc/r237r611"
    at = found.search.positions(places(line), [0])[0]
    own = found.search.positions(places("cc/cc/"), [0])[0]
    assert own.child(237) is None  # a move of its own that it never makes is met too
    begins = at.subgame.root.state.line
    assert begins == ("cc/cc/r237" if found.search.nested == "expensive" else line)
    later = found.search.positions(places(line + "c/r800"), [1])[0]
    assert later.state.pot == 2 * 611 + (800 - 611)
    if method == "unsafe":
        assert later.subgame.root.values is None
        return
    assert "before an action" in at.subgame.root.source
    assert later.subgame.root.source.startswith("the last solution")
    for seat, added in ((0, 0), (1, 137)):  # values of the opponent's hands include its own chips
        before, behind = (root(found, some, seat).root.values for some in ("cc/cc/", "cc/cc/r237"))
        np.testing.assert_allclose(behind, before + added)


@pytest.mark.parametrize("method", ["resolve", "estimate"])
def test_root_values_are_bounded_by_pot_and_stacks(method: str) -> None:
    """After a translated bet the blueprint's pot differs from the real one, and so does the ratio of stacks to pot."""
    lines = ("cr250c/cc/", "cr310c/cc/", "cr600c/cc/", "cr1100c/cc/", "cr1450c/cc/")
    far = 0.0
    for line in lines:
        state = places(line).betting(0)
        values = root(agent(method, iterations=1), line, 0).root.values
        if values is None:  # the blueprint is all-in here
            continue
        left = min(state.behind)
        assert -left <= np.nanmin(values)
        assert np.nanmax(values) <= state.pot + left
        far = max(far, state.pot / left)
    assert far > 1  # the blueprint's stacks are five pots


def test_ranges_follow_the_agents_own_strategy() -> None:
    """Root ranges equal the chain rule over the agent's own strategies, including its solutions on turn and river."""
    found, line = agent("resolve"), "cc/cc/cr237c/"
    own, at = ranges(places(line), found)[0, 0], found.search.positions(places(line), [0])[0]
    reach = at.subgame.root.ranges[0][found.search.hand_indices]
    np.testing.assert_allclose(own / own.max(), reach / reach.max(), atol=1e-6)


def test_floor_of_the_opponents_range() -> None:
    found = agent("unsafe", floor=0.02)
    spot = root(found, "cr250c/cr461c/", 0).spot
    live, weights = places("cc/cc/").live_hands[0].sum(), spot.weights[1]
    assert np.count_nonzero(weights) == live
    assert weights[weights > 0].min() >= 0.02


def test_hand_outside_the_range_is_played_well() -> None:
    """A straight flush calls, even if the blueprint never reaches the state with it."""
    line, nuts = "cc/cc/cc/r1500", int(FULL_DECK.hand_indices(np.array([parse_cards("JhTh")]))[0])
    own = next(some for some in map(base, range(9)) if not _come(some, line, nuts))
    at = SearchAgent(own, SearchSettings("river", iterations=50)).search.positions(places(line), [1])[0]
    assert at.subgame.root.ranges[1, nuts] == 0.0
    assert at.strategy[nuts, at.moves.index(CALL)] > 0.99


def test_rarely_reached_hand_takes_its_best_action() -> None:
    """Sums of a few early iterations mean nothing; a straight flush that should have bet calls."""
    line, nuts = "cc/cc/cc/cr1500", int(FULL_DECK.hand_indices(np.array([parse_cards("JhTh")]))[0])
    at = agent("unsafe", "river", iterations=200, until=0.001).search.positions(places(line), [0])[0]
    held, reach = at.subgame.spot.weights[0], at.solution_node.reach[0]
    seldom = np.flatnonzero((held > 0) & (reach < 1e-3 * held))
    assert len(seldom)
    np.testing.assert_array_equal(at.strategy[seldom].max(axis=1), 1.0)
    worth = at.solution_node.best_response_action_values(0)
    assert (worth[at.strategy[seldom].argmax(axis=1), seldom] >= np.nanmax(worth[:, seldom], axis=0) - 1e-9).all()
    assert at.strategy[nuts, at.moves.index(CALL)] > 0.99


@pytest.mark.parametrize("comes", [1e-4, 0.0])
def test_hand_without_opponents_takes_its_best_action(comes: float) -> None:
    """If the opponent practically never gets here, no regret is left, and all actions of a hand look equal."""
    line, nuts = "cc/cc/cc/r1500", int(FULL_DECK.hand_indices(np.array([parse_cards("JhTh")]))[0])
    at = agent("unsafe", "river", floor=0.0).search.positions(places(line), [1])[0]
    tree, table = at.solution.tree, np.asarray(decode_codes(at.solution.table), np.float32)
    for node in (0, at.solution_node._forest_node(at.solution_node.betting_node)):
        first, width, rows = table_block(tree, 0, node)
        sums = table[first : first + width * rows].reshape(width, rows)
        sums[:] = 1.0
        if node == 0:
            sums[-1] = comes  # all-in
    facts = dict(at.solution.provenance)
    told = replace(at, solution=Solution(tree, table, facts))
    assert (told.solution_node.strategy[:, nuts] == 0.5).all()
    assert told.solution_node.reach[0].max() <= comes
    held = at.subgame.spot.weights[1] > 0
    np.testing.assert_array_equal(np.sort(told.strategy[held], axis=1)[:, -1], 1.0)
    assert told.strategy[nuts, told.moves.index(CALL)] == 1.0
    assert (told.strategy[held, told.moves.index(CALL)] == 0.0).any()
    once = replace(at, solution=Solution(tree, table, facts | {"iterations": 1}))  # the first iteration is uniform
    np.testing.assert_array_equal(once.strategy[held], 0.5)


def test_report_contains_the_held_hand() -> None:
    """The report contains the hand even if neither player would be here with it."""
    line, nuts = "cc/cc/cc/r1500", parse_cards("JhTh")
    own = next(
        some for some in map(base, range(9)) if not _come(some, line, int(FULL_DECK.hand_indices(np.array([nuts]))[0]))
    )
    found = SearchAgent(own, SearchSettings("river", iterations=2, floor=0.0, model=1.0))
    told = found.explain(
        Observations.from_betting([BettingState.from_line(SMALL, line)], [nuts], [parse_cards(BOARD)], [0])
    )
    assert told is not None
    assert [row for row in told.hands() if row["hand"] == "JhTh"]


def _come(agent: BlueprintAgent, line: str, hand: int) -> bool:
    reach = agent.policy.reach(places(line), 1)[0]
    return bool(reach[FULL_DECK.hand_indices(SMALL.deck.hands) == hand].any())


def test_separate_thresholds_for_model_and_play() -> None:
    plain, sharp = agent("resolve"), agent("resolve", play=0.2)
    one, other = (a.search.positions(places("cc/cc/"), [0])[0] for a in (plain, sharp))
    held = np.flatnonzero(one.subgame.spot.weights[0])
    assert ((one.strategy[held] > 0) & (one.strategy[held] < 0.19)).any()
    assert not ((other.strategy[held] > 0) & (other.strategy[held] < 0.19)).any()
    assert root(agent(model=0.3), "cc/cr200c/", 0).root.ranges[1].min() == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("method", ["unsafe", "maxmargin"])
def test_two_thousand_hands_against_bets_of_any_size(method: str) -> None:
    """An illegal action would end the match with an error; `bench/search.py` does the same with the whole deck and a
    clock.
    """
    match = play_match(agent(method, iterations=3), BaselineAgent("random", seed=5), SMALL, 2000, seed=5)
    assert match.hands == 2000


# --- Solving ---


def test_threads_do_not_change_actions() -> None:
    views = random_views(SMALL, 30, np.random.default_rng(1))
    one, two = agent("maxmargin"), agent("maxmargin", threads=2)
    np.testing.assert_array_equal(one.act(views), two.act(views))
    for i in range(0, len(views), 7):  # alone as in a batch
        alone = agent("maxmargin").probabilities(views.take(np.array([i])))
        assert alone == one.probabilities(views.take(np.array([i])))


def test_time_limit() -> None:
    timed = agent("resolve", iterations=None, seconds=0.05, until=1e-9)
    began = time.perf_counter()
    at = timed.search.positions(places("cc/cc/"), [0])[0]
    assert time.perf_counter() - began < 5  # without the limit it would run a million iterations
    assert at.solution.provenance["iterations"] >= 1
    np.testing.assert_allclose(at.strategy.sum(axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("street", ["turn", "river"])
@pytest.mark.parametrize("method", ["resolve", "maxmargin"])
def test_margins_are_bounded_by_exploitability(method: str, street: str) -> None:
    """Best-response values against the solution exceed those against the blueprint by at most the solution's
    exploitability.
    """
    found = agent(
        method, street, menu=MENU, iterations=300, until=0.01, **({"forced": 0.0} if method == "resolve" else {})
    )
    line = "cc/cc/" if street == "turn" else "cc/cc/cc/"
    for seat in (0, 1):
        at = found.search.positions(places(line), [seat])[0]
        base_values = blueprint_values(base().strategy, line, BOARD[: 8 if street == "turn" else 10])
        margins = base_values.best_response[1 - seat] - at.solution_node.best_response_values(1 - seat)
        slack = at.solution.provenance["exploitability"] / 100 * at.subgame.spot.pot
        least = np.nanmin(margins)
        weight = 1.0 if method == "maxmargin" else float(np.count_nonzero(~np.isnan(margins)))
        assert least >= -slack * weight - 1e-3
        assert np.nanmax(margins) > 0  # it differs from the blueprint


@pytest.mark.parametrize("kind", ["blueprint", "arbitrary"])
@pytest.mark.parametrize("method", [name for name in SEARCH_METHODS if name != "unsafe"])
def test_guarantees_of_all_methods_for_any_ranges(method: str, kind: str) -> None:
    """No hand wins more than its value, plus its gift, or plus twice the error of estimates."""
    line, rng = "cc/cc/cc/", np.random.default_rng(len(method))
    at = places(line)
    for seat in (0, 1):
        other = 1 - seat
        entry = agent(method, "river").search.root_of_first_subgame(at.betting(0), at.board_cards(0), seat)
        if kind == "arbitrary":
            entry = replace(entry, ranges=rng.random((2, NUM_HANDS)) ** 3 * (rng.random((2, NUM_HANDS)) > 0.3))
        known = blueprint_values(base().strategy, line, BOARD, [*entry.ranges])
        most, gifts = known.best_response[other], rng.uniform(0, 40, NUM_HANDS)
        error = np.nan_to_num(most - known.self_play[other])
        values = known.self_play[other] if method == "estimate" else most
        entry = replace(entry, values=values, gifts=gifts if method in GIFT_METHODS else None, error=error)
        subgame = SearchSubgame.from_root(entry, seat, MENU, method, 0.01, 0.0)
        (solution,) = solve_many([subgame.spot], iterations=400, until=0.01)
        allowed = {"reach_maxmargin_split": gifts, "estimate": 2 * error.max()}.get(method, 0.0)
        over = subgame.root_position(solution).solution_node.best_response_values(other) - most - allowed
        # Each hand may stop by itself, or enter above its limit with a multiplier of four times its mean probability.
        factor = {"resolve": 1.0, "reach_maxmargin": 0.25}.get(method)
        hands = 1.0 if factor is None else factor * float(np.count_nonzero(~np.isnan(over)))
        slack = solution.provenance["exploitability"] / 100 * subgame.spot.pot
        assert np.nanmax(over) <= 2 * slack * hands + 1e-3


@pytest.mark.parametrize("method", ["resolve", "maxmargin", "estimate"])
def test_hand_without_compatible_opponents(method: str) -> None:
    """An opponent with the agent's only hand has no value; the floor of the range gives it hands to meet."""
    line, at = "cc/cc/cc/", places("cc/cc/cc/")
    entry = agent(method, "river").search.root_of_first_subgame(at.betting(0), at.board_cards(0), 0)
    alone = np.zeros(NUM_HANDS)
    alone[np.flatnonzero(entry.ranges[0])[7]] = 1.0
    ranges = np.stack([alone, entry.ranges[1]])
    values = blueprint_values(base().strategy, line, BOARD, [*ranges]).best_response[1]
    subgame = SearchSubgame.from_root(
        replace(entry, ranges=ranges, values=values, error=0.0), 0, MENU, method, 0.01, 1e-4
    )
    (solution,) = solve_many([subgame.spot], iterations=400, until=0.01)
    known = subgame.spot.weights[1] > 0
    met, margins = known & ~np.isnan(values), solution.margins()
    assert met.sum() < known.sum()
    hands = float(met.sum()) if method == "resolve" else 1.0
    assert margins[met].min() >= -2 * hands * solution.provenance["exploitability"] / 100 * subgame.spot.pot - 1e-3
    told = SubgameReport(subgame.root_position(solution)).margins
    assert told is not None
    assert np.isnan(told[known & np.isnan(values)]).all()


def test_forced_share_of_resolving() -> None:
    """The opponent's hands together gain at most what the forced share loses, and its range loses more than without
    it."""
    at = places("cc/cc/cc/")
    for seat in (0, 1):
        entry = agent("resolve", "river").search.root_of_first_subgame(at.betting(0), at.board_cards(0), seat)
        assert entry.values is not None
        generous = replace(entry, values=entry.values + 150)  # like values of an exploitable blueprint
        free, subgame = (
            SearchSubgame.from_root(generous, seat, MENU, "resolve", 0.01, 0.0, forced=share) for share in (0.0, 0.3)
        )
        idle, solution = solve_many([free.spot, subgame.spot], iterations=400, until=0.01)
        assert isinstance(subgame.spot.gadget, ResolvingGadget)
        forced, margins = np.asarray(subgame.spot.gadget.forced), solution.margins()
        slack = solution.provenance["exploitability"] / 100 * subgame.spot.pot * np.count_nonzero(~np.isnan(margins))
        gained, lost = np.nansum((1 - forced) * np.maximum(-margins, 0.0)), np.nansum(forced * margins)
        assert gained <= lost + 2 * slack
        assert lost > np.nansum(forced * idle.margins()) + slack


@pytest.mark.parametrize("method", GIFT_METHODS)
def test_gifts(method: str) -> None:
    found = agent(method, menu=MENU)
    turn = found.search.positions(places("cc/cc/c"), [1])[0]  # seat 0 has checked
    opponent = turn.solution[""]
    values = opponent.best_response_action_values(0)
    gift = np.nan_to_num(values.max(axis=0) - values[opponent.actions.index("x")])
    np.testing.assert_allclose(turn.gifts(), gift)
    river = found.search.positions(places("cc/cc/cc/c"), [1])[0]
    np.testing.assert_allclose(river.subgame.root.gifts, gift)
    gadget = river.subgame.spot.gadget
    assert isinstance(gadget, MaxmarginGadget)
    values = river.subgame.root.values
    assert values is not None
    known = ~np.isnan(values)
    np.testing.assert_allclose(gadget.shifts[known], (values + gift)[known])
    assert (gadget.limits is not None) == (method == "reach_maxmargin")
    if gadget.limits is not None:
        np.testing.assert_allclose(gadget.limits[known], values[known])


@pytest.mark.parametrize("method", GIFT_METHODS)
def test_gifts_of_the_blueprint(method: str) -> None:
    """On the first searched street gifts are what hands gave up on the turn, against the blueprint."""
    search, at, board, largest = agent(method, "river").search, places("cc/cc/cc/"), BOARD[:8], []
    for seat in (0, 1):
        entry = search.root_of_first_subgame(at.betting(0), at.board_cards(0), seat)
        assert entry.gifts is not None
        largest.append(entry.gifts.max())
    start = PublicStates.from_lines(search.policy.rules, ["cc/cc/"], [board])
    ranges = np.ones((2, NUM_HANDS))
    ranges[1] = 0.0
    ranges[1, search.hand_indices] = search.policy.reach(start, 1)[0]
    # Seat 0 gave up the difference of its values before and after its check.
    before, after = (
        blueprint_values(base().strategy, line, board, [*ranges]).best_response[0] for line in ("cc/cc/", "cc/cc/c")
    )
    known = ~np.isnan(before)
    np.testing.assert_allclose(entry.gifts[known], (before - after)[known], atol=1e-3)
    assert max(largest) > 0
    turn, here = agent(method, "turn").search, places("cc/cc/")
    assert turn.root_of_first_subgame(here.betting(0), here.board_cards(0), 0).gifts is None  # not in time on the flop


def test_spent_gifts_are_gone() -> None:
    """What a solution spends of the gifts at its root cannot be spent again on the next street."""
    line, at = "cc/cc/", places("cc/cc/")
    for method in GIFT_METHODS:
        search = agent(method, "turn", menu=MENU).search
        entry = search.root_of_first_subgame(at.betting(0), at.board_cards(0), 1)
        gifts = np.full(NUM_HANDS, 30.0)
        gifts[::2] = 0.0
        subgame = SearchSubgame.from_root(replace(entry, gifts=gifts), 1, MENU, method, 0.01, 1e-4)
        (solution,) = solve_many([subgame.spot], iterations=100, until=0.01)
        position = subgame.root_position(solution)
        carried, margins = position.gifts(), np.nan_to_num(solution.margins())
        assert line
        if method == "reach_maxmargin":
            np.testing.assert_array_equal(carried, gifts)
        else:
            np.testing.assert_allclose(carried, np.minimum(gifts, margins.clip(0.0)))


# --- Reports ---


def test_explain(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = agent("maxmargin", "river")
    monkeypatch.setattr("riverboat.api.agent.make_agent", lambda name, seed: found)
    shown = f"/{BOARD[:6]}/{BOARD[6:8]}/{BOARD[8:]}"
    at = found.search.positions(places("cc/cc/cc/cr237"), [0])[0]
    row = next(row for row in SubgameReport(at).hands() if row["oop"] > 0)
    table = f"MATCHSTATE:0:7:cc/cc/cc/cr237:{row['hand']}|{shown}"
    play.act("small", table, explain=True, json=True)
    told = json.loads(capsys.readouterr().out)
    search = told["search"]
    assert (search["begins"], search["pot"], search["method"]) == ("cc/cc/cc/cr237", 200 + 137, "maxmargin")
    assert row in search["hands_here"]
    assert {move: p for move, p in row["plays"].items() if p > 0} == pytest.approx(told["probabilities"])
    margins = [hand["margin"] for hand in search["hands_here"] if "margin" in hand]
    assert search["margins"]["least"] == pytest.approx(min(margins))
    play.act("small", table, explain=True)
    text = capsys.readouterr().out
    assert all(word in text for word in ("margins", "range of ip", "oop", "<-"))


def test_explain_needs_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.api.agent.make_agent", lambda name, seed: agent("unsafe", "river"))
    with pytest.raises(InputError, match="street"):
        play.act("small", f"MATCHSTATE:0:7:cc/:KsQs|/{BOARD[:6]}", explain=True)
    monkeypatch.setattr("riverboat.api.agent.make_agent", lambda name, seed: base())
    with pytest.raises(InputError, match="search"):
        play.act("small", f"MATCHSTATE:0:7:cc/:KsQs|/{BOARD[:6]}", explain=True)


def test_spread_of_estimated_values() -> None:
    """In the first subgame the error is the best-response value minus the self-play value; later the last solution's
    own.
    """
    drawn = agent("estimate", spread=2.0)
    first = root(drawn, "cc/cc/c", 0)
    known = blueprint_values(base().strategy, "cc/cc/", places("cc/cc/").board_cards(0), [*first.root.ranges])
    gadget = first.spot.gadget
    assert isinstance(gadget, ResolvingGadget)
    live = np.isfinite(known.self_play[1])
    np.testing.assert_allclose(gadget.payoffs[live], known.self_play[1][live])
    np.testing.assert_allclose(
        np.asarray(gadget.spread)[live], 2 * (known.best_response[1] - known.self_play[1])[live], atol=1e-9
    )
    position = drawn.search.positions(places("cc/cc/cc/"), [0])[0]
    turn = drawn.search.positions(places("cc/cc/c"), [0])[0].solution
    later = position.subgame.spot.gadget
    assert isinstance(later, ResolvingGadget)
    assert np.allclose(later.spread, 2 * turn.provenance["exploitability"] * first.spot.pot / 100)
    with pytest.raises(InputError, match=r"spread=1.*method=maxmargin"):
        agent("maxmargin", spread=1.0)
    with pytest.raises(InputError, match="until=0"):
        SearchSettings("river", until=0.0)
    with pytest.raises(InputError, match=r"forced=0\.1.*method=unsafe"):
        agent("unsafe", forced=0.1)
