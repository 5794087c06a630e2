"""Blueprint agents in the full game: on their tree, off their tree, and with post-processing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from random_blueprints import KINDS as ALL_KINDS
from random_blueprints import SHORT
from random_blueprints import blueprint_of as blueprint
from reference import blueprint_agent as twin
from riverboat.abstraction.actions.translation import TRANSLATION_MAPPINGS, probability_of_lower
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.observations import Observations
from riverboat.strategies._kernels import line as kernels
from riverboat.strategies._kernels.line import BEYOND_MENU, ON_TREE, READ_AS_CALL
from riverboat.strategies.postprocessing import purify, tartanian7, threshold
from riverboat.testing.agents import check_agent, random_views

KINDS = {kind: game for kind, game in ALL_KINDS.items() if game[0].hole == 1}


def view(kind: str, line: str, hand: int = 0) -> Observations:
    rules = KINDS[kind][0]
    state, deck = BettingState.from_line(rules, line), rules.deck.cards
    return Observations.from_betting(
        [state], [deck[: rules.hole]], [deck[rules.hole :][: rules.board_sizes[state.street]]], [hand]
    )


def standing(kind: str, line: str, mapping: str = "det-pshar", hand: int = 0) -> tuple[str | None, int]:
    """Return the line of the tree that a real line is translated to (None: off the tree), and the status of its
    round."""
    strategy = blueprint(kind)
    found = BlueprintAgent(strategy, translation=mapping).decide(view(kind, line, hand))
    node = int(found.node[0])
    return (None if node < 0 else strategy.tree.line(node)), int(found.tree_status[0])


def plays(kind: str, line: str, mapping: str = "det-pshar") -> list[str]:
    """Return the real actions for fold, call and each raise of the decision."""
    strategy, views = blueprint(kind), view(kind, line)
    found = BlueprintAgent(strategy, translation=mapping).decide(views)
    node, moves = int(found.node[0]), found.moves[0].tolist()
    labels = [{FOLD: "f", CALL: "c"}.get(move, f"r{move}") for move in moves]
    raises = sum(label[0] == "r" for label in strategy.tree.actions(node))
    return labels[: 2 + raises]


# --- On the tree ---


@pytest.mark.parametrize("kind", ["pot", "limit", "short"])
def test_strategy_on_the_tree(kind: str) -> None:
    strategy = blueprint(kind)
    tree, rules, rng = strategy.tree, strategy.rules, np.random.default_rng(0)
    nodes = np.flatnonzero(tree.actor >= 0)
    nodes = rng.permutation(nodes)[:1500]
    states = [BettingState.from_line(rules, tree.line(int(node))) for node in nodes]
    deals = [rng.permutation(rules.deck.cards) for _ in nodes]
    boards = [deal[1 : 1 + rules.board_sizes[state.street]] for deal, state in zip(deals, states, strict=True)]
    found = BlueprintAgent(strategy).decide(Observations.from_betting(states, [deal[:1] for deal in deals], boards))
    assert found.node.tolist() == nodes.tolist()
    for i, (node, state) in enumerate(zip(nodes.tolist(), states, strict=True)):
        bucket = strategy.cards.bucket(deals[i][:1], boards[i])
        row = strategy.probabilities(node, np.array([bucket]))[0]
        labels = strategy.moves(node)
        columns = [
            0 if label == "f" else 1 if label == "c" else 2 + k - labels.index("c") - 1
            for k, label in enumerate(labels)
        ]
        assert found.rows[i, columns] == pytest.approx(row)
        assert found.rows[i].sum() == pytest.approx(1)
        assert found.moves[i, columns].tolist() == [state.parse_action(label) for label in labels]


@pytest.mark.parametrize("mapping", ["det-arith", "det-geo", "det-pshar"])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_against_the_reference(kind: str, mapping: str) -> None:
    strategy = blueprint(kind)
    tree = strategy.tree
    views = random_views(strategy.rules, 400, np.random.default_rng(11))
    found = BlueprintAgent(strategy, translation=mapping, tie="low").decide(views)
    offs: Counter[str] = Counter()
    for i in range(len(views)):
        line, seat = views.line(i), int(views.seat[i])
        node, off, state = twin.follow(tree, line, seat, mapping, "low")
        assert (None if found.node[i] < 0 else int(found.node[i])) == node, line
        assert found.tree_status[i] == ["", "beyond", "small"].index(off), line
        offs[off or ("" if node is not None else "lost")] += 1
        if off == "small":
            assert found.rows[i].tolist() == [0, 1, *[0] * (len(found.rows[i]) - 2)]
        if node is None or off == "small":
            continue
        wanted = [(tree.label(child)[0], twin.real_move(tree, node, child, state)) for child in tree.children(node)]
        raises = 2
        for label, real in wanted:
            column = {"f": 0, "c": 1}.get(label, raises)
            raises += label == "r"
            real = "c" if off == "beyond" and label == "r" else real
            assert found.moves[i, column] == state.parse_action(real), (line, label)
    assert offs["beyond"] > 0 or kind not in ("capped", "meek")
    assert offs["small"] > 0 or kind not in ("demo", "capped") or mapping == "det-geo"


# --- Action translation ---


@pytest.mark.parametrize("tie", ["low", "high"])
@pytest.mark.parametrize("mapping", TRANSLATION_MAPPINGS)
def test_translation_probabilities(mapping: str, tie: str) -> None:
    rng = np.random.default_rng(5)
    a = np.where(rng.random(400) < 0.2, 0.0, rng.random(400))
    b = a + rng.exponential(size=400) + 0.01
    x = np.where(rng.random(400) < 0.2, (a + b) / 2, a + (b - a) * rng.random(400))
    out = np.empty(400)
    kernels.translation_probabilities(list(TRANSLATION_MAPPINGS).index(mapping), tie == "low", a, b, x, out)
    for k in range(400):
        assert out[k] == pytest.approx(probability_of_lower(mapping, a[k], b[k], x[k], tie), abs=1e-12)


@pytest.mark.parametrize("mapping", [name for name, rule in TRANSLATION_MAPPINGS.items() if rule.randomised])
def test_frequencies_of_randomized_translation(mapping: str) -> None:
    """A bet of 140 into 200 is between 50 % and 100 %."""
    strategy, one = blueprint("demo"), view("demo", "cc/r240")
    many = replace(one.take(np.zeros(20_000, np.int64)), hand=np.arange(20_000))
    found = BlueprintAgent(strategy, translation=mapping, seed=1).decide(many)
    low, high = strategy.tree.find("cc/r200"), strategy.tree.find("cc/r300")
    assert set(found.node.tolist()) == {low, high}
    assert (found.node == low).mean() == pytest.approx(
        probability_of_lower(mapping, 0.5, 1, 0.7), abs=5 * 0.5 / 20_000**0.5
    )


def test_translation_is_constant_within_a_hand() -> None:
    strategy = blueprint("demo")
    agent = BlueprintAgent(strategy)
    for hand in range(30):
        here = strategy.tree.line(int(agent.decide(view("demo", "cc/cr240", hand)).node[0]))
        later = strategy.tree.line(int(agent.decide(view("demo", "cc/cr240c/", hand)).node[0]))
        assert later == f"{here}c/"
    found = {standing("demo", "cc/cr240", "rand-pshar", hand)[0] for hand in range(30)}
    assert found == {"cc/cr200", "cc/cr300"}


def test_small_bets() -> None:
    """A bet of 100 into 600 is nearer to a check than to half the pot: x* = 0.5 / 2.5 = 0.2 for the pseudo-harmonic
    mapping.
    """
    assert standing("capped", "cr300c/r400") == ("cr300c/c", ON_TREE)  # the dealer still acts
    assert plays("capped", "cr300c/r400")[:2] == ["f", "c"]  # and its check is a call
    # A check by the dealer ends the round: the bet is called, and the turn is dealt in both games.
    assert standing("capped", "cr300c/cr400") == ("cr300c/cc/", READ_AS_CALL)
    (choice,) = BlueprintAgent(blueprint("capped"), translation="det-pshar").probabilities(
        view("capped", "cr300c/cr400")
    )
    assert choice == [(CALL, 1.0)]
    assert standing("capped", "cr300c/cr400c/") == ("cr300c/cc/", ON_TREE)
    # The same holds for a minimum raise of the agent's own bet, here at the end of the tree's hand.
    assert standing("demo", "r250c/cc/cc/r500r750", "det-pshar")[1] == READ_AS_CALL
    # A further raise, which the agent itself would not make, counts as a raise that the menu does not have.
    assert standing("capped", "cr300c/cr400r500r600")[1] == BEYOND_MENU
    # At 130 it is a bet of half the pot.
    assert standing("capped", "cr300c/cr430") == ("cr300c/cr600", ON_TREE)


def test_large_bets() -> None:
    assert standing("capped", "cc/r5000") == ("cc/r300", 0)  # above the largest size: translated to the largest
    assert standing("demo", "cc/r15000")[0] == "cc/r20000"
    assert standing("demo", "cc/r20000")[0] == "cc/r20000"
    assert standing("capped", "cc/r20000")[0] == "cc/r300"  # no all-in in this tree
    assert plays("capped", "cc/r20000") == ["f", "c", "c"]  # an all-in cannot be raised


# --- Off the tree ---


def test_a_raise_beyond_the_last_of_the_menu() -> None:
    """The agent does not raise again, folds as often as at its last decision, and continues after the abstract call."""
    line = "cc/r200r500r1100"  # seat 0, the dealer, and seat 0 again: the menu has two raises on the flop
    assert standing("capped", "cc/r200r500") == ("cc/r200r600", 0)
    assert standing("capped", line) == ("cc/r200", 1)  # the dealer's decision before its raise
    assert plays("capped", line) == ["f", "c", "c"]
    assert standing("capped", f"{line}c/c") == ("cc/r200r600c/c", 0)


def test_a_bet_where_the_menu_has_none() -> None:
    """No decision of the tree gives a folding frequency: hand strength and price decide until the round is over."""
    assert standing("meek", "cc/cr300") == (None, BEYOND_MENU)
    assert standing("capped", "cr300c/cc/cc/r600r900") == (
        None,
        BEYOND_MENU,
    )  # its own bet was the last, and first, decision
    assert standing("meek", "cc/cr300c/") == ("cc/cc/", 0)
    found = BlueprintAgent(blueprint("meek")).decide(view("meek", "cc/cr20000"))
    assert sorted(found.rows[0].tolist(), reverse=True)[:2] == [1.0, 0.0]
    assert found.rows[0, 2:].sum() == 0


def test_all_in_that_was_none() -> None:
    """A bet translated to all-in and called, with chips left: the agent continues after the largest bet that is not
    all-in.
    """
    assert standing("demo", "cc/cr15000") == ("cc/cr20000", 0)
    assert standing("demo", "cc/cr15000c/") == ("cc/cr300c/", 0)
    # If all-in is the only size, the tree has no line to continue on.
    assert standing("demo", "r250r750r15000") == ("r250r750r20000", 0)
    line = "r250r750r2200r15000"
    assert standing("demo", f"{line}c/")[0] is None
    moves = BlueprintAgent(blueprint("demo"), translation="det-pshar").probabilities(view("demo", f"{line}c/"))
    assert moves == [[(CALL, 1.0)]]  # a check is free


def test_all_in_stays_all_in_unless_the_pots_are_far_apart() -> None:
    # Equal pots: the tree's own totals.
    assert plays("demo", "cc/") == ["c", "c", "r200", "r300", "r20000"]
    assert plays("demo", "cc/r290")[-1] == "r20000"
    # Bets of 72 % of the pot are translated to the pot, twice: the real pot is 1,190, the tree's 1,800.
    line = "cc/cr244c/cr595c/"
    assert standing("short", line, "det-geo") == ("cc/cr300c/cr900c/", 0)
    # All-in is 400 into 1,800 in the tree and would be 705 into 1,190 here, more than twice the fraction: the bet is 264.
    assert plays("short", line, "det-geo") == ["c", "c", "r859"]


def test_bets_keep_their_fraction_of_the_pot() -> None:
    assert standing("capped", "cr500c/")[0] == "cr300c/"
    assert plays("capped", "cr500c/") == ["c", "c", "r1000", "r1500"]  # 50 % and 100 % of 1,000
    assert plays("capped", "cr500c/r1000")[2:] == ["r3000"]  # pot 2,000 when called


# --- Sensible bets ---


@pytest.mark.parametrize("kind", KINDS)
def test_bets_are_sensible(kind: str) -> None:
    """No tiny raises, none above the effective stack, no few chips left behind, no fold if a check is free.

    Actions of the tree itself, where the pots are equal, are played unchanged.
    """
    strategy = blueprint(kind)
    rules, big = strategy.rules, strategy.rules.big_blind
    views = random_views(rules, 500, np.random.default_rng(21))
    agent, stack = BlueprintAgent(strategy), min(rules.stacks or (2**40,))
    found = agent.decide(views)
    raised = 0
    for i in range(len(views)):
        state = views.betting(i)
        span, high = state.raise_range(), max(state.spent)
        in_step = found.node[i] >= 0 and tuple(strategy.tree.spent[found.node[i]]) == state.spent
        for p, move in zip(found.rows[i].tolist(), found.moves[i].tolist(), strict=True):
            if p == 0:
                continue
            assert move != FOLD or state.to_call > 0
            if move > 0:
                raised += 1
                assert span is not None
                assert span.least <= move <= max(span.least, min(span.most, stack))
                if not in_step and not rules.limit:
                    assert move - high >= big
                    assert move >= stack or stack - move >= big
    assert raised > 20


@pytest.mark.parametrize("kind", KINDS)
def test_contract(kind: str) -> None:
    check_agent(BlueprintAgent(blueprint(kind), seed=9), tables=120)


# --- Post-processing ---


@pytest.mark.parametrize("post", ["purify", "threshold", "new"])
@pytest.mark.parametrize("spare", [True, False])
def test_rows_are_post_processed(post: str, spare: bool) -> None:
    strategy = blueprint("demo")
    views = random_views(strategy.rules, 200, np.random.default_rng(8))
    plain = BlueprintAgent(strategy).decide(views).rows
    share = None if post == "purify" else 0.3
    agent = BlueprintAgent(strategy, post=post, share=share, spare_first=spare)
    rows = agent.decide(views).rows
    labels = ("f", "c", *["r"] * (plain.shape[1] - 2))
    wanted = {"purify": purify(plain), "threshold": threshold(plain, 0.3), "new": tartanian7(plain, labels, 0.3)}[post]
    first = np.array([int(views.length[i]) < 1 + int(views.seat[i] == 0) for i in range(len(views))])
    assert first.any()
    assert not first.all()
    assert np.array_equal(rows[~first], wanted[~first])
    assert np.array_equal(rows[first], plain[first] if spare else wanted[first])
    assert not np.array_equal(rows, plain)
    check_agent(agent, tables=40)


def test_default_of_new_is_that_of_tartanian7() -> None:
    strategy = blueprint("demo")
    views = random_views(strategy.rules, 100, np.random.default_rng(8))
    rows = [
        BlueprintAgent(strategy, post="new", **more).decide(views).rows
        for more in ({}, {"share": 0.2, "spare_first": True}, {"share": 0.2, "spare_first": False})
    ]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[1], rows[2])


# --- Invalid options ---


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"translation": "pshar"}, "'pshar'"),
        ({"tie": "middle"}, "'middle'"),
        ({"post": "purified"}, "'purified'.*'purify'"),
        ({"post": "purify", "share": 0.1}, "purify"),
        ({"post": "threshold", "share": 1.5}, r"1\.5"),
    ],
)
def test_invalid_options(options, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        BlueprintAgent(blueprint("demo"), **options)


def test_other_rules() -> None:
    agent = BlueprintAgent(blueprint("demo"), name="mine")
    with pytest.raises(InputError, match=r"'mine'.*'deep'.*'short'"):
        agent.check_rules(SHORT)
    with pytest.raises(InputError, match=r"'mine'.*'deep'.*'short'"):
        agent.act(view("short", ""))
