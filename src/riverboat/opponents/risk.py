"""Safety relative to a blueprint: the risk of a response, and how much of it a budget allows.

A blueprint is not a minimax strategy, and the value of its game is unknown. Known is its guaranteed value g(b). A
response x is ε-safe relative to b if g(x) ≥ g(b) − ε; its *risk* is g(b) − g(x). Guarantees are concave. So a player
that plays x in a share λ of all hands, drawn privately before each hand, and b otherwise guarantees at least g(b) − λ ·
risk(x): any budget makes a response ε-safe with λ = min(1, ε / risk).

Guarantees are exact in the abstract game (`solvers.mccfr.abstract_response`), if buckets have perfect recall and boards
are few enough to traverse. Otherwise the risk is unknown: sampled best responses are far from optimal, and an
underestimated risk breaks the guarantee. There, only subgames can be exploited safely (`agents.safe`).

`RiskBank` tracks the budget: chips per hand, plus gifts of the opponent that are proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError
from riverboat.opponents.models.tree import bucket_probabilities, strategy_tables, street_columns
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.strategies.blueprint import Blueprint


@dataclass(frozen=True)
class RelativeRisk:
    """Decrease of the guaranteed value relative to the blueprint, in the abstract game.

    Attributes
    ----------
    chips
        Chips per hand, the mean of both seats.

    Examples
    --------
    >>> RelativeRisk(40.0).allowed_share(budget=10.0)
    0.25
    """

    chips: float

    def allowed_share(self, budget: float) -> float:
        """Return the largest share of hands with the strategy instead of the blueprint that risks at most `budget`.

        Parameters
        ----------
        budget
            Chips per hand that may be risked, 0 or more.

        Raises
        ------
        InputError
            If `budget` is negative.
        """
        if not budget >= 0:
            raise InputError(f"budget={budget:g}: must be 0 or more chips per hand")
        return 1.0 if self.chips <= budget else budget / self.chips


def combine_seats(first: Blueprint, second: Blueprint) -> Blueprint:
    """Combine seat 0 of one strategy with seat 1 of another, in the same tree.

    Parameters
    ----------
    first
        Strategy of seat 0.
    second
        Strategy of seat 1.

    Returns
    -------
    Blueprint
        The combined strategy.

    Raises
    ------
    InputError
        If trees or buckets differ.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> combine_seats(base, base).average[0].shape
    (3, 8)
    """
    tree, tables = first.tree, []
    if second.tree.fingerprint != tree.fingerprint or second.buckets != first.buckets:
        raise InputError(f"{second.rules.name!r}: both strategies must have the same tree and buckets")
    for street, pair in enumerate(zip(strategy_tables(first), strategy_tables(second), strict=True)):
        seat = tree.actor[street_columns(tree, street)[0]]
        tables.append(np.where(seat == 0, *pair).astype(np.float32))
    return replace(first, average=tuple(tables))


def expected_gain(response: Blueprint, opponent: Blueprint) -> float:
    """Return the exact expected value of a response against an opponent in the abstract game.

    Parameters
    ----------
    response
        Strategy that is evaluated.
    opponent
        Strategy of the other seat.

    Returns
    -------
    float
        Chips per hand, the mean of both seats.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> expected_gain(base, base)
    0.0
    """
    profiles = combine_seats(response, opponent), combine_seats(opponent, response)
    return sum(abstract_quality(profile).values[seat] for seat, profile in enumerate(profiles)) / 2


def exact_risk(response: Blueprint, base: Blueprint) -> RelativeRisk:
    """Compute the risk exactly, by best responses to both strategies in the abstract game.

    Parameters
    ----------
    response
        Strategy whose risk is computed.
    base
        Blueprint that it is compared with.

    Returns
    -------
    RelativeRisk
        Decrease of the guaranteed value.

    Raises
    ------
    InputError
        If buckets lack perfect recall, or there are too many boards.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> exact_risk(base, base).chips
    0.0
    """
    # The mean best-response value against both seats of a strategy is minus its guaranteed value.
    values = [sum(abstract_quality(strategy).best) / 2 for strategy in (response, base)]
    return RelativeRisk(values[0] - values[1])


def mix_strategies(response: Blueprint, base: Blueprint, share: float) -> Blueprint:
    """Return one strategy equivalent to drawing between two before each hand. Needs buckets with perfect recall.

    At every node the two strategies are weighted by their reach of the node with the bucket's own past.

    Parameters
    ----------
    response
        Strategy with probability `share`.
    base
        Strategy with the remaining probability, for the same tree.
    share
        Share of hands with the response, from 0 to 1.

    Returns
    -------
    Blueprint
        The mixture as a behavior strategy.

    Raises
    ------
    InputError
        If `share` is out of range, or buckets lack perfect recall.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> mix_strategies(base, base, share=0.5).average[0][0, :2]
    array([0.5, 0.5], dtype=float32)
    """
    if not 0 <= share <= 1:
        raise InputError(f"share={share:g}: share of hands with the response, must be from 0 to 1")
    tree, cards = base.tree, base.cards
    tables = [np.stack(pair) for pair in zip(strategy_tables(response), strategy_tables(base), strict=True)]
    parents = bucket_parents(base)
    mixed = [np.zeros_like(pair[0]) for pair in tables]
    first_reach = np.repeat([[share], [1 - share]], cards.counts[0], axis=1)
    reach = {(0, seat): first_reach for seat in (0, 1)}  # float64 [strategies, buckets] by node and seat
    for node in range(len(tree)):  # parents come before children
        if tree.actor[node] < 0:
            continue
        street, slot, count = int(tree.street[node]), int(tree.slot[node]), int(tree.count[node])
        actor = int(tree.actor[node])
        rows = tables[street][:, :, slot : slot + count]
        joint = reach[node, actor][:, :, None] * rows
        total = reach[node, actor].sum(axis=0)[:, None]
        mixed[street][:, slot : slot + count] = safe_divide(joint.sum(axis=0), total, rows[1])
        for k, child in enumerate(tree.children(node)):
            for seat in (0, 1):
                weights = joint[:, :, k] if seat == actor else reach[node, seat]
                for later in range(street, int(tree.street[child])):
                    weights = weights[:, parents[later]]
                reach[child, seat] = weights
    return replace(base, average=tuple(table.astype(np.float32) for table in mixed))


def bucket_parents(strategy: Blueprint) -> tuple[Array, ...]:
    """Return the bucket of the previous street that each bucket follows, from the second street on. int64 [buckets]

    Parameters
    ----------
    strategy
        Blueprint with its card abstraction.

    Returns
    -------
    tuple of Array
        One array for each street after the first.

    Raises
    ------
    InputError
        If a bucket follows several buckets.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> bucket_parents(base)
    ()
    """
    _, steps = bucket_probabilities(strategy.cards, strategy.rules.rounds)
    for street, step in enumerate(steps):
        if (np.count_nonzero(step, axis=0) > 1).any():
            raise InputError(
                f"{strategy.cards.name}: buckets of street {street + 2} follow several buckets of the previous street; "
                "a mixture needs buckets with perfect recall"
            )
    return tuple(np.argmax(step, axis=0) for step in steps)


# --- bank ---------------------------------------------------------------------------------------


@dataclass
class RiskBank:
    """Chips that may be risked beyond a budget per hand.

    Attributes
    ----------
    budget
        Chips that may be risked in every hand.
    chips
        Chips in the bank.
    total_gifts
        Chips credited so far.
    total_risked
        Chips charged so far.

    Examples
    --------
    >>> bank = RiskBank(budget=2.0, chips=100.0)
    >>> bank.allowed_risk(hands=50)
    4.0
    >>> bank.charge(risk=4.0, hands=50)
    >>> bank.chips
    0.0
    """

    budget: float
    chips: float = 0.0
    total_gifts: float = 0.0
    total_risked: float = 0.0

    def __post_init__(self) -> None:
        if not self.budget >= 0 or not self.chips >= 0:
            raise InputError(f"budget={self.budget:g}, chips={self.chips:g}: must be 0 or more")

    def allowed_risk(self, hands: int) -> float:
        """Return the chips that may be risked in each of `hands` hands.

        Parameters
        ----------
        hands
            Number of hands that share the bank.
        """
        return self.budget + self.chips / hands

    def charge(self, risk: float, hands: int) -> None:
        """Charge the bank for `hands` hands at a risk per hand.

        Parameters
        ----------
        risk
            Chips per hand; the part within the budget is free.
        hands
            Number of hands.

        Raises
        ------
        InputError
            If the bank holds fewer chips.
        """
        cost = max(0.0, risk - self.budget) * hands
        if cost > self.chips * (1 + 1e-9) + 1e-9:
            raise InputError(f"risk of {cost:g} chips: the bank holds {self.chips:g}")
        self.chips = max(0.0, self.chips - cost)
        self.total_risked += cost

    def credit(self, gift: float) -> None:
        """Credit a certain gift of the opponent.

        Parameters
        ----------
        gift
            Chips, 0 or more.

        Raises
        ------
        InputError
            If the gift is negative.
        """
        if not gift >= 0:
            raise InputError(f"gift of {gift:g} chips: must be 0 or more")
        self.chips += gift
        self.total_gifts += gift
