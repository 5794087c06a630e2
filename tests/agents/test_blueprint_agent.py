"""A blueprint in the real game: on its tree, off its tree, post-processed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from random_blueprints import KINDS as ALL_KINDS
from random_blueprints import SHORT
from random_blueprints import blueprint_of as blueprint
from reference import blueprint_agent as twin
from riverboat.abstraction.actions.translation import MAPPINGS, share
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL, FOLD, read_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.observation import Views
from riverboat.strategies._kernels import line as kernels
from riverboat.strategies._kernels.line import BEYOND, IN_STEP, SMALL
from riverboat.strategies.postprocessing import purify, tartanian7, threshold
from riverboat.testing.agents import check_agent, random_views

KINDS = {kind: game for kind, game in ALL_KINDS.items() if game[0].hole == 1}


def view(kind: str, line: str, hand: int = 0) -> Views:
    rules = KINDS[kind][0]
    state, deck = Betting.from_line(rules, line), rules.deck.cards
    return Views.of([state], [deck[: rules.hole]], [deck[rules.hole :][: rules.board_sizes[state.street]]], [hand])


def standing(kind: str, line: str, mapping: str = "det-pshar", hand: int = 0) -> tuple[str | None, int]:
    """The line in the tree that a real one is read as (none: off the tree), and whether its round is off."""
    strategy = blueprint(kind)
    found = BlueprintAgent(strategy, translation=mapping).decide(view(kind, line, hand))
    node = int(found.node[0])
    return (None if node < 0 else strategy.tree.line(node)), int(found.off[0])


def plays(kind: str, line: str, mapping: str = "det-pshar") -> list[str]:
    """Real moves for fold, call and each raise of the decision."""
    strategy, views = blueprint(kind), view(kind, line)
    found = BlueprintAgent(strategy, translation=mapping).decide(views)
    node, moves = int(found.node[0]), found.moves[0].tolist()
    labels = [{FOLD: "f", CALL: "c"}.get(move, f"r{move}") for move in moves]
    raises = sum(label[0] == "r" for label in strategy.tree.moves(node))
    return labels[: 2 + raises]


# --- on the tree ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pot", "limit", "short"])
def test_on_its_tree_it_plays_the_strategy(kind: str) -> None:
    strategy = blueprint(kind)
    tree, rules, rng = strategy.tree, strategy.rules, np.random.default_rng(0)
    nodes = np.flatnonzero(tree.actor >= 0)
    nodes = rng.permutation(nodes)[:1500]
    states = [Betting.from_line(rules, tree.line(int(node))) for node in nodes]
    deals = [rng.permutation(rules.deck.cards) for _ in nodes]
    boards = [deal[1 : 1 + rules.board_sizes[state.street]] for deal, state in zip(deals, states, strict=True)]
    found = BlueprintAgent(strategy).decide(Views.of(states, [deal[:1] for deal in deals], boards))
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
        assert found.moves[i, columns].tolist() == [read_move(label, state) for label in labels]


@pytest.mark.parametrize("mapping", ["det-arith", "det-geo", "det-pshar"])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_are_followed_as_the_plain_version_does(kind: str, mapping: str) -> None:
    strategy = blueprint(kind)
    tree = strategy.tree
    views = random_views(strategy.rules, 400, np.random.default_rng(11))
    found = BlueprintAgent(strategy, translation=mapping, tie="low").decide(views)
    offs: Counter[str] = Counter()
    for i in range(len(views)):
        line, seat = views.line(i), int(views.seat[i])
        node, off, state = twin.follow(tree, line, seat, mapping, "low")
        assert (None if found.node[i] < 0 else int(found.node[i])) == node, line
        assert found.off[i] == ["", "beyond", "small"].index(off), line
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
            assert found.moves[i, column] == read_move(real, state), (line, label)
    assert offs["beyond"] > 0 or kind not in ("capped", "meek")
    assert offs["small"] > 0 or kind not in ("demo", "capped") or mapping == "det-geo"


# --- reading bets -----------------------------------------------------------------------------


@pytest.mark.parametrize("tie", ["low", "high"])
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_shares_are_those_of_the_translations(mapping: str, tie: str) -> None:
    rng = np.random.default_rng(5)
    a = np.where(rng.random(400) < 0.2, 0.0, rng.random(400))
    b = a + rng.exponential(size=400) + 0.01
    x = np.where(rng.random(400) < 0.2, (a + b) / 2, a + (b - a) * rng.random(400))
    out = np.empty(400)
    kernels.shares(list(MAPPINGS).index(mapping), tie == "low", a, b, x, out)
    for k in range(400):
        assert out[k] == pytest.approx(share(mapping, a[k], b[k], x[k], tie), abs=1e-12)


@pytest.mark.parametrize("mapping", [name for name, rule in MAPPINGS.items() if rule.randomised])
def test_bets_between_two_sizes_are_read_as_often_as_the_mapping_says(mapping: str) -> None:
    """A bet of 140 into 200, between 50 % and 100 %."""
    strategy, one = blueprint("demo"), view("demo", "cc/r240")
    many = replace(one.take(np.zeros(20_000, np.int64)), hand=np.arange(20_000))
    found = BlueprintAgent(strategy, translation=mapping, seed=1).decide(many)
    low, high = strategy.tree.find("cc/r200"), strategy.tree.find("cc/r300")
    assert set(found.node.tolist()) == {low, high}
    assert (found.node == low).mean() == pytest.approx(share(mapping, 0.5, 1, 0.7), abs=5 * 0.5 / 20_000**0.5)


def test_a_bet_is_understood_the_same_way_all_through_a_hand() -> None:
    strategy = blueprint("demo")
    agent = BlueprintAgent(strategy)
    for hand in range(30):
        here = strategy.tree.line(int(agent.decide(view("demo", "cc/cr240", hand)).node[0]))
        later = strategy.tree.line(int(agent.decide(view("demo", "cc/cr240c/", hand)).node[0]))
        assert later == f"{here}c/"
    found = {standing("demo", "cc/cr240", "rand-pshar", hand)[0] for hand in range(30)}
    assert found == {"cc/cr200", "cc/cr300"}


def test_small_bets() -> None:
    """100 into 600 is nearer to a check than to half the pot: x* = 0.5 / 2.5 = 0.2 for the pseudo-harmonic mapping."""
    assert standing("capped", "cr300c/r400") == ("cr300c/c", IN_STEP)  # the dealer still speaks
    assert plays("capped", "cr300c/r400")[:2] == ["f", "c"]  # and its check is a call
    # A check by the dealer ends the round: the bet is called, and the turn is dealt in both games.
    assert standing("capped", "cr300c/cr400") == ("cr300c/cc/", SMALL)
    (choice,) = BlueprintAgent(blueprint("capped"), translation="det-pshar").probabilities(
        view("capped", "cr300c/cr400")
    )
    assert choice == [(CALL, 1.0)]
    assert standing("capped", "cr300c/cr400c/") == ("cr300c/cc/", IN_STEP)
    # So it is with a raise of one's own bet by the least, here to the end of the tree's hand.
    assert standing("demo", "r250c/cc/cc/r500r750", "det-pshar")[1] == SMALL
    # Raised again, which only others in the agent's place would do: as after a raise that the menu does not have.
    assert standing("capped", "cr300c/cr400r500r600")[1] == BEYOND
    # At 130 it is a bet of half the pot.
    assert standing("capped", "cr300c/cr430") == ("cr300c/cr600", IN_STEP)


def test_large_bets() -> None:
    assert standing("capped", "cc/r5000") == ("cc/r300", 0)  # above the largest size: the largest
    assert standing("demo", "cc/r15000")[0] == "cc/r20000"
    assert standing("demo", "cc/r20000")[0] == "cc/r20000"
    assert standing("capped", "cc/r20000")[0] == "cc/r300"  # no all-in in this tree
    assert plays("capped", "cc/r20000") == ["f", "c", "c"]  # nobody can raise an all-in


# --- what the tree has no move for ------------------------------------------------------------


def test_a_raise_beyond_the_last_of_the_menu() -> None:
    """The agent does not raise again, folds as often as at its last decision, and goes on behind the abstract call."""
    line = "cc/r200r500r1100"  # seat 0, the dealer, and seat 0 again: the menu has two raises on the flop
    assert standing("capped", "cc/r200r500") == ("cc/r200r600", 0)
    assert standing("capped", line) == ("cc/r200", 1)  # the dealer's decision before its raise
    assert plays("capped", line) == ["f", "c", "c"]
    assert standing("capped", f"{line}c/c") == ("cc/r200r600c/c", 0)


def test_a_bet_where_the_menu_has_none() -> None:
    """No decision there says how often to fold: strength and price decide until the round is over."""
    assert standing("meek", "cc/cr300") == (None, BEYOND)
    assert standing("capped", "cr300c/cc/cc/r600r900") == (
        None,
        BEYOND,
    )  # its own bet was the last, and first, decision
    assert standing("meek", "cc/cr300c/") == ("cc/cc/", 0)
    found = BlueprintAgent(blueprint("meek")).decide(view("meek", "cc/cr20000"))
    assert sorted(found.rows[0].tolist(), reverse=True)[:2] == [1.0, 0.0]
    assert found.rows[0, 2:].sum() == 0


def test_all_in_that_was_none() -> None:
    """A bet read as all-in and called, with chips left: the agent goes on behind the largest bet that is not all-in."""
    assert standing("demo", "cc/cr15000") == ("cc/cr20000", 0)
    assert standing("demo", "cc/cr15000c/") == ("cc/cr300c/", 0)
    # Where all-in is the only size there is nothing to go on behind.
    assert standing("demo", "r250r750r15000") == ("r250r750r20000", 0)
    line = "r250r750r2200r15000"
    assert standing("demo", f"{line}c/")[0] is None
    moves = BlueprintAgent(blueprint("demo"), translation="det-pshar").probabilities(view("demo", f"{line}c/"))
    assert moves == [[(CALL, 1.0)]]  # a check is free


def test_all_in_stays_all_in_unless_the_pots_are_far_apart() -> None:
    # In step: the tree's own totals.
    assert plays("demo", "cc/") == ["c", "c", "r200", "r300", "r20000"]
    assert plays("demo", "cc/r290")[-1] == "r20000"
    # Bets of 72 % of the pot are read as the pot, twice: 1,190 are in the middle, and 1,800 in the tree.
    line = "cc/cr244c/cr595c/"
    assert standing("short", line, "det-geo") == ("cc/cr300c/cr900c/", 0)
    # All-in is 400 into 1,800 there and would be 705 into 1,190 here, more than twice the share: 264 are bet.
    assert plays("short", line, "det-geo") == ["c", "c", "r859"]


def test_bets_are_the_same_share_of_the_real_pot() -> None:
    assert standing("capped", "cr500c/")[0] == "cr300c/"
    assert plays("capped", "cr500c/") == ["c", "c", "r1000", "r1500"]  # 50 % and 100 % of 1,000
    assert plays("capped", "cr500c/r1000")[2:] == ["r3000"]  # pot 2,000 when called


# --- never nonsense ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_no_nonsensical_bets(kind: str) -> None:
    """No raise by a few chips, none beyond what the other can call, no few chips left behind, no fold where a check is
    free; but moves of the tree itself, where the pots are equal, are played as they are."""
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
def test_it_keeps_the_contract(kind: str) -> None:
    check_agent(BlueprintAgent(blueprint(kind), seed=9), tables=120)


# --- post-processing --------------------------------------------------------------------------


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


def test_what_tartanian7_did_is_the_default_of_new() -> None:
    strategy = blueprint("demo")
    views = random_views(strategy.rules, 100, np.random.default_rng(8))
    rows = [
        BlueprintAgent(strategy, post="new", **more).decide(views).rows
        for more in ({}, {"share": 0.2, "spare_first": True}, {"share": 0.2, "spare_first": False})
    ]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[1], rows[2])


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"translation": "pshar"}, "unknown action translation 'pshar'"),
        ({"tie": "middle"}, "unknown tie rule"),
        ({"post": "purified"}, "did you mean 'purify'"),
        ({"post": "purify", "share": 0.1}, "purify has no share"),
        ({"post": "threshold", "share": 1.5}, "must be from 0 to 1"),
    ],
)
def test_wrong_options(options, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        BlueprintAgent(blueprint("demo"), **options)


def test_other_rules_are_refused() -> None:
    agent = BlueprintAgent(blueprint("demo"), name="mine")
    with pytest.raises(InputError, match="agent 'mine' plays 'deep' and cannot sit down at 'short'"):
        agent.check_rules(SHORT)
    with pytest.raises(InputError, match="other rules"):
        agent.act(view("short", ""))
