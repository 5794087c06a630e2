"""Conversion of hands: spots to whole hands in files and back, and other blinds and stacks."""

from dataclasses import replace

import numpy as np
import pokerkit
import pytest

from random_blueprints import DEEP, DEMO, FLOP, flop_blueprint
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.core.errors import InputError
from riverboat.formats import phh
from riverboat.formats.hand_files import format_phhs, read_hands_in_file_units, write_hands
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import read_game
from riverboat.practice.evaluators import (
    TableEvaluator,
    convert_to_rules,
    convert_to_whole_hand,
    convert_verdict_back,
    make_evaluator,
)
from riverboat.practice.reviews import hands_of_player, review_hand
from riverboat.practice.session import PracticeSession
from riverboat.practice.verdicts import DecisionVerdict, VerdictOption
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.public_strategy import ranges

RULES = read_game("nolimit-200bb")


def sat(agent, hands, seed):
    session, rng = PracticeSession.begin(None, agent, seed=seed), np.random.default_rng(seed)
    for k in range(hands):
        while not session.table.over:
            session.act(str(rng.choice(session.table.legal())).partition(" ")[0])
        if k < hands - 1:
            session.deal()
    return session


@pytest.mark.parametrize("name", ["river", "turn", "odd"])
def test_spot_hands_in_files(name, tmp_path, request):
    folder = request.getfixturevalue(name)
    session = sat(folder, 8, 3)
    pot, path = session.table.rules.pot, tmp_path / "evening.phhs"
    write_hands(path, session.finished.record())
    read = read_hands_in_file_units(path).hands
    assert read.scale == (100 if pot % 2 else 1)
    # Another program reads the same chips and the same winner from the file.
    for i, (_, section) in enumerate(phh.split_hands(path.read_text())):
        *_, end = pokerkit.HandHistory.loads(section)
        ends = (read.stacks[i] + read.won[i]) / read.scale
        assert [float(chips) for chips in end.stacks] == pytest.approx(ends.tolist())
        kept = session.finished.played()[i]
        assert ends[kept.seat] == pytest.approx(kept.won + session.table.rules.stacks[kept.seat])
    # The solution gives the same reviews for the file as for the session.
    judge = make_evaluator(make_agent(folder))
    mine, theirs = session.reviews(), [review_hand(judge, hand) for hand in hands_of_player(read, "you")]
    for one, other in zip(mine, theirs, strict=True):
        costs = [made.cost / read.scale for made in other.decisions]
        assert costs == pytest.approx([made.cost for made in one.decisions], abs=1e-9)
        assert [m.verdict.best.probability for m in other.decisions] == [
            m.verdict.best.probability for m in one.decisions
        ]
    assert sum(len(one.decisions) for one in mine) > 5


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """River with an odd pot and different stacks."""
    import riverboat as rb

    folder = tmp_path_factory.mktemp("spots") / "odd"
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=101, stack=(150, 200), bets="50%, a", oop="AA,KJ,77", ip="QQ,AT,88")
    rb.solve(spot, iterations=40, out=folder)
    return str(folder)


def test_hands_of_another_spot_are_not_evaluated(river, odd):
    hands = hands_of_player(sat(odd, 3, 1).finished.record(), "you")
    judge = make_evaluator(make_agent(river))
    assert {made.cost for hand in hands for made in review_hand(judge, hand).decisions} == {None}
    foreign = hands_of_player(sat("rule-based", 3, 1).finished.record(), "you")
    decisions = [made for hand in foreign for made in review_hand(judge, hand).decisions]
    assert decisions
    assert all(made.unknown_reason for made in decisions)


def test_conversion_by_big_blinds():
    """A game in other chips is the same game; other stacks work as far as the bets allow."""
    cents = replace(RULES, blinds=(10, 5), stacks=(2_000, 2_000))
    there = convert_to_rules(BettingState.from_line(cents, "cr30c/cr60"), RULES)
    assert (there.state.line, there.scale) == ("cr300c/cr600", 10)
    half = replace(RULES, stacks=(10_000, 10_000))
    assert (
        convert_to_rules(BettingState.from_line(half, "r10000"), RULES).state.line == "r10000"
    )  # all-in at the other table, a bet here
    deep = replace(RULES, stacks=(40_000, 40_000))
    assert convert_to_rules(BettingState.from_line(deep, "r40000"), RULES).state.line == "r20000"
    with pytest.raises(InputError, match=r"'r20000c/c'.*200 big blinds"):
        convert_to_rules(BettingState.from_line(deep, "r20000c/c"), RULES)
    for other in (replace(RULES, ante=5), replace(RULES, blinds=(100, 100)), read_game("limit")):
        with pytest.raises(InputError, match=r"'judge'|agent"):
            convert_to_rules(BettingState.start(other), RULES)


def test_verdicts_are_converted_back():
    half = replace(RULES, blinds=(10, 5), stacks=(1_000, 1_000))
    state = BettingState.start(half)
    options = (
        VerdictOption("f", 0.1, 0.0),
        VerdictOption("c", 0.4, 50.0),
        VerdictOption("r300", 0.2, 60.0),
        VerdictOption("r20000", 0.3, -90.0),
    )
    told = convert_verdict_back(DecisionVerdict(options, "x", 150.0), state, convert_to_rules(state, RULES))
    assert [(o.move, o.ev) for o in told.options] == [("f", 0.0), ("c", 5.0), ("r30", 6.0), ("r1000", -9.0)]
    assert (told.pot, told.source) == (15.0, "x at 200 big blinds")


@pytest.mark.slow  # samples value tables
def test_costs_do_not_depend_on_the_unit():
    """A blueprint evaluates a hand, and the same hand with all amounts ten times as large, alike."""
    tree = compile_action_tree(DEEP, DEMO)
    cards = lossless_abstraction(DEEP.board[1:], DEEP.deck)
    rng = np.random.default_rng(4)
    sums = tuple(
        rng.random((cards.counts[street], int(tree.width[street])), np.float32) for street in range(DEEP.rounds)
    )
    agent = BlueprintAgent(Blueprint(DEEP, DEMO, tree, cards, sums), name="random")
    judge = TableEvaluator(agent, agent, solves=False)
    large = replace(DEEP, blinds=(1_000, 500), stacks=(200_000, 200_000))
    first, second = DEEP.deck.cards[[0, 3]].tolist()
    hole, board = (first,), (second,)
    for line, same in (("r300", "r3000"), ("cc/r200", "cc/r2000"), ("r1200", "r12000")):
        one = judge.verdict(BettingState.from_line(DEEP, line), board, hole)
        other = judge.verdict(BettingState.from_line(large, same), board, hole)
        assert [o.probability for o in other.options] == pytest.approx([o.probability for o in one.options])
        assert [o.ev / 10 for o in other.options] == pytest.approx([o.ev for o in one.options])
        assert other.best.move[0] == one.best.move[0]


def test_ranges_after_off_tree_bets():
    """Ranges after off-tree bets would be empty: they are computed at the nearest bets of the blueprint."""
    agent = BlueprintAgent(flop_blueprint(), name="flop")
    judge, board = TableEvaluator(agent, agent), tuple(range(0, 12, 4))
    for line, near in (("r250c/", "r300c/"), ("r300c/", "r300c/"), ("r340c/c", "r300c/c")):
        state = BettingState.from_line(FLOP, line)
        read = judge.translated_state(state, board)
        assert read.line == near
        assert (ranges(PublicStates.from_betting([read], [board]), agent).sum(axis=2) > 0).all()
    state = BettingState.from_line(FLOP, "r250c/")
    assert ranges(PublicStates.from_betting([state], [board]), agent)[0, 1].sum() == 0


def test_text_of_a_spot_hand(river):
    text = format_phhs(sat(river, 1, 2).finished.record())
    assert "antes = [50, 50]" in text
    assert "starting_stacks = [250, 250]" in text
    assert text.index("'p1 cc', 'p2 cc', 'd db Td9d6h'") < text.index("'d db 2s'")
    agent = make_agent(river)
    assert isinstance(agent, SolutionAgent)
    root, scale = convert_to_whole_hand(agent.start)
    assert (root.pot, root.behind, root.line, scale) == (100, (200, 200), "cc/cc/cc/", 1)
