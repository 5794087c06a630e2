"""Specs of agents: the text that names one, parsed once into a typed value.

    always-fold  always-call  always-raise  random  rule-based      baseline agents
    runs/mine                                                       a folder with a blueprint, trained or in training
    runs/spot                                                       a folder with a solved spot: plays its subgame
    runs/mine?purify&translation=det-arith                          with options
    demo                                                            the blueprint that `riverboat demo` builds
    default                                                         the agent that comes with Riverboat
    mine.rules                                                      a text file of rules (`agents.rules`)
    module:Class                                                    a class of your own; options are its arguments
    switch:always-call,demo,deals=500                               one after the other (`agents.nonstationary`)
    hedge:demo,always-raise                                         a mixture of agents, weighted by their estimated winnings

What a spec may name depends on where it comes from (`Origin`). A person who types one in Python or in the terminal may name
code, paths and other agents. Requests, jobs, session files and manifests may not: they name baseline agents, `demo`,
`default` and what the origin itself finds by name, with options from `OPEN_OPTIONS` and numbers up to `CAPS`. A nested spec
has the origin of the spec around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from riverboat.abstraction.actions.translation import Tie
from riverboat.agents.baselines import YARDSTICKS
from riverboat.agents.learning import KNOWN, LEARN_OPTIONS, LearnSettings, learn_settings
from riverboat.agents.rules import SUFFIX
from riverboat.agents.search_options import SEARCH_OPTIONS, search_settings
from riverboat.core.errors import InputError, shown, unknown
from riverboat.opponents.models.change_detection import LEAST_WINDOW
from riverboat.strategies.files import holds_solution
from riverboat.strategies.policy import DEFAULT_MAPPING, POST
from riverboat.subgames.search.search import SearchSettings

DEMO, DEFAULT = "demo", "default"
DEFAULT_PLAYS = {"translation": "det-pshar"}  # options of `default` as it was measured; a spec may say otherwise
PROGRAM = "acpc:"  # a program that speaks the ACPC protocol; a dealer seats it
ENDGAMES = "endgames"
FOLDERS = ("abstraction", "memory", ENDGAMES)  # options that name a folder
COMPOSITES = {"switch": "deals", "hedge": "every"}  # agents made of others, and their number
_POST = tuple(name for name in POST if name != "none")
_PLAIN = (*_POST, "spare-first", "translation", "tie", "seed", "safe", "notice")
OPTIONS = (*_PLAIN, *FOLDERS, *SEARCH_OPTIONS, *(key for key in LEARN_OPTIONS if key not in FOLDERS))

# What an untrusted spec may set. A list of its own: a new option is closed until somebody has thought about it.
OPEN_OPTIONS = (
    *_PLAIN,
    "search", "method", "nested", "leaves", "device", "iterations", "threads", "until", "floor", "model", "play", "forced",
    "spread", "time", "menu", "exploit", "p", "fit", "every", "work", "prior", "wait", "showdowns", "doubt",
)  # fmt: skip
CAPS = {"iterations": 10_000, "threads": 64, "every": 100_000, "work": 1_000_000}  # of an untrusted spec
MOST_SECONDS = 60.0  # of `time=`, likewise

Kind = Literal["baseline", "rules", "blueprint", "solution", "class", "switch", "hedge"]
_CLASS = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")


@dataclass(frozen=True)
class Origin:
    """Where a spec comes from, which decides what it may name."""

    name: str  # for messages: "a request"
    trusted: bool = False  # a person typed it: code, paths and nested specs are allowed
    find: Callable[[str], Path] | None = None  # the folder of a run by its name, where folders can be named at all

    def refuse(self, text: str, what: str) -> InputError:
        """Return the error for a spec that names what this origin may not."""
        return InputError(
            f"agent {shown(text)}: {what} cannot come from {self.name}; type it in the terminal or in Python"
        )


TYPED = Origin("a person", trusted=True, find=Path)


def from_file(path: str | Path) -> Origin:
    """Return the origin of specs that a file holds, such as a session: names of agents alone."""
    return Origin(f"the file {path}")


@dataclass(frozen=True, kw_only=True)
class BlueprintOptions:
    """How a blueprint is played: translation, post-processing, search, exploitation."""

    post: str = "none"
    share: float | None = None  # of the post-processing
    spare_first: bool | None = None
    translation: str = DEFAULT_MAPPING
    tie: Tie = "high"
    abstraction: Path | None = None
    endgames: Path | None = None  # a database of endgames that rivers are played from
    search: SearchSettings | None = None
    learn: LearnSettings | None = None
    safe: float | None = None  # mbb a hand that exploitation may risk
    notice: int | None = None  # hands of the window in which a change of the opponent is looked for


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    """An agent as it was named: nothing is loaded, and nothing of the user's is imported."""

    text: str
    kind: Kind
    target: str  # name of a baseline agent, `demo`, `default`, a folder, a file of rules, `module:Class`
    seed: int | None = None
    blueprint: BlueprintOptions = field(default_factory=BlueprintOptions)
    arguments: Mapping[str, str] = field(default_factory=dict)  # of a class
    parts: tuple[AgentSpec, ...] = ()  # of switch and hedge; the known opponent of exploit=known
    number: int = 0  # deals of switch, hands of hedge

    @property
    def computes(self) -> bool:
        """Whether the agent solves, learns or loads something large before it answers, or may do so by its parts."""
        plays = self.blueprint
        return bool(self.parts) or not (plays.search is None and plays.learn is None and plays.endgames is None)


def known_agents() -> str:
    """List what an agent may be, for messages."""
    names = ", ".join((*YARDSTICKS, DEMO, DEFAULT))
    folders = "a folder with a blueprint such as runs/mine?purify or a solved spot"
    return f"{names}, {folders}, a file of rules (mine.rules), or module:Class"


def is_agent_spec(text: str) -> bool:
    """Return whether a text can only mean an agent; a folder without options is a strategy."""
    base, options, _ = text.partition("?")
    if text.partition(":")[0] in COMPOSITES and ":" in text:
        return True
    if base in (*YARDSTICKS, DEMO, DEFAULT) or base.endswith(SUFFIX):
        return True
    return bool(options) or _CLASS.fullmatch(base) is not None


def parse_agent(text: str, origin: Origin = TYPED) -> AgentSpec:
    """Parse the spec of an agent, and refuse what its origin may not name."""
    if text.startswith(PROGRAM):
        raise InputError(
            f"agent {shown(text)}: a program that speaks the ACPC protocol needs a dealer: `riverboat acpc dealer` seats it"
        )
    base, _, tail = text.partition("?")
    options = _options(tail, text)
    head, colon, _ = text.partition(":")
    if colon and head in COMPOSITES:
        return _composite(text, head, origin)
    if not base:
        raise InputError(f"agent {shown(text)}: no name; an agent is {known_agents()}")
    if base in YARDSTICKS:
        return _with_seed(text, "baseline", base, options)
    if base in (DEMO, DEFAULT):
        return _blueprint(text, base, options if base == DEMO else DEFAULT_PLAYS | options, origin)
    if base.endswith(SUFFIX):
        if not origin.trusted:
            raise origin.refuse(text, "a file of rules")
        return _with_seed(text, "rules", base, options)
    folder = _folder(text, base, origin)
    if folder is not None:
        if holds_solution(folder):
            return _with_seed(text, "solution", str(folder), options)
        return _blueprint(text, str(folder), options, origin)
    if _CLASS.fullmatch(base):
        return AgentSpec(text=text, kind="class", target=base, arguments=options)
    if "/" in base:
        raise InputError(f"agent {shown(text)}: no folder {shown(base)}; an agent is {known_agents()}")
    raise InputError(
        f"{unknown('agent', base, (*YARDSTICKS, DEMO, DEFAULT))}; it may also be a folder with a blueprint, or module:Class"
    )


def _folder(text: str, base: str, origin: Origin) -> Path | None:
    """The folder that a spec names, None where it is something else; raises unless the origin can find it."""
    if origin.trusted:
        return Path(base) if Path(base).is_dir() else None
    if _CLASS.fullmatch(base):
        raise origin.refuse(text, "code (module:Class)")
    if origin.find is None:
        raise origin.refuse(text, "a folder")
    return origin.find(base)


def _options(tail: str, text: str) -> dict[str, str]:
    """`purify&seed=3` as a table; an option without a value has an empty one."""
    options: dict[str, str] = {}
    for part in filter(None, tail.split("&")):
        key, _, value = part.partition("=")
        if key in options:
            raise InputError(f"agent {shown(text)}: {key} is given twice")
        options[key] = value
    return options


def _check_keys(options: Mapping[str, str], keys: tuple[str, ...], text: str) -> None:
    for key in options:
        if key not in keys:
            raise InputError(f"agent {shown(text)}: {unknown('option', key, keys)}")


def _with_seed(text: str, kind: Kind, target: str, options: dict[str, str]) -> AgentSpec:
    """An agent whose only option is its seed."""
    _check_keys(options, ("seed",), text)
    return AgentSpec(text=text, kind=kind, target=target, seed=_seed(options, text))


def _seed(options: Mapping[str, str], text: str) -> int | None:
    if "seed" not in options:
        return None
    if not re.fullmatch(r"\d{1,19}", options["seed"], re.ASCII):
        raise InputError(f"agent {shown(text)}: seed={shown(options['seed'])}: write a whole number")
    return int(options["seed"])


def _composite(text: str, kind: str, origin: Origin) -> AgentSpec:
    """`switch:A,B,deals=500` or `hedge:A,B,every=200`: agents made of others, without commas in their specs."""
    if not origin.trusted:
        raise origin.refuse(text, "an agent made of others")
    key, words = COMPOSITES[kind], text.partition(":")[2].split(",")
    given = [word for word in words if word.startswith(f"{key}=")]
    if len(given) > 1 or (given and not re.fullmatch(r"\d{1,9}", given[0].partition("=")[2], re.ASCII)):
        raise InputError(f"agent {shown(text)}: write {key}= once, with a whole number")
    number = int(given[0].partition("=")[2]) if given else 200
    try:
        parts = tuple(parse_agent(word, origin) for word in words if word not in given)
    except InputError as error:
        raise InputError(f"agent {shown(text)}: {error}") from None
    return AgentSpec(text=text, kind=cast("Kind", kind), target=kind, parts=parts, number=number)


def _blueprint(text: str, target: str, options: dict[str, str], origin: Origin) -> AgentSpec:
    _check_keys(options, OPTIONS, text)
    if not origin.trusted:
        _check_open(options, text, origin)
    for key in FOLDERS:
        if options.get(key) == "":
            raise InputError(f"agent {shown(text)}: {key}= names no folder: write {key}=DIR")
    search, learn = search_settings(options, text), learn_settings(options, text)
    if not origin.trusted and search is not None and search.seconds is not None and search.seconds > MOST_SECONDS:
        raise InputError(f"agent {shown(text)}: time={options['time']}: at most {MOST_SECONDS:g} s from {origin.name}")
    if ENDGAMES in options and (search is not None or learn is not None):
        raise InputError(f"agent {shown(text)}: {ENDGAMES} and search or exploit: one of them")
    if "notice" in options and learn is None:
        raise InputError(f"agent {shown(text)}: notice is for agents that learn: add exploit=dbbr")
    post, spare = _post(options, text), options.get("spare-first")
    if spare not in (None, "", "yes", "no"):
        raise InputError(f"agent {shown(text)}: spare-first={shown(spare)}: write yes or no")
    safe = _budget(options, text, learn is not None)
    return AgentSpec(
        text=text,
        kind="blueprint",
        target=target,
        seed=_seed(options, text),
        blueprint=BlueprintOptions(
            post=post,
            share=_share(options.get(post, ""), post, text),
            spare_first=None if spare is None else spare != "no",
            translation=options.get("translation", DEFAULT_MAPPING),
            tie=cast("Tie", options.get("tie", "high")),
            abstraction=Path(options["abstraction"]) if "abstraction" in options else None,
            endgames=Path(options[ENDGAMES]) if ENDGAMES in options else None,
            search=search,
            learn=learn,
            safe=safe,
            notice=_window(options, text, alone=search is None and safe is None),
        ),
        parts=(parse_agent(learn.opponent, origin),) if learn is not None and learn.method == KNOWN else (),
    )


def _check_open(options: Mapping[str, str], text: str, origin: Origin) -> None:
    """Refuse options and numbers that only a person may give."""
    for key, value in options.items():
        if key not in OPEN_OPTIONS:
            raise origin.refuse(text, f"the option {key}")
        if key in CAPS and value.isdecimal() and int(value[:20]) > CAPS[key]:
            raise InputError(f"agent {shown(text)}: {key}={shown(value)}: at most {CAPS[key]:,} from {origin.name}")
    if options.get("exploit") == KNOWN:
        raise origin.refuse(text, f"exploit={KNOWN}, which names another agent,")


def _post(options: Mapping[str, str], text: str) -> str:
    chosen = [name for name in _POST if name in options]
    if len(chosen) > 1:
        raise InputError(f"agent {shown(text)}: {' and '.join(chosen)}: one post-processing at a time")
    return chosen[0] if chosen else "none"


def _window(options: Mapping[str, str], text: str, *, alone: bool) -> int | None:
    """Hands of the window that `notice=200` compares; None where changes are not looked for."""
    if "notice" not in options:
        return None
    if not alone:
        raise InputError(f"agent {shown(text)}: notice is for exploit alone, without search and safe")
    window = options["notice"] or "200"
    if not re.fullmatch(r"\d{1,7}", window, re.ASCII) or int(window) < LEAST_WINDOW:
        raise InputError(
            f"agent {shown(text)}: notice={shown(window)}: write a number of hands from {LEAST_WINDOW} on, such as 200"
        )
    return int(window)


def _budget(options: Mapping[str, str], text: str, learns: bool) -> float | None:
    """What `safe=MBB` allows; None where nobody asks for safety."""
    if "safe" not in options:
        return None
    if not learns:
        raise InputError(f"agent {shown(text)}: safe is for agents that learn: add exploit=dbbr")
    if not re.fullmatch(r"\d{0,7}(\.\d{1,6})?", options["safe"], re.ASCII):
        raise InputError(f"agent {shown(text)}: safe={shown(options['safe'])}: write mbb a hand, such as 20")
    return float(options["safe"] or 0)


def _share(value: str, post: str, text: str) -> float | None:
    if not value:
        return None
    try:
        return float(value)
    except ValueError:
        raise InputError(
            f"agent {shown(text)}: {post}={shown(value)}: write a share from 0 to 1, such as 0.2"
        ) from None
