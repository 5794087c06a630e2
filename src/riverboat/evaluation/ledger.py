"""Ledger of results: matches, local best responses and exploitability in one text file that people can commit.

    ledger = read_ledger("strength.jsonl").add(json.loads(text))       # a result printed by --json
    ledger.ratings()                                                   # mbb/g over all pairs, with errors

A line is a JSON object: an agent by its fingerprint, or a result between fingerprints. Lines are sorted, so that a
commit shows what was added. A ledger is about one game and one release; results of others are rejected by name, never
compared.

Ratings are the weighted least-squares fit of r(A) - r(B) to the winnings of A against B; the weights come from the
intervals of the matches. They are relative to the mean of the agents that matches connect. Groups that no match
connects have no common scale and are rated separately. Matches may contradict each other by more than chance, for
example when agents beat one another in a circle; the errors then grow accordingly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.core import files
from riverboat.core.claims import ESTIMATE, EXACT, LOWER, Claim
from riverboat.core.errors import CorruptError, InputError, short_repr
from riverboat.core.schema import FileEntries
from riverboat.evaluation.confidence_intervals import NORMAL_95

MATCH, LBR, EXPLOITABILITY = "match", "lbr", "exploitability"
RESULT_KINDS = (MATCH, LBR, EXPLOITABILITY)
COST = "cost"  # a result about one agent alone: it is stored in the agent's line
COST_KEYS = ("core_hours", "megabytes", "decision_seconds")
MIN_ERROR = 0.5  # mbb/g: smallest standard error, for matches without any variance
MAX_LINES = 100_000
_MAX_FIGURE = 1e15
_HEADER_KEY, _AGENT_KEY = "ledger", "agent"
_EXTRA_KEYS = ("aivat", "verdict", "actions", "from", "is", "side", "boards", "played")  # optional keys of a result


@dataclass(frozen=True)
class LedgerEntry:
    """One result of a ledger.

    Attributes
    ----------
    kind
        One of `RESULT_KINDS`.
    agents
        Fingerprints: two of a match, else one.
    mbb_per_game
        Winnings of the first agent, or its exploitability.
    ci95
        Half-width of the 95 % interval; 0 if exact.
    hands
        Number of hands; None if exact.
    seed
        Seed of the cards; None if exact or pooled.
    extra
        Settings of the measurement.

    Examples
    --------
    >>> from riverboat.evaluation.ledger import LedgerEntry
    >>> str(LedgerEntry("match", ("a", "b"), 10.0, 5.0, 1_000, 0).claim.kind)
    'estimate'
    """

    kind: str  # one of RESULT_KINDS
    agents: tuple[str, ...]  # fingerprints: two of a match, else one
    mbb_per_game: float  # winnings of the first agent, or its exploitability
    ci95: float  # 0 if exact
    hands: int | None
    seed: int | None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as the JSON object of its line."""
        facts = {"result": self.kind, **vars(self), "agents": list(self.agents), **self.extra}
        return {key: value for key, value in facts.items() if value is not None and key not in ("kind", "extra")}

    @property
    def claim(self) -> Claim:
        """Claim about the first agent: its winnings, or its exploitability."""
        drawn: dict[str, Any] = {"seed": self.seed, "size": self.hands, "samples": "hands" if self.hands else ""}
        if self.extra.get("is") == "exact" and self.kind != MATCH:
            return Claim("exploitability", self.mbb_per_game, "mbb/g", EXACT)
        name, kind = ("won", ESTIMATE) if self.kind == MATCH else ("exploitability", LOWER)
        return Claim(name, self.mbb_per_game, "mbb/g", kind, self.ci95, **drawn)

    @property
    def key(self) -> tuple[Any, ...]:
        """Key of the measurement; entries with equal keys are the same measurement."""
        kind, agents, settings = self.measurement
        return kind, agents, self.seed or 0, self.hands or 0, settings

    @property
    def measurement(self) -> tuple[Any, ...]:
        """Key without seed and hands; entries that share it measure the same with other cards and can be pooled."""
        settings = tuple(str(self.extra.get(name)) for name in _EXTRA_KEYS if name not in ("verdict", "played"))
        return self.kind, self.agents, settings


@dataclass(frozen=True)
class AgentRating:
    """Rating of one agent, in mbb/g relative to the mean of its group.

    Attributes
    ----------
    agent
        Fingerprint.
    mbb_per_game
        Rating.
    ci95
        Half-width of its 95 % interval.
    group
        Index of its group; groups have no matches between them.
    matches
        Number of matches.
    hands
        Number of hands in them.

    Examples
    --------
    >>> from riverboat.evaluation.ledger import AgentRating
    >>> AgentRating("a", 5.0, 2.0, 0, 1, 1_000).mbb_per_game
    5.0
    """

    agent: str
    mbb_per_game: float
    ci95: float
    group: int
    matches: int
    hands: int


@dataclass(frozen=True)
class Ledger:
    """Agents by fingerprint, and results between them.

    Attributes
    ----------
    path
        File of the ledger.
    game
        Name, fingerprint and stacks of the rules, and the release; None in an empty ledger.
    agents
        Facts of each agent, by fingerprint.
    entries
        Results, sorted.

    Examples
    --------
    >>> from riverboat.evaluation.ledger import Ledger
    >>> Ledger("results.jsonl").ratings()
    []
    """

    path: str
    game: Mapping[str, Any] | None = None  # name, fingerprint and stacks of the rules, and the release
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    entries: tuple[LedgerEntry, ...] = ()

    def add(self, result: Any, where: str = "result") -> Ledger:
        """Return the ledger with one more result, or with all matches of a round robin.

        A repeated measurement replaces the first.

        Parameters
        ----------
        result
            JSON object as `--json` printed it.
        where
            Origin of the result, for messages.

        Raises
        ------
        InputError
            If the result is of another game or release, or is no result.
        """
        if isinstance(result, Mapping) and isinstance(result.get("matches"), list):
            ledger = self
            for number, each in enumerate(result["matches"], 1):
                ledger = ledger.add(each, f"{where}, match {number}")
            return ledger
        entry, game, agents = _parse_result(result, where)
        if self.game is not None:
            _check_same_game(self.path, self.game, game, where)
        entries = {e.key: e for e in self.entries} | ({} if entry is None else {entry.key: entry})
        known = dict(self.agents)
        for agent in agents:
            fingerprint = agent["fingerprint"]
            facts = {key: value for key, value in agent.items() if key != "fingerprint"}
            # New measurements replace old costs.
            costs = {key: facts[key] for key in COST_KEYS if entry is None and key in facts}
            known[fingerprint] = {**facts, **known.get(fingerprint, {}), **costs}  # an agent keeps its first name
        return Ledger(self.path, game, known, tuple(entries[key] for key in sorted(entries, key=repr)))

    # --- Queries ---

    def names(self) -> dict[str, str]:
        """Return names by fingerprint; agents that share a name get part of their fingerprint added."""
        names = {fingerprint: str(facts["name"]) for fingerprint, facts in self.agents.items()}
        repeated = {name for name in names.values() if list(names.values()).count(name) > 1}
        return {mark: f"{name} ({mark[:6]})" if name in repeated else name for mark, name in names.items()}

    def entries_of_kind(self, kind: str) -> list[LedgerEntry]:
        """Return the results of one kind.

        Parameters
        ----------
        kind
            One of `RESULT_KINDS`.
        """
        return [entry for entry in self.entries if entry.kind == kind]

    def pooled_entries(self, kind: str) -> list[LedgerEntry]:
        """Return the results of one kind, with the pieces of each measurement pooled.

        Pieces differ by their seeds and weigh by their hands. Results with equal seeds share their first cards, so
        only the longest of them counts.

        Parameters
        ----------
        kind
            One of `RESULT_KINDS`.
        """
        pieces: dict[tuple[Any, ...], dict[int, LedgerEntry]] = {}
        for entry in self.entries_of_kind(kind):
            same = pieces.setdefault(entry.measurement, {})
            longest = same.get(entry.seed or 0)
            if longest is None or (longest.hands or 0) < (entry.hands or 0):
                same[entry.seed or 0] = entry
        return [_pool_entries(list(same.values())) for same in pieces.values()]

    def ratings(self) -> list[AgentRating]:
        """Rate all agents that played a match, by group, the best first."""
        matches = [entry for entry in self.pooled_entries(MATCH) if entry.agents[0] != entry.agents[1]]
        groups = _connected_groups(matches)
        rated = []
        for number, group in enumerate(groups):
            index = {agent: k for k, agent in enumerate(group)}
            group_matches = [entry for entry in matches if entry.agents[0] in index]
            values, errors = _fit_ratings(len(group), group_matches, index)
            for agent, k in index.items():
                played = [entry for entry in group_matches if agent in entry.agents]
                hands = sum(entry.hands or 0 for entry in played)
                error = NORMAL_95 * float(errors[k])
                rated.append(AgentRating(agent, float(values[k]), error, number, len(played), hands))
        return sorted(rated, key=lambda rating: (rating.group, -rating.mbb_per_game, rating.agent))

    # --- File ---

    def to_text(self) -> str:
        """Return the text of the ledger's file."""
        if self.game is None:
            return ""
        lines: list[dict[str, Any]] = [{_HEADER_KEY: 1, **self.game}]
        lines += [{_AGENT_KEY: mark, **facts} for mark, facts in sorted(self.agents.items())]
        lines += [entry.to_dict() for entry in self.entries]
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    def write(self) -> None:
        """Write the ledger to the file that it was read from."""
        files.write_text(self.path, self.to_text())


def _pool_entries(pieces: list[LedgerEntry]) -> LedgerEntry:
    """Pool independent pieces of a measurement into one result."""
    if len(pieces) == 1 or not all(piece.hands for piece in pieces):
        return pieces[0]
    hands = [piece.hands or 0 for piece in pieces]
    mean = sum(n * piece.mbb_per_game for n, piece in zip(hands, pieces, strict=True)) / sum(hands)
    width = sqrt(sum((n * piece.ci95) ** 2 for n, piece in zip(hands, pieces, strict=True))) / sum(hands)
    extra = {**pieces[0].extra, "pieces": len(pieces)}
    return replace(pieces[0], mbb_per_game=mean, ci95=width, hands=sum(hands), seed=None, extra=extra)


def _connected_groups(matches: list[LedgerEntry]) -> list[list[str]]:
    """Return the connected components of the graph of matches, each as sorted fingerprints, the largest first."""
    group: dict[str, set[str]] = {}
    for entry in matches:
        joined = set[str]().union(*(group.get(agent, {agent}) for agent in entry.agents))
        for agent in joined:
            group[agent] = joined
    different = {frozenset(members) for members in group.values()}
    return sorted((sorted(members) for members in different), key=lambda members: (-len(members), members))


def _fit_ratings(count: int, matches: list[LedgerEntry], index: Mapping[str, int]) -> tuple[Any, Any]:
    """Fit ratings by weighted least squares; return them, relative to their mean, and their standard errors.

    `index` maps fingerprints to positions. float64 [count], float64 [count]
    """
    won = np.array([entry.mbb_per_game for entry in matches])
    errors = np.maximum([entry.ci95 / NORMAL_95 for entry in matches], MIN_ERROR)
    pairs = np.array([[index[agent] for agent in entry.agents] for entry in matches])
    design = np.eye(count)[pairs[:, 0]] - np.eye(count)[pairs[:, 1]]
    weighted = design / errors[:, None] ** 2
    covariance = np.linalg.pinv(design.T @ weighted, hermitian=True)  # with the constraint that ratings sum to zero
    ratings = covariance @ (weighted.T @ won)
    misfit = float((((won - design @ ratings) / errors) ** 2).sum())
    degrees_of_freedom = len(matches) - (count - 1)
    inflation = max(1.0, misfit / degrees_of_freedom) if degrees_of_freedom > 0 else 1.0
    return ratings, np.sqrt(np.maximum(np.diag(covariance), 0.0) * inflation)


# --- Reading ---


def read_ledger(path: str | Path) -> Ledger:
    """Read a ledger.

    Parameters
    ----------
    path
        File of the ledger; a missing file gives an empty one.

    Returns
    -------
    Ledger
        The ledger.

    Raises
    ------
    InputError
        If a line is not valid JSON, or there are too many.
    CorruptError
        If a line is incomplete, or a result names an unknown agent.

    Examples
    --------
    >>> from riverboat.evaluation.ledger import read_ledger
    >>> read_ledger("no-such-ledger.jsonl").entries
    ()
    """
    where = str(path)
    if not Path(path).exists():
        return Ledger(where)
    lines = files.read_text(path, "ledger").splitlines()
    if len(lines) > MAX_LINES:
        raise InputError(f"ledger {where!r}: {len(lines):,} lines; must have at most {MAX_LINES:,}")
    game: dict[str, Any] | None = None
    agents: dict[str, Mapping[str, Any]] = {}
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        location = f"{where}, line {number}"
        fields = FileEntries(location, _parse_json(line, location))
        if _HEADER_KEY in fields:
            fields.integer(_HEADER_KEY, 1, 1)
            game = _read_game(FileEntries(location, {k: v for k, v in fields.items() if k != _HEADER_KEY}))
        elif _AGENT_KEY in fields:
            agents[fields.text(_AGENT_KEY)] = _read_agent(fields)
        else:
            entries.append(_read_entry(fields))
    if (agents or entries) and game is None:
        raise CorruptError(f"{where}: has no line with the game, which must be the first")
    unknown = [agent for entry in entries for agent in entry.agents if agent not in agents]
    if unknown:
        raise CorruptError(f"{where}: a result names agent {short_repr(unknown[0])}, which has no line")
    return Ledger(where, game, agents, tuple(entries))


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(
            f"{where}: is not valid JSON; a ledger has one object per line, a result is the output of --json"
        ) from None


def read_result(path: str | Path) -> Any:
    """Read a result that a command printed with --json.

    Parameters
    ----------
    path
        File with one JSON object.

    Returns
    -------
    object
        The parsed result, for `Ledger.add`.

    Raises
    ------
    InputError
        If the file cannot be read or is not valid JSON.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from riverboat.evaluation.ledger import read_result
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "result.json"
    ...     _ = path.write_text('{"hands": 4}')
    ...     read_result(path)
    {'hands': 4}
    """
    return _parse_json(files.read_text(path, "result"), f"result {str(path)!r}")


def _parse_result(result: Any, where: str) -> tuple[LedgerEntry | None, dict[str, Any], list[dict[str, Any]]]:
    # Returns the entry (None for a cost, which belongs to the agent), the game, and the facts of each agent.
    if not isinstance(result, Mapping) or not isinstance(result.get("about"), Mapping):
        raise InputError(
            f"{where}: has no key `about`: use the output of `riverboat match`, `lbr`, `exploitability` or `cost` "
            "of this release with --json"
        )
    entries = FileEntries(where, result)
    about = FileEntries(f"{where}, about", entries["about"])
    rules = FileEntries(f"{where}, about, rules", about["rules"])
    game = _read_game(FileEntries(rules.location, {**rules, "version": about["version"]}))
    agents = [{"fingerprint": each.text("fingerprint"), **_read_agent(each)} for each in about.tables("agents")]
    if about["result"] == COST:
        return None, game, agents
    line = {key: entries[key] for key in ("mbb_per_game", "ci95", "hands", "seed", *_EXTRA_KEYS) if key in entries}
    line |= {"result": about["result"], "agents": [agent["fingerprint"] for agent in agents]}
    line |= {key: round(entries.number(key), 3) for key in ("mbb_per_game", "ci95") if key in entries}
    if "aivat" in line:
        line["aivat"] = True
    return _read_entry(FileEntries(where, line)), game, agents


def _read_game(entries: FileEntries) -> dict[str, Any]:
    game: dict[str, Any] = {key: entries.text(key) for key in ("name", "fingerprint")}
    game["stacks"] = None if entries.get("stacks") is None else list(entries.integers("stacks", 1, 2**40))
    return game | {"version": entries.text("version")}


def _read_agent(entries: FileEntries) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": entries.text("name"), "kind": entries.text("kind")}
    facts |= {key: entries.text(key) for key in ("recipe", "cards") if key in entries}
    facts |= {key: entries.number(key, 0, _MAX_FIGURE) for key in COST_KEYS if key in entries}
    return facts | {key: entries.integer(key, 0) for key in ("nodes",) if key in entries}


def _read_entry(entries: FileEntries) -> LedgerEntry:
    kind = entries.text("result", RESULT_KINDS)
    agents = tuple(entries.texts("agents"))
    if len(agents) != (2 if kind == MATCH else 1):
        raise CorruptError(f"{entries.location}: {len(agents)} agents in a result of kind {kind}")
    extra = {key: entries[key] for key in _EXTRA_KEYS if key in entries}
    for key, value in extra.items():
        if not isinstance(value, str | bool | int) or (isinstance(value, str) and not value.isprintable()):
            raise CorruptError(
                f"{entries.location}: {key} = {short_repr(value)}: must be text, a number or true or false"
            )
    won = entries.number("mbb_per_game", -_MAX_FIGURE, _MAX_FIGURE)
    width = entries.number("ci95", 0, _MAX_FIGURE) if "ci95" in entries else 0.0
    hands, seed = (entries.integer(key, 0) if key in entries else None for key in ("hands", "seed"))
    return LedgerEntry(kind, agents, won, width, hands, seed, extra)


def _check_same_game(where: str, old: Mapping[str, Any], new: Mapping[str, Any], what: str) -> None:
    """Raise InputError if a result is of another game or release; `what` names it, and `where` the ledger."""
    for key, word in (("version", "release"), ("stacks", "stacks"), ("fingerprint", "rules")):
        if old[key] != new[key]:
            here, there = (f"{each['name']} ({word} {_format_value(each[key])})" for each in (old, new))
            raise InputError(f"{what}: was measured in {there}, but {where} is for {here}; use another ledger for it")


def _format_value(value: Any) -> str:
    return "none" if value is None else " and ".join(map(str, value)) if isinstance(value, list) else str(value)
