"""The ledger: results of matches, local best responses and exploitability in one text file that people can commit.

    ledger = read_ledger("strength.jsonl").add(json.loads(text))       # what --json printed
    ledger.ratings()                                                   # mbb/g over all pairs, with errors

A line is a JSON object: an agent by its fingerprint, or a result between fingerprints. Lines are sorted, so that a commit
shows what was added. A ledger is of one game and one release: others are refused by name, never compared.

Ratings are the least-squares fit of r(A) - r(B) to what A won of B, each match weighted by its interval. They are about the
mean of the agents that matches connect; groups that no match connects have no common scale and are rated apart. Where matches
contradict each other by more than chance, as poker players do that beat one another in a circle, errors grow by as much.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.core import atomic_io
from riverboat.core.claims import ESTIMATE, EXACT, LOWER, Claim
from riverboat.core.errors import CorruptError, InputError, shown
from riverboat.core.schema import Fields
from riverboat.core.text_files import read_text
from riverboat.evaluation.intervals import NORMAL_95

MATCH, LBR, EXPLOITABILITY = "match", "lbr", "exploitability"
KINDS = (MATCH, LBR, EXPLOITABILITY)
COST = "cost"  # what a result says of an agent alone: it goes to the agent's line
COSTS = ("core_hours", "megabytes", "decision_seconds")
LEAST_ERROR = 0.5  # mbb/g: standard error of matches in which nothing was left to chance
MOST_LINES = 100_000
_FIGURE = 1e15
_HEAD, _AGENT = "ledger", "agent"
_EXTRA = ("aivat", "verdict", "actions", "from", "is", "side", "boards", "played")  # what else a result may say


@dataclass(frozen=True)
class Entry:
    """One result."""

    kind: str  # one of KINDS
    agents: tuple[str, ...]  # fingerprints: two of a match, else one
    mbb_per_game: float  # what the first won a hand, or what can be won of it
    ci95: float  # 0 where it is exact
    hands: int | None
    seed: int | None
    more: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> dict[str, Any]:
        """As it is written."""
        facts = {
            "result": self.kind,
            "agents": list(self.agents),
            "mbb_per_game": self.mbb_per_game,
            "ci95": self.ci95,
            "hands": self.hands,
            "seed": self.seed,
            **self.more,
        }
        return {key: value for key, value in facts.items() if value is not None}

    @property
    def claim(self) -> Claim:
        """What the result says of the first agent: what it won, or what can be won of it."""
        drawn: dict[str, Any] = {"seed": self.seed, "size": self.hands, "samples": "hands" if self.hands else ""}
        if self.kind == MATCH:
            return Claim("won", self.mbb_per_game, "mbb/g", ESTIMATE, self.ci95, **drawn)
        if self.more.get("is") == "exact":
            return Claim("exploitability", self.mbb_per_game, "mbb/g", EXACT)
        return Claim("exploitability", self.mbb_per_game, "mbb/g", LOWER, self.ci95, **drawn)

    @property
    def key(self) -> tuple[Any, ...]:
        """Results with one key are one measurement."""
        asked = tuple(str(self.more.get(name)) for name in _EXTRA if name not in ("verdict", "played"))
        return self.kind, self.agents, self.seed or 0, self.hands or 0, asked

    @property
    def measures(self) -> tuple[Any, ...]:
        """Results that measure the same, with other cards, are pieces of one."""
        _, _, _, _, asked = self.key
        return self.kind, self.agents, asked


@dataclass(frozen=True)
class Rating:
    """Of one agent, in mbb/g about the mean of its group."""

    agent: str
    mbb_per_game: float
    ci95: float
    group: int
    matches: int
    hands: int


@dataclass(frozen=True)
class Ledger:
    """Agents by fingerprint and results between them."""

    where: str
    game: Mapping[str, Any] | None = None  # name, fingerprint and stacks of the rules, and the release
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()

    def add(self, result: Any, where: str = "result") -> Ledger:
        """With one more result, as `--json` printed it, or with all matches of a round robin. The same measurement again
        takes the place of the first.
        """
        if isinstance(result, Mapping) and isinstance(result.get("matches"), list):
            more = self
            for number, each in enumerate(result["matches"], 1):
                more = more.add(each, f"{where}, match {number}")
            return more
        entry, game, agents = _read_result(result, where)
        if self.game is not None:
            _alike(self.where, self.game, game, where)
        entries = {e.key: e for e in self.entries} | ({} if entry is None else {entry.key: entry})
        known = dict(self.agents)
        for agent in agents:
            mark = agent["fingerprint"]
            facts = {key: value for key, value in agent.items() if key != "fingerprint"}
            newer = facts if entry is None else {}  # costs are measured again
            fresh = {key: value for key, value in newer.items() if key in COSTS}
            known[mark] = {**facts, **known.get(mark, {}), **fresh}  # with the name that it had first
        return Ledger(self.where, game, known, tuple(entries[key] for key in sorted(entries, key=repr)))

    # --- what is told ---------------------------------------------------------------------------

    def names(self) -> dict[str, str]:
        """A name for each fingerprint; agents of one name are told apart by theirs."""
        names = {mark: str(facts["name"]) for mark, facts in self.agents.items()}
        twice = {name for name in names.values() if list(names.values()).count(name) > 1}
        return {mark: f"{name} ({mark[:6]})" if name in twice else name for mark, name in names.items()}

    def of(self, kind: str) -> list[Entry]:
        """Results of one kind."""
        return [entry for entry in self.entries if entry.kind == kind]

    def pooled(self, kind: str) -> list[Entry]:
        """Results of one kind, pieces of a measurement as one: those that differ by their seeds, each weighing by its hands.
        Of several with one seed, which share their first cards, the longest counts.
        """
        pieces: dict[tuple[Any, ...], dict[int, Entry]] = {}
        for entry in self.of(kind):
            same = pieces.setdefault(entry.measures, {})
            longest = same.get(entry.seed or 0)
            if longest is None or (longest.hands or 0) < (entry.hands or 0):
                same[entry.seed or 0] = entry
        return [_pooled(list(same.values())) for same in pieces.values()]

    def ratings(self) -> list[Rating]:
        """Of all agents that played a match, by group, the best first."""
        matches = [entry for entry in self.pooled(MATCH) if entry.agents[0] != entry.agents[1]]
        groups = _groups(matches)
        rated = []
        for number, group in enumerate(groups):
            place = {agent: k for k, agent in enumerate(group)}
            mine = [entry for entry in matches if entry.agents[0] in place]
            values, errors = _fit(len(group), mine, place)
            for agent, k in place.items():
                played = [entry for entry in mine if agent in entry.agents]
                hands = sum(entry.hands or 0 for entry in played)
                error = NORMAL_95 * float(errors[k])
                rated.append(Rating(agent, float(values[k]), error, number, len(played), hands))
        return sorted(rated, key=lambda rating: (rating.group, -rating.mbb_per_game, rating.agent))

    # --- on disk --------------------------------------------------------------------------------

    def text(self) -> str:
        """The file."""
        if self.game is None:
            return ""
        lines: list[dict[str, Any]] = [{_HEAD: 1, **self.game}]
        lines += [{_AGENT: mark, **facts} for mark, facts in sorted(self.agents.items())]
        lines += [entry.line() for entry in self.entries]
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    def write(self) -> None:
        """Write the file where it was read."""
        atomic_io.write_text(self.where, self.text())


def _pooled(pieces: list[Entry]) -> Entry:
    """One result of independent pieces."""
    if len(pieces) == 1 or not all(piece.hands for piece in pieces):
        return pieces[0]
    hands = [piece.hands or 0 for piece in pieces]
    mean = sum(n * piece.mbb_per_game for n, piece in zip(hands, pieces, strict=True)) / sum(hands)
    width = sqrt(sum((n * piece.ci95) ** 2 for n, piece in zip(hands, pieces, strict=True))) / sum(hands)
    more = {**pieces[0].more, "pieces": len(pieces)}
    return replace(pieces[0], mbb_per_game=mean, ci95=width, hands=sum(hands), seed=None, more=more)


def _groups(matches: list[Entry]) -> list[list[str]]:
    """Agents that matches connect, the larger groups first."""
    group: dict[str, set[str]] = {}
    for entry in matches:
        joined = set[str]().union(*(group.get(agent, {agent}) for agent in entry.agents))
        for agent in joined:
            group[agent] = joined
    different = {frozenset(members) for members in group.values()}
    return sorted((sorted(members) for members in different), key=lambda members: (-len(members), members))


def _fit(count: int, matches: list[Entry], place: Mapping[str, int]) -> tuple[Any, Any]:
    """Ratings about their mean, and their standard errors."""
    normal, right = np.zeros((count, count)), np.zeros(count)
    for entry in matches:
        i, j = (place[agent] for agent in entry.agents)
        weight = 1 / max(entry.ci95 / NORMAL_95, LEAST_ERROR) ** 2
        row = np.zeros(count)
        row[i], row[j] = 1.0, -1.0
        normal += weight * np.outer(row, row)
        right += weight * entry.mbb_per_game * row
    covariance = np.linalg.pinv(normal, hermitian=True)  # of ratings whose sum is zero
    ratings = covariance @ right
    misfit = 0.0
    for entry in matches:
        i, j = (place[agent] for agent in entry.agents)
        error = max(entry.ci95 / NORMAL_95, LEAST_ERROR)
        misfit += ((entry.mbb_per_game - ratings[i] + ratings[j]) / error) ** 2
    free = len(matches) - (count - 1)
    grown = max(1.0, misfit / free) if free > 0 else 1.0
    return ratings, np.sqrt(np.maximum(np.diag(covariance), 0.0) * grown)


# --- reading --------------------------------------------------------------------------------------


def read_ledger(path: str | Path) -> Ledger:
    """The ledger of a file; an empty one where there is none yet."""
    where = str(path)
    if not Path(path).exists():
        return Ledger(where)
    lines = read_text(path, "ledger").splitlines()
    if len(lines) > MOST_LINES:
        raise InputError(f"ledger {where!r}: {len(lines):,} lines; at most {MOST_LINES:,} are read")
    game: dict[str, Any] | None = None
    agents: dict[str, Mapping[str, Any]] = {}
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        here = f"{where}, line {number}"
        fields = Fields(here, _parsed(line, here))
        if _HEAD in fields:
            fields.whole(_HEAD, 1, 1)
            game = _game(Fields(here, {k: v for k, v in fields.items() if k != _HEAD}))
        elif _AGENT in fields:
            agents[fields.text(_AGENT)] = _agent(fields)
        else:
            entries.append(_entry(fields))
    if (agents or entries) and game is None:
        raise CorruptError(f"{where}: no line with the game; a ledger begins with one")
    for entry in entries:
        for agent in entry.agents:
            if agent not in agents:
                raise CorruptError(f"{where}: a result of {shown(agent)}, which is no agent of it")
    return Ledger(where, game, agents, tuple(entries))


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(
            f"{where}: no JSON; a ledger has one object in a line, a result is what --json prints"
        ) from None


def read_result(path: str | Path) -> Any:
    """What a command printed with --json into a file."""
    return _parsed(read_text(path, "result"), f"result {str(path)!r}")


def _read_result(result: Any, where: str) -> tuple[Entry | None, dict[str, Any], list[dict[str, Any]]]:
    if not isinstance(result, Mapping) or not isinstance(result.get("about"), Mapping):
        raise InputError(
            f"{where}: does not say what it is of (`about`): give what `riverboat match`, `lbr`, `exploitability` or `cost` "
            "of this release print with --json"
        )
    entries = Fields(where, result)
    of = Fields(f"{where}, about", entries["about"])
    rules = Fields(f"{where}, about, rules", of["rules"])
    game = _game(Fields(rules.where, {**rules, "version": of["version"]}))
    agents = []
    for each in of.tables("agents"):
        agents.append({"fingerprint": each.text("fingerprint"), **_agent(each)})
    if of["result"] == COST:
        return None, game, agents
    line = {key: entries[key] for key in ("mbb_per_game", "ci95", "hands", "seed", *_EXTRA) if key in entries}
    line |= {"result": of["result"], "agents": [agent["fingerprint"] for agent in agents]}
    line |= {key: round(entries.number(key), 3) for key in ("mbb_per_game", "ci95") if key in entries}
    if "aivat" in line:
        line["aivat"] = True
    return _entry(Fields(where, line)), game, agents


def _game(entries: Fields) -> dict[str, Any]:
    stacks = None if entries.get("stacks") is None else list(entries.wholes("stacks", 1, 2**40))
    return {
        "name": entries.text("name"),
        "fingerprint": entries.text("fingerprint"),
        "stacks": stacks,
        "version": entries.text("version"),
    }


def _agent(entries: Fields) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": entries.text("name"), "kind": entries.text("kind")}
    facts |= {key: entries.text(key) for key in ("recipe", "cards") if key in entries}
    facts |= {key: entries.number(key, 0, _FIGURE) for key in COSTS if key in entries}
    return facts | {key: entries.whole(key, 0) for key in ("nodes",) if key in entries}


def _entry(entries: Fields) -> Entry:
    kind = entries.text("result", KINDS)
    agents = tuple(entries.texts("agents"))
    if len(agents) != (2 if kind == MATCH else 1):
        raise CorruptError(f"{entries.where}: {len(agents)} agents in a result of {kind}")
    more = {key: entries[key] for key in _EXTRA if key in entries}
    for key, value in more.items():
        if not isinstance(value, str | bool | int) or (isinstance(value, str) and not value.isprintable()):
            raise CorruptError(f"{entries.where}: {key} = {shown(value)}: must be a word")
    return Entry(
        kind,
        agents,
        entries.number("mbb_per_game", -_FIGURE, _FIGURE),
        entries.number("ci95", 0, _FIGURE) if "ci95" in entries else 0.0,
        entries.whole("hands", 0) if "hands" in entries else None,
        entries.whole("seed", 0) if "seed" in entries else None,
        more,
    )


def _alike(where: str, old: Mapping[str, Any], new: Mapping[str, Any], what: str) -> None:
    """Refuse results that are of something else."""
    for key, word in (("version", "release"), ("stacks", "stacks"), ("fingerprint", "rules")):
        if old[key] != new[key]:
            mine, theirs = (f"{each['name']} ({word} {_shown(each[key])})" for each in (old, new))
            raise InputError(
                f"{what}: is of {theirs}, and {where} of {mine}: these are not compared; keep it in a ledger of its own"
            )


def _shown(value: Any) -> str:
    return "none" if value is None else " and ".join(map(str, value)) if isinstance(value, list) else str(value)
