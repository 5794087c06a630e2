"""Hands of other tables: spots as whole hands in files and back, and other blinds and stacks."""

from dataclasses import replace

import numpy as np
import pokerkit
import pytest

from random_blueprints import DEEP, DEMO, FLOP, flop_blueprint
from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.core.errors import InputError
from riverboat.formats import phh
from riverboat.formats.hand_files import phhs_text, read_units, write_hands
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import read_game
from riverboat.practice.evaluators import TableJudge, judge_of
from riverboat.practice.reviews import hands_of, review_hand
from riverboat.practice.session import Sitting
from riverboat.practice.table_conversion import read_at, returned, whole
from riverboat.practice.verdicts import Option, Verdict
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.public_strategy import ranges

RULES = read_game("nolimit-200bb")


def sat(agent, hands, seed):
    sitting, rng = Sitting.begin(None, agent, seed=seed), np.random.default_rng(seed)
    for k in range(hands):
        while not sitting.table.over:
            sitting.act(str(rng.choice(sitting.table.legal())).partition(" ")[0])
        if k < hands - 1:
            sitting.deal()
    return sitting


@pytest.mark.parametrize("name", ["river", "turn", "odd"])
def test_a_spot_s_hands_are_whole_hands_in_a_file(name, tmp_path, request):
    folder = request.getfixturevalue(name)
    sitting = sat(folder, 8, 3)
    pot, path = sitting.table.rules.pot, tmp_path / "evening.phhs"
    write_hands(path, sitting.record())
    read = read_units(path).hands
    assert read.scale == (100 if pot % 2 else 1)
    # What another program makes of the file: the same chips, the same winner.
    for i, (_, section) in enumerate(phh.sections(path.read_text())):
        *_, end = pokerkit.HandHistory.loads(section)
        ends = (read.stacks[i] + read.won[i]) / read.scale
        assert [float(chips) for chips in end.stacks] == pytest.approx(ends.tolist())
        kept = sitting.played()[i]
        assert ends[kept.seat] == pytest.approx(kept.won + sitting.table.rules.stacks[kept.seat])
    # And what the solution makes of its hands is what it said at the table.
    judge = judge_of(make_agent(folder))
    mine, theirs = sitting.reviews(), [review_hand(judge, hand) for hand in hands_of(read, "you")]
    for one, other in zip(mine, theirs, strict=True):
        costs = [made.cost / read.scale for made in other.decisions]
        assert costs == pytest.approx([made.cost for made in one.decisions], abs=1e-9)
        assert [m.verdict.best.probability for m in other.decisions] == [
            m.verdict.best.probability for m in one.decisions
        ]
    assert sum(len(one.decisions) for one in mine) > 5


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A river with a pot that two cannot have paid in whole chips, and stacks that differ."""
    import riverboat as rb

    folder = tmp_path_factory.mktemp("spots") / "odd"
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=101, stack=(150, 200), bets="50%, a", oop="AA,KJ,77", ip="QQ,AT,88")
    rb.solve(spot, iterations=40, out=folder)
    return str(folder)


def test_hands_that_are_not_of_a_spot_are_not_judged_by_it(river, odd):
    hands = hands_of(sat(odd, 3, 1).record(), "you")
    judge = judge_of(make_agent(river))
    assert {made.cost for hand in hands for made in review_hand(judge, hand).decisions} == {None}
    foreign = hands_of(sat("rule-based", 3, 1).record(), "you")
    decisions = [made for hand in foreign for made in review_hand(judge, hand).decisions]
    assert decisions
    assert all(made.why for made in decisions)


def test_amounts_are_read_in_big_blinds():
    """The same game in other chips is the same hand; with other stacks as far as the bets go."""
    cents = replace(RULES, blinds=(10, 5), stacks=(2_000, 2_000))
    there = read_at(Betting.from_line(cents, "cr30c/cr60"), RULES)
    assert (there.state.line, there.scale) == ("cr300c/cr600", 10)
    half = replace(RULES, stacks=(10_000, 10_000))
    assert read_at(Betting.from_line(half, "r10000"), RULES).state.line == "r10000"  # all-in there, a bet here
    deep = replace(RULES, stacks=(40_000, 40_000))
    assert read_at(Betting.from_line(deep, "r40000"), RULES).state.line == "r20000"
    with pytest.raises(InputError, match="deeper than the 200 big blinds"):
        read_at(Betting.from_line(deep, "r20000c/c"), RULES)
    for other in (replace(RULES, ante=5), replace(RULES, blinds=(100, 100)), read_game("limit")):
        with pytest.raises(InputError, match="cannot sit down"):
            read_at(Betting.start(other), RULES)


def test_a_verdict_comes_back_in_the_hand_s_own_chips():
    half = replace(RULES, blinds=(10, 5), stacks=(1_000, 1_000))
    state = Betting.start(half)
    options = (Option("f", 0.1, 0.0), Option("c", 0.4, 50.0), Option("r300", 0.2, 60.0), Option("r20000", 0.3, -90.0))
    told = returned(Verdict(options, "x", 150.0), state, read_at(state, RULES))
    assert [(o.move, o.ev) for o in told.options] == [("f", 0.0), ("c", 5.0), ("r30", 6.0), ("r1000", -9.0)]
    assert (told.pot, told.source) == (15.0, "x at 200 big blinds")


@pytest.mark.slow  # values of a blueprint are sampled
def test_a_hand_in_other_chips_costs_the_same():
    """A blueprint judges a hand, and the same hand with all amounts ten times as large."""
    tree = compile_actions(DEEP, DEMO)
    cards = lossless(DEEP.board[1:], DEEP.deck)
    rng = np.random.default_rng(4)
    sums = tuple(
        rng.random((cards.counts[street], int(tree.width[street])), np.float32) for street in range(DEEP.rounds)
    )
    agent = BlueprintAgent(BlueprintStrategy(DEEP, DEMO, tree, cards, sums), name="random")
    judge = TableJudge(agent, agent, solves=False)
    large = replace(DEEP, blinds=(1_000, 500), stacks=(200_000, 200_000))
    first, second = DEEP.deck.cards[[0, 3]].tolist()
    hole, board = (first,), (second,)
    for line, same in (("r300", "r3000"), ("cc/r200", "cc/r2000"), ("r1200", "r12000")):
        one = judge.verdict(Betting.from_line(DEEP, line), board, hole)
        other = judge.verdict(Betting.from_line(large, same), board, hole)
        assert [o.probability for o in other.options] == pytest.approx([o.probability for o in one.options])
        assert [o.ev / 10 for o in other.options] == pytest.approx([o.ev for o in one.options])
        assert other.best.move[0] == one.best.move[0]


def test_bets_that_a_blueprint_never_makes_leave_its_players_a_range():
    """Nobody would hold anything behind them: ranges are asked for at the nearest bets that it makes."""
    agent = BlueprintAgent(flop_blueprint(), name="flop")
    judge, board = TableJudge(agent, agent), tuple(range(0, 12, 4))
    for line, near in (("r250c/", "r300c/"), ("r300c/", "r300c/"), ("r340c/c", "r300c/c")):
        state = Betting.from_line(FLOP, line)
        read = judge.played_as(state, board)
        assert read.line == near
        assert (ranges(Places.of([read], [board]), agent).sum(axis=2) > 0).all()
    state = Betting.from_line(FLOP, "r250c/")
    assert ranges(Places.of([state], [board]), agent)[0, 1].sum() == 0


def test_what_is_written_of_a_spot_says_its_chips(river):
    text = phhs_text(sat(river, 1, 2).record())
    assert "antes = [50, 50]" in text
    assert "starting_stacks = [250, 250]" in text
    assert text.index("'p1 cc', 'p2 cc', 'd db Td9d6h'") < text.index("'d db 2s'")
    agent = make_agent(river)
    assert isinstance(agent, SolutionAgent)
    root, scale = whole(agent.start)
    assert (root.pot, root.behind, root.line, scale) == (100, (200, 200), "cc/cc/cc/", 1)
