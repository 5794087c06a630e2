"""An agent that learns while it plays: a blueprint at first, then answers to a model of who sits opposite.

    agent = make_agent("demo?exploit=dbbr")

It is shown its hands when they are over, counts what the other player did, and works out an answer in the background; it goes
on playing with the last one meanwhile. What is counted at a node is of one seat, so that each of the two seatings of a
duplicate match has a memory of its own; only `fit=tied` learns from the one for the other, where nothing else was seen.

Nobody pays for answers to noise: each model must tell the next hands before it sees them, and until all of them together have
told better than the blueprint, beyond doubt, the blueprint is played. Against the blueprint itself the ratio of the two
likelihoods is a martingale, so that it is ever taken for another player with a chance of one in a thousand (Ville 1939).

Equal seeds give equal matches: an answer is worked out from the hands up to a multiple of `every`, by a given amount of work
on one thread for each seat, and taken when `every` more hands are over. Whoever is quicker than that is waited for; with
`wait=no` nobody waits, an answer is taken when it is there, and two matches are not the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.delegation import ChoosesAs
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.holdem.actions import HIDDEN
from riverboat.games.records.hand_records import Hands
from riverboat.opponents.models.hand_lines import read_in
from riverboat.opponents.models.projection import Acting, project
from riverboat.opponents.models.registry import MODELS, TIED, make_model
from riverboat.opponents.models.tied import evidence
from riverboat.opponents.models.tree import PRIOR, Counts, count_moves
from riverboat.opponents.responses.responder import Responder, confidence
from riverboat.strategies.blueprint import BlueprintStrategy

METHODS = {
    "dbbr": "the best response to the model",
    "rnr": "the opponent is the model in a share p of hands",
    "dbr": "the opponent is the model where it was seen, up to a share p",
    "preflop": "the model, and the best response to it, before the flop alone",
    "known": "nothing is learnt: the opponent is another agent, as the abstract game sees it",
}
KNOWN = "known"
KNOWN_WORK = 400_000  # iterations of an answer that is worked out once
MEMORY = "memory of an opponent"
SURE = log(1000.0)  # nats by which models must have told better
GROWN = 1.1  # by which what was seen must have grown for a model that nobody plays against to be made anew
LEAST_GAIN = 0.02  # nats a decision beyond that: less is not worth an answer, and our reading of bets is not exact
LEARN_OPTIONS = ("exploit", "p", "fit", "every", "work", "prior", "wait", "showdowns", "doubt", "memory", "opponent")


@dataclass(frozen=True, kw_only=True)
class LearnSettings:
    """How an agent learns."""

    method: str = "dbbr"
    p: float = 0.9  # of rnr and dbr
    fit: str = TIED
    every: int = 500  # hands between two answers
    work: int = 100_000  # iterations of an answer, in each seat
    prior: float = PRIOR
    showdowns: bool = True  # learn from the cards that were shown too; the paper's DBBR does not
    doubt: bool = True  # keep to the blueprint until models have told better; the paper's DBBR does not
    wait: bool = True
    memory: Path | None = None  # the folder that what was seen is kept in
    opponent: str = ""  # of known

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown("exploit", self.method, METHODS)
        if (self.method == KNOWN) != bool(self.opponent):
            raise InputError(
                f"exploit={self.method}, opponent={shown(self.opponent)}: known needs an agent, others none"
            )
        if self.fit not in MODELS:
            raise unknown("fit", self.fit, MODELS)
        if not 0 <= self.p <= 1 or not self.prior > 0:
            raise InputError(f"p={self.p:g}, prior={self.prior:g}: a share from 0 to 1, and hands above 0")
        if self.every < 2 or self.work < 64:
            raise InputError(f"every={self.every}, work={self.work}: at least 2 hands and 64 iterations")


def learn_settings(options: Mapping[str, str], text: str) -> LearnSettings | None:
    """Settings from the options of an agent; None where it does not learn."""
    given = [key for key in LEARN_OPTIONS if key in options]
    if "exploit" not in options:
        if given:
            raise InputError(f"agent {shown(text)}: {given[0]} is for agents that learn: add exploit=dbbr")
        return None
    settings: dict[str, Any] = {"method": options["exploit"] or "dbbr"}
    for key, kind in (("every", int), ("work", int), ("p", float), ("prior", float)):
        if key in options:
            if not re.fullmatch(
                r"\d{1,12}" if kind is int else r"\d{1,6}(\.\d{1,9})?|\.\d{1,9}", options[key], re.ASCII
            ):
                what = "a whole number" if kind is int else "a number such as 0.9"
                raise InputError(f"agent {shown(text)}: {key}={shown(options[key])}: write {what}")
            settings[key] = kind(options[key])
    if settings["method"] == KNOWN:
        settings = {"p": 1.0, "work": KNOWN_WORK, **settings}
    settings["opponent"] = options.get("opponent", "")
    if "fit" in options:
        settings["fit"] = options["fit"]
    for key in ("wait", "showdowns", "doubt"):
        if options.get(key, "yes") not in ("yes", "no"):
            raise InputError(f"agent {shown(text)}: {key}={shown(options[key])}: write yes or no")
        settings[key] = options.get(key, "yes") == "yes"
    if options.get("memory"):
        settings["memory"] = Path(options["memory"])
    try:
        return LearnSettings(**settings)
    except InputError as error:
        raise InputError(f"agent {shown(text)}: {error}") from None


def known_answer(agent: BlueprintAgent, opponent: Acting, settings: LearnSettings) -> BlueprintAgent:
    """The answer to an agent that is known: what learners may hope for."""
    responder = Responder(agent.strategy, settings.p, seed=agent.seed)
    responder.improve(_as_known(opponent, agent.strategy), settings.work)
    return replace(agent, strategy=responder.strategy())


def _as_known(opponent: Acting, base: BlueprintStrategy) -> BlueprintStrategy:
    """An agent as the abstract game sees it; a blueprint of the same game is there already."""
    if isinstance(opponent, BlueprintAgent) and opponent.post == "none":
        other = opponent.strategy
        if (other.tree.fingerprint, other.cards.fingerprint) == (base.tree.fingerprint, base.cards.fingerprint):
            return other
    return project(opponent, base)


def _check_folder(folder: Path) -> None:
    """Refuse now what could not be written after the first hands."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        why = "cannot be written to" if there.is_dir() else "is a file"
        raise InputError(f"memory {folder}: {there} {why}; name another folder")


@dataclass(eq=False)
class LearningAgent(ChoosesAs):
    """A blueprint that learns. What it plays changes only when it is shown hands."""

    first: BlueprintAgent
    settings: LearnSettings = field(default_factory=LearnSettings)
    hands: int = 0  # that were seen

    def __post_init__(self) -> None:
        self.name = self.first.name
        self.now: BlueprintAgent = self.first  # what is played
        self.told = 0.0  # nats by which models have told better than the blueprint what was done next
        self.judged = 0  # decisions by which they were judged
        self._seen = Counts({})
        self._parts: list[Counts] = []  # what was seen since the last answer was begun, half of `every` hands each
        self._part = -1  # the number of the last one
        self._model: BlueprintStrategy | None = None
        self._fitted = 0  # decisions that the model is made of
        self._work: Future[BlueprintStrategy | None] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._responder: Responder | None = None
        if self.settings.memory is not None:
            _check_folder(self.settings.memory)
        if self.settings.memory is not None and self.settings.memory.is_dir():
            self._recall(self.settings.memory)
            if self.hands >= self.settings.every:
                self._take(self._answer(self._seen, []))

    @property
    def made_of(self) -> tuple[BlueprintAgent]:
        """The blueprint by which it is known."""
        return (self.first,)

    @property
    def tables_at_once(self) -> int:
        """As many as there are hands between two answers."""
        return self.settings.every

    @property
    def counts(self) -> Counts:
        """What was seen of the opponent."""
        return sum(self._parts, self._seen)

    @property
    def sure(self) -> bool:
        """Whether the opponent is another player than the blueprint, beyond doubt."""
        return self.told > SURE + LEAST_GAIN * self.judged

    # --- learning -------------------------------------------------------------------------------

    def observe(self, hands: Hands) -> None:
        """Count what the other player did, take the answer that is due, and begin the next."""
        strategy, every = self.first.strategy, self.settings.every
        # Bets are read as the agent reads them at the table: a model of other readings would be one of another player.
        reading = read_in(strategy.tree, hands, self.first.translation, self.first.seed + self.hands)
        theirs = reading.player != hands.names.index(own_name(self.name, hands))
        part = (self.hands + reading.hand) // max(every // 2, 1)
        for k in np.unique(part).tolist():
            new = count_moves(reading, strategy.tree, theirs & (part == k), hands, strategy.cards)
            if self._parts and k == self._part:
                new = self._parts.pop() + new
            self._parts.append(new)
            self._part = k
        due = (self.hands + len(hands)) // every > self.hands // every
        self.hands += len(hands)
        if self._work is not None and (self.settings.wait or self._work.done()):
            self._take(self._work.result())
            self._work = None
        if due and self._work is None:
            before, parts = self._seen, self._parts
            self._seen, self._parts = self.counts, []
            if self.settings.memory is not None:
                self._keep(self.settings.memory)
            self._pool = self._pool or ThreadPoolExecutor(1)
            self._work = self._pool.submit(self._answer, before, parts)

    def _take(self, strategy: BlueprintStrategy | None) -> None:
        self.now = self.first if strategy is None else replace(self.first, strategy=strategy)

    def _answer(self, before: Counts, parts: list[Counts]) -> BlueprintStrategy | None:
        """Each new part is told by the model of what came before it; then some work, from the last answer on.

        None where the blueprint tells as well: it is played.
        """
        base, settings = self.first.strategy, self.settings
        if settings.method == "preflop":
            before, parts = before.on(base.tree, 0), [part.on(base.tree, 0) for part in parts]
        for part in parts:
            if self._model is not None:
                self.told += evidence(base, self._model, part)
                self.judged += part.decisions
            before = before + part
            if self._model is None or before.decisions >= GROWN * self._fitted:
                self._model = self._fit(before)
        if settings.doubt and not self.sure:
            return None
        if self._model is None or before.decisions > self._fitted:
            self._model = self._fit(before)
        model = self._model
        if self._responder is None:
            p = settings.p if settings.method == "rnr" else 1.0
            self._responder = Responder(base, p, seed=self.first.seed)
        if settings.method == "dbr":
            self._responder.be_sure(confidence(base.tree, before, settings.p, tied=settings.fit == TIED))
        self._responder.improve(model, settings.work)
        answer = self._responder.strategy()
        if settings.method == "preflop":
            answer = replace(
                answer, average=(answer.average[0], *(np.asarray(t, np.float32) for t in base.average[1:]))
            )
        return answer

    def _fit(self, counts: Counts) -> BlueprintStrategy:
        self._fitted = counts.decisions
        if not self.settings.showdowns:
            counts = Counts(counts.moves)
        return make_model(self.settings.fit, self.first.strategy, counts, self.settings.prior)

    # --- memory ---------------------------------------------------------------------------------

    def _keep(self, folder: Path) -> None:
        """Write what was seen, in the place of what was there."""
        seen = self._seen
        most = max([1, *(len(made) for made in seen.moves.values())])
        places = [(node, -1) for node in seen.moves] + list(seen.shown)
        moves = np.zeros((len(places), most))
        for row, made in zip(moves, [*seen.moves.values(), *seen.shown.values()], strict=True):
            row[: len(made)] = made
        facts = {
            "hands": self.hands,
            "told": self.told,
            "judged": self.judged,
            "fingerprint": self.first.strategy.tree.fingerprint,
            "game": self.first.rules.name,
        }
        arrays = {"places": np.array(places, np.int64).reshape(-1, 2), "moves": moves}
        artifacts.write(folder, MEMORY, arrays, facts)

    def _recall(self, folder: Path) -> None:
        manifest, arrays = artifacts.read(folder)
        if manifest.text("kind") != MEMORY:
            raise InputError(f"memory {folder}: holds a {manifest.text('kind')}; another folder is needed")
        tree = self.first.strategy.tree
        if manifest.text("fingerprint") != tree.fingerprint:
            raise InputError(f"memory {folder}: is one of another tree of {manifest.text('game')!r}")
        self.hands = manifest.whole("hands", 0)
        # Memories of the first kind have no evidence, and gather it anew.
        self.told, self.judged = manifest.number("told") if "told" in manifest else 0.0, manifest.whole("judged", 0)
        places = arrays.take("places", ("int64",), (None, 2))
        moves = arrays.take("moves", ("float64",), (len(places), None), 0.0)
        known: dict[int, Array] = {}
        shown: dict[tuple[int, int], Array] = {}
        for (node, bucket), seen in zip(places.tolist(), moves, strict=True):
            if not 0 <= node < len(tree) or tree.count[node] == 0 or tree.count[node] > len(seen):
                raise InputError(f"memory {folder}: node {node} is no decision of the tree")
            kept = np.array(seen[: tree.count[node]])
            if bucket < 0:
                known[node] = kept
            else:
                shown[node, bucket] = kept
        self._seen = Counts(known, shown)


def own_name(name: str, hands: Hands) -> str:
    """Which player of a record somebody is: who always sees its own cards; by name where all cards were seen."""
    hole = hands.rules.hole
    for k, who in enumerate(hands.names):
        seat = hands.seat_of(who)
        there = np.flatnonzero(seat >= 0)
        first = seat[there, None] * hole + np.arange(hole)
        if (hands.cards[there[:, None], first] == HIDDEN).any():
            return hands.names[1 - k] if len(hands.names) == 2 else name
    return name if name in hands.names else hands.names[0]
