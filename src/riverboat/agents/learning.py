"""An agent that learns while it plays: a blueprint at first, then answers to a model of who sits opposite.

    agent = make_agent("demo?exploit=dbbr")

It is shown its hands when they are over, counts what the other player did, and works out an answer in the background; it goes
on playing with the last one meanwhile. The model of a seat is made of what was done in that seat, so that each of the two
seatings of a duplicate match has a memory of its own.

Equal seeds give equal matches: an answer is worked out from the hands up to a multiple of `every`, by a given amount of work
on one thread for each seat, and taken when `every` more hands are over. Whoever is quicker than that is waited for; with
`wait=no` nobody waits, an answer is taken when it is there, and two matches are not the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from riverboat import artefact
from riverboat.agents.base import Choice
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.arrays import Array
from riverboat.errors import InputError, shown, unknown
from riverboat.exploit.dbbr import FITS
from riverboat.exploit.responses import Responder, confidence
from riverboat.exploit.tree_models import PRIOR, Counts, count_moves, fit_model, surprising
from riverboat.exploit.tree_reading import read_in
from riverboat.games.acpc import Rules
from riverboat.games.moves import HIDDEN
from riverboat.games.places import Places
from riverboat.games.records import Hands
from riverboat.games.views import Views
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.strategy.public_answers import Strategies

METHODS = {
    "dbbr": "the best response to the model",
    "rnr": "the opponent is the model in a share p of hands",
    "dbr": "the opponent is the model where it was seen, up to a share p",
    "preflop": "the model, and the best response to it, before the flop alone",
}
MEMORY = "memory of an opponent"
K = TypeVar("K")  # a place: a node, or a node and a bucket
LEARN_OPTIONS = ("exploit", "p", "fit", "every", "work", "prior", "wait", "memory")


@dataclass(frozen=True, kw_only=True)
class LearnSettings:
    """How an agent learns."""

    method: str = "dbbr"
    p: float = 0.9  # of rnr and dbr
    fit: str = "l1"
    every: int = 500  # hands between two answers
    work: int = 100_000  # iterations of an answer, in each seat
    prior: float = PRIOR
    wait: bool = True
    memory: Path | None = None  # the folder that what was seen is kept in

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown("exploit", self.method, METHODS)
        if self.fit not in FITS:
            raise unknown("fit", self.fit, FITS)
        if not 0 <= self.p <= 1 or not self.prior > 0:
            raise InputError(f"p={self.p:g}, prior={self.prior:g}: a share from 0 to 1, and hands above 0")
        if self.every < 2 or self.work < 64:
            raise InputError(f"every={self.every}, work={self.work}: at least 2 hands and 64 iterations")


def learn_settings(options: Mapping[str, str], text: str) -> LearnSettings | None:
    """Settings from the options of an agent; None where it does not learn."""
    given = [key for key in LEARN_OPTIONS if key in options]
    if "exploit" not in options:
        if given and given != ["fit"]:
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
    if "fit" in options:
        settings["fit"] = options["fit"]
    if options.get("wait", "yes") not in ("yes", "no"):
        raise InputError(f"agent {shown(text)}: wait={shown(options['wait'])}: write yes or no")
    settings["wait"] = options.get("wait", "yes") == "yes"
    if options.get("memory"):
        settings["memory"] = Path(options["memory"])
    try:
        return LearnSettings(**settings)
    except InputError as error:
        raise InputError(f"agent {shown(text)}: {error}") from None


@dataclass(eq=False)
class LearningAgent:
    """A blueprint that learns. What it plays changes only when it is shown hands."""

    first: BlueprintAgent
    settings: LearnSettings = field(default_factory=LearnSettings)
    hands: int = 0  # that were seen

    def __post_init__(self) -> None:
        self.name = self.first.name
        self.now = self.first  # what is played
        self._seen: dict[int, Array] = {}
        self._shown: dict[tuple[int, int], Array] = {}
        self._work: Future[BlueprintStrategy] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._responder: Responder | None = None
        if self.settings.memory is not None and self.settings.memory.is_dir():
            self._recall(self.settings.memory)
            if self.hands >= self.settings.every:
                self._take(self._answer(self.counts))

    @property
    def rules(self) -> Rules:
        """The game that it plays."""
        return self.first.rules

    @property
    def tables_at_once(self) -> int:
        """As many as there are hands between two answers."""
        return self.settings.every

    @property
    def counts(self) -> Counts:
        """What was seen of the opponent, a copy."""
        return Counts(
            {node: seen.copy() for node, seen in self._seen.items()},
            {place: seen.copy() for place, seen in self._shown.items()},
        )

    # --- playing --------------------------------------------------------------------------------

    def check_rules(self, rules: Rules) -> None:
        """Only its own rules."""
        self.first.check_rules(rules)

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        return self.now.act(views)

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities."""
        return self.now.probabilities(views)

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What it plays now with all hands at public places."""
        return self.now.strategies(places, draw)

    def reach(self, places: Places, seat: int) -> Array:
        """Probability that it makes its moves of the line, as it plays now. float64 [n, hands]"""
        return self.now.reach(places, seat)

    # --- learning -------------------------------------------------------------------------------

    def observe(self, hands: Hands) -> None:
        """Count what the other player did, take the answer that is due, and begin the next."""
        strategy = self.first.strategy
        # Bets are read as the agent reads them at the table: a model of other readings would be one of another player.
        reading = read_in(strategy.tree, hands, self.first.translation, self.first.seed + self.hands)
        theirs = reading.player != hands.names.index(_own_name(self.name, hands))
        counts = count_moves(reading, strategy.tree, theirs, hands, strategy.cards)
        _add(self._seen, counts.moves)
        _add(self._shown, counts.shown)
        before = self.hands // self.settings.every
        self.hands += len(hands)
        if self._work is not None and (self.settings.wait or self._work.done()):
            self._take(self._work.result())
            self._work = None
        if self.hands // self.settings.every > before and self._work is None:
            self._pool = self._pool or ThreadPoolExecutor(1)
            self._work = self._pool.submit(self._answer, self.counts)
            if self.settings.memory is not None:
                self._keep(self.settings.memory)

    def _take(self, strategy: BlueprintStrategy) -> None:
        self.now = replace(self.first, strategy=strategy)

    def _answer(self, counts: Counts) -> BlueprintStrategy:
        """The answer to what was seen: the model, then some work from the last answer on."""
        base, settings = self.first.strategy, self.settings
        if settings.method == "preflop":
            counts = counts.on(base.tree, 0)
        model = fit_model(base, surprising(base, counts), settings.fit, settings.prior)
        if self._responder is None:
            p = settings.p if settings.method == "rnr" else 1.0
            self._responder = Responder(base, p, seed=self.first.seed)
        if settings.method == "dbr":
            self._responder.be_sure(confidence(counts, settings.p))
        self._responder.improve(model, settings.work)
        answer = self._responder.strategy()
        if settings.method == "preflop":
            answer = replace(
                answer, average=(answer.average[0], *(np.asarray(t, np.float32) for t in base.average[1:]))
            )
        return answer

    # --- memory ---------------------------------------------------------------------------------

    def _keep(self, folder: Path) -> None:
        """Write what was seen, in the place of what was there."""
        most = max([1, *(len(seen) for seen in self._seen.values())])
        places = [(node, -1) for node in self._seen] + list(self._shown)
        moves = np.zeros((len(places), most))
        for row, seen in zip(moves, [*self._seen.values(), *self._shown.values()], strict=True):
            row[: len(seen)] = seen
        facts = {"hands": self.hands, "fingerprint": self.first.strategy.tree.fingerprint, "game": self.rules.name}
        arrays = {"places": np.array(places, np.int64).reshape(-1, 2), "moves": moves}
        artefact.write(folder, MEMORY, arrays, facts)

    def _recall(self, folder: Path) -> None:
        manifest, arrays = artefact.read(folder)
        if manifest.text("kind") != MEMORY:
            raise InputError(f"memory {folder}: holds a {manifest.text('kind')}; another folder is needed")
        tree = self.first.strategy.tree
        if manifest.text("fingerprint") != tree.fingerprint:
            raise InputError(f"memory {folder}: is one of another tree of {manifest.text('game')!r}")
        self.hands = manifest.whole("hands", 0)
        places = arrays.take("places", ("int64",), (None, 2))
        moves = arrays.take("moves", ("float64",), (len(places), None), 0.0)
        for (node, bucket), seen in zip(places.tolist(), moves, strict=True):
            if not 0 <= node < len(tree) or tree.count[node] == 0 or tree.count[node] > len(seen):
                raise InputError(f"memory {folder}: node {node} is no decision of the tree")
            kept = np.array(seen[: tree.count[node]])
            if bucket < 0:
                self._seen[node] = kept
            else:
                self._shown[node, bucket] = kept


def _add(mine: dict[K, Array], new: Mapping[K, Array]) -> None:
    for place, seen in new.items():
        mine[place] = mine[place] + seen if place in mine else seen


def _own_name(name: str, hands: Hands) -> str:
    """Which player of a record somebody is: who always sees its own cards; by name where all cards were seen."""
    hole = hands.rules.hole
    for k, who in enumerate(hands.names):
        seat = hands.seat_of(who)
        there = np.flatnonzero(seat >= 0)
        first = seat[there, None] * hole + np.arange(hole)
        if (hands.cards[there[:, None], first] == HIDDEN).any():
            return hands.names[1 - k] if len(hands.names) == 2 else name
    return name if name in hands.names else hands.names[0]
