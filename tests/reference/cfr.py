"""Reference implementations of the solvers, written from the papers: recursion, dictionaries, deal by deal.

A game is expanded from its own states into plain `Node`s. `Twin` is counterfactual regret minimization on them, with
each variant as its paper describes it; `values`, `best_response` and `best_pure` follow the definitions, and `terminal`
pays every pair of hands separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    ComparisonPayoff,
    ConstantPayoff,
    Game,
    HistoryGame,
    HistoryState,
    Outcome,
    Payoff,
    PrivateDeal,
    PublicGame,
    PublicState,
)
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.public import Infoset, PublicTree

Profile = Mapping[str, Sequence[float]]  # information set -> probability of each action

# --- games ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A history and its subtree."""

    actor: int
    infoset: str = ""
    actions: tuple[str, ...] = ()
    chance: tuple[float, ...] = ()
    payoffs: tuple[float, ...] = ()
    children: tuple[Node, ...] = ()


def expand(game: Game) -> Node:
    """All histories of a game; public games are expanded deal by deal."""
    return _expand(game.root() if isinstance(game, HistoryGame) else _Undealt(game))


def _expand(state: HistoryState) -> Node:
    if state.actor == TERMINAL:
        return Node(TERMINAL, payoffs=tuple(map(float, state.payoffs())))
    actions = tuple(state.actions())
    children = tuple(_expand(state.child(k)) for k in range(len(actions)))
    if state.actor == CHANCE:
        return Node(CHANCE, actions=actions, chance=tuple(state.probabilities()), children=children)
    return Node(state.actor, state.infoset(), actions, children=children)


@dataclass(frozen=True)
class _Undealt:
    """A public game before the deal: chance deals both hands at once."""

    game: PublicGame
    actor: int = CHANCE

    def _pairs(self) -> list[tuple[int, int, float]]:
        deal = self.game.deal
        pairs = [
            (h0, h1, float(w0 * w1))
            for h0, w0 in enumerate(deal.weights[0])
            for h1, w1 in enumerate(deal.weights[1])
            if (h0, h1) not in deal.excludes and w0 * w1 > 0
        ]
        total = sum(weight for _, _, weight in pairs)
        return [(h0, h1, weight / total) for h0, h1, weight in pairs]

    def actions(self) -> list[str]:
        return [f"{self.game.hands[0][h0]},{self.game.hands[1][h1]}" for h0, h1, _ in self._pairs()]

    def probabilities(self) -> list[float]:
        return [p for _, _, p in self._pairs()]

    def child(self, index: int) -> _Dealt:
        h0, h1, _ = self._pairs()[index]
        return _Dealt(self.game, self.game.root(), (h0, h1), ())

    def infoset(self) -> str:
        raise AssertionError

    def payoffs(self) -> tuple[float, ...]:
        raise AssertionError


@dataclass(frozen=True)
class _Dealt:
    """One history of a public game: its public state and the players' hands."""

    game: PublicGame
    public: PublicState
    hands: tuple[int, int]
    line: tuple[str, ...]

    @property
    def actor(self) -> int:
        return self.public.actor

    def _possible(self) -> list[int]:
        """Outcomes that both hands allow."""
        outcomes = self.public.outcomes()
        return [k for k, o in enumerate(outcomes) if self.hands[0] not in o.dead[0] and self.hands[1] not in o.dead[1]]

    def actions(self) -> list[str]:
        if self.actor == CHANCE:
            return [self.public.outcomes()[k].label for k in self._possible()]
        return list(self.public.actions())

    def probabilities(self) -> list[float]:
        return [self.public.outcomes()[k].weight for k in self._possible()]

    def child(self, index: int) -> _Dealt:
        k = self._possible()[index] if self.actor == CHANCE else index
        return _Dealt(self.game, self.public.child(k), self.hands, (*self.line, self.actions()[index]))

    def infoset(self) -> str:
        return f"{self.game.hands[self.actor][self.hands[self.actor]]}:{self.game.joiner.join(self.line)}"

    def payoffs(self) -> tuple[float, float]:
        return pay(self.public.payoff(), *self.hands)


def pay(payoff: Payoff, h0: int, h1: int) -> tuple[float, float]:
    """Payoffs of a terminal for these hands."""
    if isinstance(payoff, ConstantPayoff):
        return payoff.payoffs
    if isinstance(payoff, ComparisonPayoff):
        own, other = payoff.strengths[0][h0], payoff.strengths[1][h1]
        return payoff.win if own > other else payoff.lose if own < other else payoff.tie
    return payoff.payoffs[0][h0][h1], payoff.payoffs[1][h0][h1]


def terminal(payoff: Payoff, deal: PrivateDeal, me: int, reach: Sequence[float]) -> list[float]:
    """Terminal values of each hand against the opponent's reach: O(n²)."""
    strength = []
    for own in range(len(deal.weights[me])):
        total = 0.0
        for other, arrives in enumerate(reach):
            pair = (own, other) if me == 0 else (other, own)
            if pair not in deal.excludes:
                total += arrives * pay(payoff, *pair)[me]
        strength.append(total)
    return strength


def profile(strategy: Strategy) -> dict[str, list[float]]:
    """A strategy as the references expect it."""
    return {name: list(row.values()) for name, row in strategy.items()}


def share(tree: Tree, infoset: Infoset) -> float:
    """Factor from a value of the traversal to a counterfactual value.

    A traversal of a public tree carries the opponent's deal weights and no weight of the own hand: the probability of a
    deal is weight × weight / total.
    """
    if not isinstance(tree, PublicTree):
        return 1.0
    hand = tree.hands[infoset.player].index(infoset.name.partition(":")[0])
    return float(tree.deal.weights[infoset.player][hand]) / tree.total


def infosets(root: Node) -> dict[str, Node]:
    """One history of every information set."""
    result: dict[str, Node] = {}
    for node in histories(root):
        if node.actor >= 0:
            result.setdefault(node.infoset, node)
    return result


def histories(node: Node) -> Iterator[Node]:
    """The node and all its descendants, in preorder."""
    yield node
    for child in node.children:
        yield from histories(child)


# --- values ---------------------------------------------------------------------------------


def _moves(node: Node, profile: Profile) -> Sequence[float]:
    return node.chance if node.actor == CHANCE else profile[node.infoset]


def values(node: Node, profile: Profile) -> tuple[float, ...]:
    """Expected value of each player."""
    if node.actor == TERMINAL:
        return node.payoffs
    parts = [
        [p * u for u in values(child, profile)] for p, child in zip(_moves(node, profile), node.children, strict=True)
    ]
    return tuple(map(sum, zip(*parts, strict=True)))


def best_response(root: Node, profile: Profile, me: int) -> tuple[float, dict[str, int]]:
    """Best-response value of a player, and its action at each information set.

    Histories that the player cannot distinguish are grouped; at each information set every action is tried.
    """
    choice: dict[str, int] = {}

    def best(front: list[tuple[Node, float]]) -> float:
        total = 0.0
        together: dict[str, list[tuple[Node, float]]] = {}
        while front:
            node, reach = front.pop()
            if node.actor == TERMINAL:
                total += reach * node.payoffs[me]
            elif node.actor == me:
                together.setdefault(node.infoset, []).append((node, reach))
            else:
                front += [(c, reach * p) for p, c in zip(_moves(node, profile), node.children, strict=True)]
        for name, members in together.items():
            tried = [best([(n.children[a], reach) for n, reach in members]) for a in range(len(members[0][0].actions))]
            choice[name] = tried.index(max(tried))
            total += max(tried)
        return total

    return best([(root, 1.0)]), choice


def best_pure(root: Node, profile: Profile, me: int) -> float:
    """Best-response value by trying every pure strategy."""
    own = {name: len(node.actions) for name, node in infosets(root).items() if node.actor == me}
    most = -float("inf")
    for plan in product(*(range(width) for width in own.values())):
        moves = {name: [float(a == k) for a in range(own[name])] for name, k in zip(own, plan, strict=True)}
        most = max(most, values(root, {**profile, **moves})[me])
    return most


def nash_conv(root: Node, profile: Profile) -> float:
    """NashConv: the sum of the gains of all players."""
    now = values(root, profile)
    return sum(best_response(root, profile, p)[0] - now[p] for p in range(len(now)))


# --- counterfactual regret minimization -----------------------------------------------------


def matching(regrets: Sequence[float]) -> list[float]:
    """Regret matching (Hart & Mas-Colell 2000): proportional to positive regrets, uniform if none is positive."""
    positive = [max(r, 0.0) for r in regrets]
    total = sum(positive)
    return [p / total for p in positive] if total > 0 else [1 / len(positive)] * len(positive)


class Vanilla:
    """Zinkevich et al. 2007: R^T = Σ r^t, both players respond to the same profile, uniform averages."""

    alternating = False
    gamma = 0.0  # iteration t has weight t^gamma in the average

    def start(self, width: int) -> Any:
        """The memory of an information set before the first iteration."""
        return [0.0] * width

    def play(self, memory: Any) -> list[float]:
        """The strategy of the next iteration."""
        return matching(memory)

    def observe(self, memory: Any, r: Sequence[float], t: int) -> Any:
        """The memory after the regrets r of iteration t."""
        return [old + new for old, new in zip(memory, r, strict=True)]

    def regrets(self, memory: Any) -> list[float]:
        """The regrets in the memory."""
        return list(memory)


class Plus(Vanilla):
    """Tammelin et al. 2015: Q^t = max(Q^(t-1) + r^t, 0), alternating updates, linear averages."""

    alternating = True
    gamma = 1.0

    def observe(self, memory: Any, r: Sequence[float], t: int) -> Any:
        return [max(old + new, 0.0) for old, new in zip(memory, r, strict=True)]


class Linear(Vanilla):
    """Brown & Sandholm 2019, section 3: regrets and averages of iteration t have weight t."""

    alternating = True
    gamma = 1.0

    def observe(self, memory: Any, r: Sequence[float], t: int) -> Any:
        return [old + t * new for old, new in zip(memory, r, strict=True)]


class Discounted(Vanilla):
    """Brown & Sandholm 2019, section 4: add, then multiply by t^α/(t^α+1) above zero and t^β/(t^β+1) below."""

    alternating = True

    def __init__(self, alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> None:
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def observe(self, memory: Any, r: Sequence[float], t: int) -> Any:
        sums = [old + new for old, new in zip(memory, r, strict=True)]
        up, down = (t**x / (t**x + 1) for x in (self.alpha, self.beta))
        return [s * (up if s > 0 else down) for s in sums]


class Predictive(Vanilla):
    """Farina, Kroer & Sandholm 2021: regret matching+ that plays as if the last regrets occurred once more."""

    alternating = True
    gamma = 2.0

    def start(self, width: int) -> Any:
        return [0.0] * width, [0.0] * width

    def play(self, memory: Any) -> list[float]:
        z, m = memory
        return matching([a + b for a, b in zip(z, m, strict=True)])

    def observe(self, memory: Any, r: Sequence[float], t: int) -> Any:
        return [max(old + new, 0.0) for old, new in zip(memory[0], r, strict=True)], list(r)

    def regrets(self, memory: Any) -> list[float]:
        return list(memory[0])


RULES = {"vanilla": Vanilla, "cfr+": Plus, "linear": Linear, "dcfr": Discounted, "pcfr+": Predictive}


class Twin:
    """CFR over histories, with information sets as dictionary keys."""

    def __init__(self, root: Node, players: int, rule: Vanilla, *, alternating: bool | None = None) -> None:
        self.root, self.players, self.rule = root, players, rule
        self.alternating = rule.alternating if alternating is None else alternating
        self.infosets = infosets(root)
        self.memory = {name: rule.start(len(node.actions)) for name, node in self.infosets.items()}
        self.sums = {name: [0.0] * len(node.actions) for name, node in self.infosets.items()}
        self.t = 0

    def step(self, count: int = 1) -> None:
        """Run iterations, simultaneous or alternating."""
        for _ in range(count):
            self.t += 1
            profile = self.current()
            for me in range(self.players):
                self._update(me, self.current() if self.alternating else profile)

    def _update(self, me: int, profile: Profile) -> None:
        reach, regrets = counterfactual_regrets(self.root, profile, me)
        for name, r in regrets.items():
            for a, p in enumerate(profile[name]):
                self.sums[name][a] += self.t**self.rule.gamma * reach[name] * p
            self.memory[name] = self.rule.observe(self.memory[name], r, self.t)

    def current(self) -> dict[str, list[float]]:
        """The strategy of the next iteration."""
        return {name: self.rule.play(memory) for name, memory in self.memory.items()}

    def average(self) -> dict[str, list[float]]:
        """Σ t^γ π_i σ_t, normalized; uniform at unreached information sets."""
        return {name: matching(sums) for name, sums in self.sums.items()}

    def regrets(self) -> dict[str, list[float]]:
        """The regrets as the paper's algorithm stores them after the last iteration."""
        return {name: self.rule.regrets(memory) for name, memory in self.memory.items()}


def counterfactual_regrets(root: Node, profile: Profile, me: int) -> tuple[dict[str, float], dict[str, list[float]]]:
    """For each information set of a player: its own reach π_i(I), and r(I, a) = v(I, a) − Σ_b σ(b) v(I, b).

    v(I, a) = Σ_{h ∈ I} π_{-i}(h) u(h a), chance being one of the others (Zinkevich et al. 2007).
    """
    reach: dict[str, float] = {}
    strength: dict[str, list[float]] = {}

    def walk(node: Node, mine: float, others: float) -> float:
        if node.actor == TERMINAL:
            return node.payoffs[me]
        moves = _moves(node, profile)
        if node.actor != me:
            return sum(p * walk(child, mine, others * p) for p, child in zip(moves, node.children, strict=True))
        u = [walk(child, mine * p, others) for p, child in zip(moves, node.children, strict=True)]
        reach[node.infoset] = mine  # the same at all its histories, by perfect recall
        v = strength.setdefault(node.infoset, [0.0] * len(u))
        for a, x in enumerate(u):
            v[a] += others * x
        return sum(p * x for p, x in zip(moves, u, strict=True))

    walk(root, 1.0, 1.0)
    expected = {name: sum(p * x for p, x in zip(profile[name], v, strict=True)) for name, v in strength.items()}
    return reach, {name: [x - expected[name] for x in v] for name, v in strength.items()}


# --- games as data ---------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A history game: a node is payoffs, `(player, infoset, {action: node})` or `{outcome: (probability, node)}`."""

    node: Any
    players: int = 2
    name: str = "written"
    unit: str = "points"

    def root(self) -> _WrittenState:
        return _WrittenState(self.node)


@dataclass(frozen=True)
class _WrittenState:
    node: Any

    @property
    def _next(self) -> dict[str, Any]:
        return self.node if isinstance(self.node, dict) else self.node[2]

    @property
    def actor(self) -> int:
        if isinstance(self.node, dict):
            return CHANCE
        return self.node[0] if isinstance(self.node[-1], dict) else TERMINAL

    def actions(self) -> list[str]:
        return list(self._next)

    def probabilities(self) -> list[float]:
        return [p for p, _ in self.node.values()]

    def child(self, index: int) -> _WrittenState:
        following = list(self._next.values())[index]
        return _WrittenState(following[1] if self.actor == CHANCE else following)

    def infoset(self) -> str:
        return self.node[1]

    def payoffs(self) -> tuple[float, ...]:
        return self.node


@dataclass(frozen=True)
class WrittenPublic:
    """A public game: a node is a payoff, `(player, {action: node})` or `[(outcome, node), …]`."""

    deal: PrivateDeal
    node: Any
    name: str = "written"
    unit: str = "points"
    joiner: str = ","

    @property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        first, second = (tuple(f"{h}" for h in range(len(weights))) for weights in self.deal.weights)
        return first, second

    def root(self) -> _WrittenPublicState:
        return _WrittenPublicState(self.node)


@dataclass(frozen=True)
class _WrittenPublicState:
    node: Any

    @property
    def actor(self) -> int:
        return CHANCE if isinstance(self.node, list) else self.node[0] if isinstance(self.node, tuple) else TERMINAL

    def actions(self) -> list[str]:
        return list(self.node[1])

    def outcomes(self) -> list[Outcome]:
        return [outcome for outcome, _ in self.node]

    def child(self, index: int) -> _WrittenPublicState:
        return _WrittenPublicState(self.node[index][1] if self.actor == CHANCE else list(self.node[1].values())[index])

    def payoff(self) -> Payoff:
        return self.node
