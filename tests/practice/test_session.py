"""Practice sessions: saved, resumed and reviewed; solved spots as opponents."""

import json

import numpy as np
import pytest

import riverboat as rb
from reference.spot_ev import SlowSpot
from riverboat.agents.registry import make_agent
from riverboat.cards.deck import hand_index
from riverboat.core.errors import InputError
from riverboat.formats.hand_files import read_hands, write_hands
from riverboat.games.holdem.actions import format_action
from riverboat.practice.evaluators import make_evaluator
from riverboat.practice.reviews import hands_of_player, review_hand, total_ev_lost
from riverboat.practice.session import PracticeSession, session_results
from riverboat.subgames.search.search import SubgameSearch


def play_hands(session, count, rng):
    """Play several hands with random legal actions."""
    for k in range(count):
        while not session.table.over:
            legal = session.table.legal()
            session.act(str(rng.choice(legal)).partition(" ")[0])
        if k < count - 1:
            session.deal()


def test_deals_of_a_spot(river):
    agent = make_agent(river)
    rng = np.random.default_rng(0)
    deals = [agent.deal(rng) for _ in range(300)]
    first, second = agent.spot.weights
    assert all(first[hand_index(*a)] and second[hand_index(*b)] for a, b, _ in deals)
    assert all(len({*a, *b, *board}) == 9 for a, b, board in deals)
    assert all(board == agent.spot.board for _, _, board in deals)
    # Frequency of a hand: its weight times the compatible weight of the other; three standard deviations.
    aces = sum(hand_index(*a) in np.flatnonzero(rb.Spot.make(
        board="Td9d6hQc2s", pot=1, stack=1, oop="AA", ip="22+", bets="").weights[0]) for a, _, _ in deals)  # fmt: skip
    assert 300 * 6 / 34 - 3 * 7.0 < aces < 300 * 6 / 26 + 3 * 7.0


@pytest.mark.parametrize("spot", ["river", "turn"])
def test_actions_outside_the_tree(spot, request):
    table = rb.play(request.getfixturevalue(spot), seed=1, seat=0)
    assert table.legal() == ("c", "r50", "r200")[: len(table.legal())]
    with pytest.raises(InputError, match=r"'r60' at ''.*: c, r50"):
        table.act("r60")
    with pytest.raises(InputError, match="'f'"):
        table.act("f")


def test_solution_agents_need_their_own_game(river):
    with pytest.raises(InputError, match=r"'spot'.*'nolimit-200bb'"):
        rb.play(river, game="nolimit-200bb")
    with pytest.raises(InputError, match="pot"):
        rb.match(river, "always-call", hands=4)


def test_winnings_are_a_share_of_the_final_pot(river):
    table = rb.play(river, seed=2, seat=1)
    for _ in range(40):
        while not table.over:
            table.act("c")
        chips = table.state.spent[1]
        assert table.events[-1].won in {-chips, 100 + table.state.spent[0], 50}
        table.deal()


@pytest.mark.parametrize("agent", ["river", "turn", "rule-based"])
def test_sessions_are_resumed(agent, tmp_path, request):
    name = agent if agent == "rule-based" else request.getfixturevalue(agent)
    path, rng = tmp_path / "evening.json", np.random.default_rng(3)
    session = PracticeSession.begin(path, name, seed=5)
    for _ in range(6):  # after every action, in the middle of hands and at their ends
        again = PracticeSession.open(path, name)
        assert again.table.to_dict() == session.table.to_dict()
        assert [h.line for h in again.finished.hands] == [h.line for h in session.finished.hands]
        if session.table.over:
            session.deal()
        else:
            session.act(str(rng.choice(session.table.legal())).partition(" ")[0])
    with pytest.raises(InputError, match=r"evening\.json"):
        PracticeSession.begin(path, name)


def test_invalid_files(tmp_path):
    path = tmp_path / "s.json"
    session = PracticeSession.begin(path, "always-call", seed=1)
    session.act("c")
    good = json.loads(path.read_text())
    for change, said in [
        ({"kind": "x"}, r"s\.json: is not a session"),
        ({"format_version": 9}, "format 9"),
        ({"hands": []}, r"s\.json: has no hands"),
        ({"hands": [{**good["hands"][0], "line": "cr9"}]}, "r9"),
        ({"hands": [good["hands"][0], good["hands"][0]]}, "hand 1"),
    ]:
        path.write_text(json.dumps({**good, **change}))
        with pytest.raises(InputError, match=said):
            PracticeSession.open(path)


def recounted(session, solution):
    """Return the EV lost over a session and its number of decisions, by recursion."""
    slow, agent, total, seen = SlowSpot(solution), session.table.agent, 0.0, 0
    for hand in session.finished.played():
        for state, action in hand.decisions():
            line = agent.solution_line(state, hand.board)
            evs = slow.move_evs(line, hand_index(*hand.hole), hand.seat)
            label = dict(zip(agent.menu(state, hand.board), agent.node_at(state, hand.board).actions, strict=True))[
                format_action(action, state.rules)
            ]
            total, seen = total + max(evs.values()) - evs[label], seen + 1
    return total, seen


def test_ev_lost_against_a_recomputation(river):
    """Every decision of a session is recomputed over all hands of the opponent, to 4e-6 of the loss with float32
    tables.
    """
    session = PracticeSession.begin(None, river, seed=4)
    play_hands(session, 60, np.random.default_rng(4))
    found = session.reviews()
    total, seen = recounted(session, rb.load(river))
    assert seen > 30
    assert total > 100
    assert total_ev_lost(found) == pytest.approx(total, abs=4e-6 * max(1.0, total))


@pytest.mark.slow  # compiles kernels for float64
def test_ev_lost_in_float64(tmp_path):
    """With a spot solved in float64 the two differ only by rounding."""
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=200, oop="AA,KJ,77,55", ip="QQ,AT,88,44", bets="50%, a")
    rb.solve(spot, iterations=60, dtype="float64", out=tmp_path / "river")
    session = PracticeSession.begin(None, str(tmp_path / "river"), seed=4)
    play_hands(session, 60, np.random.default_rng(4))
    total, seen = recounted(session, rb.load(tmp_path / "river"))
    assert seen > 30
    assert total_ev_lost(session.reviews()) == pytest.approx(total, abs=1e-9)


def test_hands_of_a_file_are_judged_as_those_of_the_session(tmp_path):
    session = PracticeSession.begin(None, "rule-based", seed=6)
    play_hands(session, 6, np.random.default_rng(6))
    write_hands(tmp_path / "evening.phhs", session.finished.record())
    record = read_hands(tmp_path / "evening.phhs", scale=1).hands
    judge = make_evaluator(make_agent("rule-based"))
    first, second = hands_of_player(session.finished.record(), "you"), hands_of_player(record, "you")
    assert [(h.hole, h.end.line, h.won) for h in first] == [(h.hole, h.end.line, h.won) for h in second]
    judged = [[review_hand(judge, hand) for hand in hands[:2]] for hands in (first, second)]
    assert [h.to_dict() for h in judged[0]] == [h.to_dict() for h in judged[1]]


def test_all_in_adjusted_results():
    session = PracticeSession.begin(None, "always-call", seed=8, seat=1)
    for k in range(3):
        session.act("r20000")
        if k < 2:
            session.deal()
    found = session_results(session.finished, None)
    assert found.hands == 3
    assert abs(found.won) in (20_000, 60_000)
    mean = np.mean([
        20_000 * (2 * rb_equity(hand) - 1) for hand in session.finished.hands
    ])  # fmt: skip
    assert found.all_in.mean == pytest.approx(mean, abs=1e-6)


def rb_equity(hand):
    from riverboat.cards.equity.equities import equity
    from riverboat.cards.notation import format_cards

    return equity(*(format_cards(hand.holes[seat]) for seat in (hand.seat, 1 - hand.seat))).shares[0]


@pytest.mark.parametrize(("street", "solves"), [("river", True), ("flop", False)])
def test_warm_up_of_search(street, solves, monkeypatch):
    """Kernels are compiled or loaded before the first hand."""
    solved = []
    monkeypatch.setattr(SubgameSearch, "warm_up", lambda search: solved.append(search.settings.street))
    PracticeSession.begin(None, f"default?search={street}", seed=1)
    assert solved == ([street] if solves else [])
