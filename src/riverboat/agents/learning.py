"""Agent that learns while it plays: a blueprint at first, then responses to a model of the opponent.

    agent = make_agent("demo?exploit=dbbr")

The agent observes its finished hands, counts the opponent's actions, and computes a response in the background while
it keeps playing the last one. Counts at a node belong to one seat, so each of the two seatings of a duplicate match
has its own data; only `fit=tied` shares data between seats where a seat has none.

The agent does not respond to noise. Each model must predict the next hands before it sees them. The agent plays the
blueprint until the models together have predicted significantly better than the blueprint. Against the blueprint
itself the likelihood ratio is a martingale, so it is mistaken for another player with probability at most 1/1000
(Ville 1939).

Equal seeds give equal matches: a response is computed from the hands up to a multiple of `every`, with a fixed amount
of work on one thread per seat, and adopted after `every` more hands. The agent waits for a response that is late.
With `wait=no` it adopts a response as soon as it is ready, and matches are not reproducible.

Methods: DBBR is Ganzfried and Sandholm (2011), RNR Johanson, Zinkevich and Bowling (2007), DBR Johanson and Bowling
(2009).
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path

import numpy as np

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.composite import DelegatingPolicyAgent
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.opponents.models.hand_lines import TreeDecisions, read_hands
from riverboat.opponents.models.hierarchical import MODEL_FITTERS, TIED, fit_model_kind, log_likelihood_gain
from riverboat.opponents.models.projection import ActingAgent, project_agent
from riverboat.opponents.models.tree import PRIOR, MoveCounts, count_moves
from riverboat.opponents.responses import ModelResponder, model_confidence
from riverboat.strategies.blueprint import Blueprint

METHODS = {
    "dbbr": "the best response to the model",
    "rnr": "restricted Nash response: the opponent is the model in a share p of hands",
    "dbr": "data biased response: the opponent is the model where it was observed, up to a share p",
    "preflop": "the model, and the best response to it, before the flop only",
    "known": "no learning: the best response to another agent, projected to the abstract game",
}
KNOWN = "known"
KNOWN_ITERATIONS = 400_000  # iterations of a response that is computed once
MEMORY_KIND = "memory of an opponent"
MIN_LOG_EVIDENCE = log(1000.0)  # nats by which models must have predicted better
REFIT_GROWTH = 1.1  # growth of the data before a model that is not in use is fitted again
MIN_GAIN = 0.02  # additional nats per decision: less is not worth a response, and the translation of bets is inexact
LEARNING_OPTIONS = ("exploit", "p", "fit", "every", "work", "prior", "wait", "showdowns", "doubt", "memory", "opponent")


@dataclass(frozen=True, kw_only=True)
class LearningSettings:
    """Settings of a learning agent."""

    method: str = "dbbr"
    p: float = 0.9  # probability that the opponent is the model, at most; for rnr and dbr
    fit: str = TIED  # how the model is fitted, a key of MODEL_FITTERS
    every: int = 500  # hands between two responses
    work: int = 100_000  # iterations of a response, per seat
    prior: float = PRIOR  # weight of the blueprint in the model, in hands
    showdowns: bool = True  # learn from shown cards too; the paper's DBBR does not
    doubt: bool = True  # play the blueprint until models have predicted better; the paper's DBBR does not
    wait: bool = True  # wait for a response that is late, so that matches can be repeated
    memory: Path | None = None  # folder that stores the counts
    opponent: str = ""  # spec of the opponent of method `known`

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown_name_error("exploit", self.method, METHODS)
        if (self.method == KNOWN) != bool(self.opponent):
            raise InputError(f"exploit={self.method}, opponent={short_repr(self.opponent)}: only known has an opponent")
        if self.fit not in MODEL_FITTERS:
            raise unknown_name_error("fit", self.fit, MODEL_FITTERS)
        if not 0 <= self.p <= 1 or not self.prior > 0:
            raise InputError(f"p={self.p:g}, prior={self.prior:g}: p must be from 0 to 1, prior above 0")
        if self.every < 2 or self.work < 64:
            raise InputError(f"every={self.every}, work={self.work}: must be at least 2 hands and 64 iterations")


def respond_to_known(agent: BlueprintAgent, opponent: ActingAgent, settings: LearningSettings) -> BlueprintAgent:
    """Return the agent with a response to a known opponent in place of its blueprint: the upper limit for learning."""
    responder = ModelResponder(agent.strategy, settings.p, seed=agent.seed)
    responder.improve(_abstract_opponent(opponent, agent.strategy), settings.work)
    return replace(agent, strategy=responder.strategy())


def _abstract_opponent(opponent: ActingAgent, base: Blueprint) -> Blueprint:
    """Project an agent to the abstract game; a blueprint of the same game is returned as it is."""
    if isinstance(opponent, BlueprintAgent) and opponent.post == "none":
        other = opponent.strategy
        if (other.tree.fingerprint, other.cards.fingerprint) == (base.tree.fingerprint, base.cards.fingerprint):
            return other
    return project_agent(opponent, base)


def _check_folder(folder: Path) -> None:
    """Raise InputError now if the folder cannot be written to later."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        problem = "cannot be written to" if existing.is_dir() else "is a file"
        raise InputError(f"memory {folder}: {existing} {problem}; name another folder")


@dataclass(eq=False)
class LearningAgent(DelegatingPolicyAgent):
    """Agent that adapts a blueprint to the hands that it observes. Its strategy changes only in `observe`."""

    blueprint_agent: BlueprintAgent
    settings: LearningSettings = field(default_factory=LearningSettings)
    hands_seen: int = 0  # number of observed hands

    def __post_init__(self) -> None:
        self.name, self.made_of = self.blueprint_agent.name, (self.blueprint_agent,)  # identifies it in ledgers
        self.tables_at_once = self.settings.every  # hands between two responses
        self.current_agent: BlueprintAgent = self.blueprint_agent  # the agent to play
        self.log_evidence = 0.0  # nats by which models have predicted better than the blueprint
        self.evidence_decisions = 0  # predicted decisions
        self._observed_counts = MoveCounts({})
        self._pending_counts: list[MoveCounts] = []  # counts since the last response was started, per `every` / 2 hands
        self._pending_index = -1  # index of the last of them
        self._model: Blueprint | None = None
        self._model_decisions = 0  # decisions that the model was fitted to
        self._future: Future[Blueprint | None] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._responder: ModelResponder | None = None
        if self.settings.memory is not None:
            _check_folder(self.settings.memory)
        if self.settings.memory is not None and self.settings.memory.is_dir():
            self._load_memory(self.settings.memory)
            if self.hands_seen >= self.settings.every:
                self._adopt(self._compute_response(self._observed_counts, []))

    @property
    def counts(self) -> MoveCounts:
        """Counts of the opponent's observed actions, with those that no response is based on yet."""
        return sum(self._pending_counts, self._observed_counts)

    @property
    def opponent_differs(self) -> bool:
        """Whether the opponent is significantly different from the blueprint."""
        return self.log_evidence > MIN_LOG_EVIDENCE + MIN_GAIN * self.evidence_decisions

    # --- Learning ---

    def observe(self, hands: HandRecords) -> None:
        """Count the opponent's actions, adopt the response that is due, and start the next."""
        strategy, every = self.blueprint_agent.strategy, self.settings.every
        own_name = own_player_name(self.name, hands)
        reading, is_opponent = read_opponent(self.blueprint_agent, hands, own_name, self.hands_seen)
        part = (self.hands_seen + reading.hand) // max(every // 2, 1)
        for k in np.unique(part).tolist():
            new = count_moves(reading, strategy.tree, is_opponent & (part == k), hands, strategy.cards)
            if self._pending_counts and k == self._pending_index:
                new = self._pending_counts.pop() + new
            self._pending_counts.append(new)
            self._pending_index = k
        due = (self.hands_seen + len(hands)) // every > self.hands_seen // every
        self.hands_seen += len(hands)
        if self._future is not None and (self.settings.wait or self._future.done()):
            self._adopt(self._future.result())
            self._future = None
        if due and self._future is None:
            before, parts = self._observed_counts, self._pending_counts
            self._observed_counts, self._pending_counts = self.counts, []
            if self.settings.memory is not None:
                self._save_memory(self.settings.memory)
            self._pool = self._pool or ThreadPoolExecutor(1)
            self._future = self._pool.submit(self._compute_response, before, parts)

    def _adopt(self, strategy: Blueprint | None) -> None:
        self.current_agent = (
            self.blueprint_agent if strategy is None else replace(self.blueprint_agent, strategy=strategy)
        )

    def _compute_response(self, counts: MoveCounts, parts: list[MoveCounts]) -> Blueprint | None:
        """Test the model on each new part of the data, fit it again, and improve the last response to it.

        `counts` are the earlier data. Returns None if the models have not predicted significantly better than the
        blueprint, which is played then.
        """
        base, settings = self.blueprint_agent.strategy, self.settings
        if settings.method == "preflop":
            counts, parts = counts.on_street(base.tree, 0), [part.on_street(base.tree, 0) for part in parts]
        for part in parts:
            if self._model is not None:
                self.log_evidence += log_likelihood_gain(base, self._model, part)
                self.evidence_decisions += part.decisions
            counts = counts + part
            if self._model is None or counts.decisions >= REFIT_GROWTH * self._model_decisions:
                self._model = self._fit_model(counts)
        if settings.doubt and not self.opponent_differs:
            return None
        if self._model is None or counts.decisions > self._model_decisions:
            self._model = self._fit_model(counts)
        model = self._model
        if self._responder is None:
            p = settings.p if settings.method == "rnr" else 1.0
            self._responder = ModelResponder(base, p, seed=self.blueprint_agent.seed)
        if settings.method == "dbr":
            self._responder.set_confidence(model_confidence(base.tree, counts, settings.p, tied=settings.fit == TIED))
        self._responder.improve(model, settings.work)
        response = self._responder.strategy()
        if settings.method == "preflop":
            response = replace(
                response, average=(response.average[0], *(np.asarray(t, np.float32) for t in base.average[1:]))
            )
        return response

    def _fit_model(self, counts: MoveCounts) -> Blueprint:
        self._model_decisions = counts.decisions
        if not self.settings.showdowns:
            counts = MoveCounts(counts.moves)
        return fit_model_kind(self.settings.fit, self.blueprint_agent.strategy, counts, self.settings.prior)

    # --- Memory ---

    def _save_memory(self, folder: Path) -> None:
        """Write the counts to a folder, replacing earlier ones."""
        counts = self._observed_counts
        max_actions = max([1, *(len(row_counts) for row_counts in counts.moves.values())])
        keys = [(node, -1) for node in counts.moves] + list(counts.showdowns)
        moves = np.zeros((len(keys), max_actions))
        for row, row_counts in zip(moves, [*counts.moves.values(), *counts.showdowns.values()], strict=True):
            row[: len(row_counts)] = row_counts
        facts = {
            "hands": self.hands_seen,
            "told": self.log_evidence,
            "judged": self.evidence_decisions,
            "fingerprint": self.blueprint_agent.strategy.tree.fingerprint,
            "game": self.blueprint_agent.rules.name,
        }
        arrays = {"places": np.array(keys, np.int64).reshape(-1, 2), "moves": moves}
        artifacts.write(folder, MEMORY_KIND, arrays, facts)

    def _load_memory(self, folder: Path) -> None:
        manifest, arrays = artifacts.read(folder)
        if manifest.text("kind") != MEMORY_KIND:
            raise InputError(f"memory {folder}: contains a {manifest.text('kind')}; choose another folder")
        tree = self.blueprint_agent.strategy.tree
        if manifest.text("fingerprint") != tree.fingerprint:
            raise InputError(f"memory {folder}: belongs to another betting tree of {manifest.text('game')!r}")
        self.hands_seen = manifest.integer("hands", 0)
        # Memories of the first version have no evidence and collect it again.
        self.log_evidence = manifest.number("told") if "told" in manifest else 0.0
        self.evidence_decisions = manifest.integer("judged", 0)
        keys = arrays.get_checked("places", ("int64",), (None, 2))
        moves = arrays.get_checked("moves", ("float64",), (len(keys), None), 0.0)
        move_counts: dict[int, Array] = {}
        showdown_counts: dict[tuple[int, int], Array] = {}
        for (node, bucket), row in zip(keys.tolist(), moves, strict=True):
            if not 0 <= node < len(tree) or tree.count[node] == 0 or tree.count[node] > len(row):
                raise InputError(f"memory {folder}: node {node} is not a decision of the tree")
            counts = np.array(row[: tree.count[node]])
            if bucket < 0:
                move_counts[node] = counts
            else:
                showdown_counts[node, bucket] = counts
        self._observed_counts = MoveCounts(move_counts, showdown_counts)


def read_opponent(
    agent: BlueprintAgent, hands: HandRecords, own_name: str, hands_seen: int
) -> tuple[TreeDecisions, Array]:
    """Read hands along the lines of a blueprint; return them, and which decisions are the opponent's.

    Bets are translated as in play: with another translation the model would be one of another player.
    """
    reading = read_hands(agent.strategy.tree, hands, agent.translation, agent.seed + hands_seen)
    return reading, reading.player != hands.names.index(own_name)


def own_player_name(name: str, hands: HandRecords) -> str:
    """Return the name of the agent in hand records: the player whose cards are never hidden.

    If no cards are hidden, the player is found by name.
    """
    hole = hands.rules.hole
    for k, player in enumerate(hands.names):
        seat = hands.seat_of(player)
        rows = np.flatnonzero(seat >= 0)
        first = seat[rows, None] * hole + np.arange(hole)
        if (hands.cards[rows[:, None], first] == HIDDEN_CARD).any():
            return hands.names[1 - k] if len(hands.names) == 2 else name
    return name if name in hands.names else hands.names[0]
