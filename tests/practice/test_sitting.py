"""Sittings: kept, gone on with, looked at again; solved spots as opponents."""

import json

import numpy as np
import pytest

import riverboat as rb
from reference.spot_ev import SlowSpot
from riverboat.agents.registry import make_agent
from riverboat.cards.deck import hand_index
from riverboat.core.errors import InputError
from riverboat.formats.hand_files import read_hands, write_hands
from riverboat.practice.evaluators import judge_of
from riverboat.practice.luck import results
from riverboat.practice.reviews import ev_lost, hands_of, review
from riverboat.practice.session import Sitting
from riverboat.subgames.search.search import Search


def play_hands(sitting, count, rng):
    """Random legal moves, more than one hand."""
    for k in range(count):
        while not sitting.table.over:
            legal = sitting.table.legal()
            sitting.act(str(rng.choice(legal)).partition(" ")[0])
        if k < count - 1:
            sitting.deal()


def test_a_spot_deals_from_its_ranges_and_its_tree(river):
    agent = make_agent(river)
    rng = np.random.default_rng(0)
    deals = [agent.deal(rng) for _ in range(300)]
    first, second = agent.spot.weights
    assert all(first[hand_index(*a)] and second[hand_index(*b)] for a, b, _ in deals)
    assert all(len({*a, *b, *board}) == 9 for a, b, board in deals)
    assert all(board == agent.spot.board for _, _, board in deals)
    # How often a hand is dealt: its weight times what it leaves the other; three standard deviations.
    aces = sum(hand_index(*a) in np.flatnonzero(rb.Spot.make(
        board="Td9d6hQc2s", pot=1, stack=1, oop="AA", ip="22+").weights[0]) for a, _, _ in deals)  # fmt: skip
    assert 300 * 6 / 34 - 3 * 7.0 < aces < 300 * 6 / 26 + 3 * 7.0


@pytest.mark.parametrize("spot", ["river", "turn"])
def test_moves_that_the_tree_lacks_are_refused_by_name(spot, request):
    table = rb.play(request.getfixturevalue(spot), seed=1, seat=0)
    assert table.legal() == ("c", "r50", "r200")[: len(table.legal())]
    with pytest.raises(InputError, match=r"'r60' at '': not in the tree of .*: c, r50"):
        table.act("r60")
    with pytest.raises(InputError, match="illegal action 'f'"):
        table.act("f")


def test_a_solution_sits_at_no_other_table(river):
    with pytest.raises(InputError, match="plays 'spot' and cannot sit down at 'nolimit-200bb'"):
        rb.play(river, game="nolimit-200bb")
    with pytest.raises(InputError, match="pot that belongs to nobody"):
        rb.match(river, "always-call", hands=4)


def test_what_is_won_is_a_share_of_the_final_pot(river):
    table = rb.play(river, seed=2, seat=1)
    for _ in range(40):
        while not table.over:
            table.act("c")
        chips = table.state.spent[1]
        assert table.events[-1].won in {-chips, 100 + table.state.spent[0], 50}
        table.deal()


@pytest.mark.parametrize("agent", ["river", "turn", "rule-based"])
def test_a_sitting_is_found_as_it_was_left(agent, tmp_path, request):
    name = agent if agent == "rule-based" else request.getfixturevalue(agent)
    path, rng = tmp_path / "evening.json", np.random.default_rng(3)
    sitting = Sitting.begin(path, name, seed=5)
    for _ in range(6):  # after every move, in the middle of hands and at their ends
        again = Sitting.open(path, name)
        assert again.table.to_dict() == sitting.table.to_dict()
        assert [h.line for h in again.finished.hands] == [h.line for h in sitting.finished.hands]
        if sitting.table.over:
            sitting.deal()
        else:
            sitting.act(str(rng.choice(sitting.table.legal())).partition(" ")[0])
    with pytest.raises(InputError, match="is there already"):
        Sitting.begin(path, name)


def test_files_that_are_no_sitting_are_refused(tmp_path):
    path = tmp_path / "s.json"
    sitting = Sitting.begin(path, "always-call", seed=1)
    sitting.act("c")
    good = json.loads(path.read_text())
    for change, said in [
        ({"kind": "x"}, "no sitting"),
        ({"format_version": 9}, "this release reads 1"),
        ({"hands": []}, "no hands"),
        ({"hands": [{**good["hands"][0], "line": "cr9"}]}, "illegal action"),
        ({"hands": [good["hands"][0], good["hands"][0]]}, "is not over"),
    ]:
        path.write_text(json.dumps({**good, **change}))
        with pytest.raises(InputError, match=said):
            Sitting.open(path)


def recounted(sitting, solution):
    """EV lost over a sitting and its decisions, by the recursion."""
    slow, agent, total, seen = SlowSpot(solution), sitting.table.agent, 0.0, 0
    for hand in sitting.played():
        for state, move in hand.decisions():
            line = agent.line(state, hand.board)
            evs = slow.move_evs(line, hand_index(*hand.hole), hand.seat)
            label = dict(zip(agent.menu(state, hand.board), agent.node(state, hand.board).actions, strict=True))[move]
            total, seen = total + max(evs.values()) - evs[label], seen + 1
    return total, seen


def test_ev_lost_is_the_sum_of_a_recomputation(river):
    """Every decision of a sitting, by a recursion over all hands of the other: 1e-6 of what was lost, in single tables."""
    sitting = Sitting.begin(None, river, seed=4)
    play_hands(sitting, 60, np.random.default_rng(4))
    found = sitting.reviews()
    total, seen = recounted(sitting, rb.load(river))
    assert seen > 30
    assert total > 100
    assert ev_lost(found) == pytest.approx(total, abs=1e-6 * max(1.0, total))


@pytest.mark.slow  # loops for doubles
def test_doubles_count_ev_lost_to_the_last_digit(tmp_path):
    """The same where the spot was solved in doubles: nothing but rounding is between the two."""
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=200, oop="AA,KJ,77,55", ip="QQ,AT,88,44", bets="50%, a")
    rb.solve(spot, iterations=60, dtype="float64", out=tmp_path / "river")
    sitting = Sitting.begin(None, str(tmp_path / "river"), seed=4)
    play_hands(sitting, 60, np.random.default_rng(4))
    total, seen = recounted(sitting, rb.load(tmp_path / "river"))
    assert seen > 30
    assert ev_lost(sitting.reviews()) == pytest.approx(total, abs=1e-9)


def test_hands_of_a_file_are_judged_as_those_of_the_sitting(tmp_path):
    sitting = Sitting.begin(None, "rule-based", seed=6)
    play_hands(sitting, 6, np.random.default_rng(6))
    write_hands(tmp_path / "evening.phhs", sitting.record())
    record = read_hands(tmp_path / "evening.phhs", scale=1).hands
    judge = judge_of(make_agent("rule-based"))
    first, second = hands_of(sitting.record(), "you"), hands_of(record, "you")
    assert [(h.hole, h.end.line, h.won) for h in first] == [(h.hole, h.end.line, h.won) for h in second]
    judged = [list(review(judge, hands[:2])) for hands in (first, second)]
    assert [h.to_dict() for h in judged[0]] == [h.to_dict() for h in judged[1]]


def test_an_all_in_counts_by_what_it_wins_on_average():
    sitting = Sitting.begin(None, "always-call", seed=8, seat=1)
    for k in range(3):
        sitting.act("r20000")
        if k < 2:
            sitting.deal()
    found = results(sitting, aivat=False)
    assert found.hands == 3
    assert abs(found.won) in (20_000, 60_000)
    mean = np.mean([
        20_000 * (2 * rb_equity(hand) - 1) for hand in sitting.finished.hands
    ])  # fmt: skip
    assert found.all_in.mean == pytest.approx(mean, abs=1e-6)


def rb_equity(hand):
    from riverboat.cards.equity.equities import equity
    from riverboat.cards.notation import show_cards

    return equity(*(show_cards(hand.holes[seat]) for seat in (hand.seat, 1 - hand.seat))).shares[0]


@pytest.mark.parametrize(("street", "solves"), [("river", True), ("flop", False)])
def test_an_agent_that_searches_late_has_solved_something_before_the_first_hand(street, solves, monkeypatch):
    """Loops are compiled or loaded while nobody waits in the middle of a hand."""
    solved = []
    monkeypatch.setattr(Search, "warm", lambda search: solved.append(search.settings.street))
    Sitting.begin(None, f"default?search={street}", seed=1)
    assert solved == ([street] if solves else [])
