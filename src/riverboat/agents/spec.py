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
    hedge:demo,always-raise                                         a mixture, weighted by estimated winnings

What a spec may name depends on where it comes from (`SpecOrigin`). A person who types one in Python or in the
terminal may name code, paths and other agents. Requests, jobs, session files and manifests may not: they may name
baseline agents, `demo`, `default` and folders that the origin finds by name, with options of `UNTRUSTED_OPTIONS` up
to `UNTRUSTED_MAXIMA`. A nested spec has the origin of the spec around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from riverboat.abstraction.actions.translation import TieRule
from riverboat.agents.base import errors_of_agent
from riverboat.agents.baselines import BASELINES
from riverboat.agents.learning import KNOWN, KNOWN_ITERATIONS, LEARNING_OPTIONS, LearningSettings
from riverboat.agents.rules import RULES_SUFFIX
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.core.formatting import parse_duration
from riverboat.core.schema import check_keys
from riverboat.opponents.models.change_detection import MIN_WINDOW
from riverboat.strategies.files import holds_solution
from riverboat.strategies.policy import DEFAULT_MAPPING, POSTPROCESSING_METHODS
from riverboat.subgames.search.search import SearchSettings
from riverboat.subgames.search.subgames import parse_search_menu

# --- Options of search: `demo?search=turn&method=resolve&iterations=200` ---

_NumberKind: TypeAlias = tuple[type[int] | type[float], str, str]  # type, pattern, and what to write instead
_WHOLE_NUMBER = int, r"\d{1,19}", "a whole number"
_NUMBER = float, r"\d{1,12}(\.\d{1,19})?|\.\d{1,19}", "a number such as 0.1"
_BUDGET = float, r"\d{0,7}(\.\d{1,6})?", "mbb per hand, such as 20"
_TEXT_OPTIONS = ("method", "nested", "leaves", "device")
_SEARCH_NUMBERS = {
    **dict.fromkeys(("iterations", "threads"), _WHOLE_NUMBER),
    **dict.fromkeys(("until", "floor", "model", "play", "forced", "spread"), _NUMBER),
}
SEARCH_OPTIONS = ("search", *_TEXT_OPTIONS, *_SEARCH_NUMBERS, "time", "menu")
_LEARNING_NUMBERS = {"every": _WHOLE_NUMBER, "work": _WHOLE_NUMBER, "p": _NUMBER, "prior": _NUMBER}


def _parse_number(key: str, value: str, kind: _NumberKind) -> float:
    convert, pattern, expected = kind
    if not re.fullmatch(pattern, value, re.ASCII):
        raise InputError(f"{key}={short_repr(value)}: write {expected}")
    return convert(value)


def _parse_numbers(options: Mapping[str, str], kinds: Mapping[str, _NumberKind]) -> dict[str, float]:
    return {key: _parse_number(key, options[key], kind) for key, kind in kinds.items() if key in options}


def _parse_flag(key: str, value: str) -> bool:
    if value not in ("yes", "no"):
        raise InputError(f"{key}={short_repr(value)}: write yes or no")
    return value == "yes"


def _require_option(options: Mapping[str, str], needed: str, dependent: tuple[str, ...], message: str) -> bool:
    """Return whether an option is present; raise InputError if only options that need it are."""
    for key in dependent:
        if key in options and needed not in options:
            raise InputError(f"{key} is for agents that {message}")
    return needed in options


def parse_search_settings(options: Mapping[str, str], text: str) -> SearchSettings | None:
    """Parse the search options of an agent; return None if it does not search.

    Parameters
    ----------
    options
        Options of the spec.
    text
        The spec, for messages.

    Returns
    -------
    SearchSettings | None
        The settings, or None.

    Raises
    ------
    InputError
        If a value is unknown or out of range.

    Examples
    --------
    >>> parse_search_settings({"search": "turn"}, "default?search=turn").street
    'turn'
    """
    with errors_of_agent(text):
        if not _require_option(options, "search", SEARCH_OPTIONS, "search: add search=turn"):
            return None
        settings: dict[str, Any] = {"street": options["search"]} if options["search"] else {}
        settings |= {key: options[key] for key in _TEXT_OPTIONS if key in options}
        settings |= _parse_numbers(options, _SEARCH_NUMBERS)
        if "time" in options:
            settings["seconds"] = parse_duration(options["time"])
        if "menu" in options:
            settings["menu"] = parse_search_menu(options["menu"])
        return SearchSettings(**settings)


def _parse_learning_settings(options: Mapping[str, str]) -> LearningSettings | None:
    """Parse the learning options of an agent; return None if it does not learn."""
    if not _require_option(options, "exploit", LEARNING_OPTIONS, "learn: add exploit=dbbr"):
        return None
    settings: dict[str, Any] = {"method": options["exploit"] or "dbbr"}
    if settings["method"] == KNOWN:
        settings |= {"p": 1.0, "work": KNOWN_ITERATIONS}
    settings |= _parse_numbers(options, _LEARNING_NUMBERS)
    settings |= {key: options[key] for key in ("fit", "opponent") if key in options}
    settings |= {key: _parse_flag(key, options.get(key, "yes")) for key in ("wait", "showdowns", "doubt")}
    if options.get("memory"):
        settings["memory"] = Path(options["memory"])
    return LearningSettings(**settings)


DEMO, DEFAULT = "demo", "default"
DEFAULT_OPTIONS = {"translation": "det-pshar"}  # options of `default` as it was measured; a spec may override them
ACPC_PREFIX = "acpc:"  # a program that speaks the ACPC protocol; a dealer seats it
ENDGAMES = "endgames"
FOLDER_OPTIONS = ("abstraction", "memory", ENDGAMES)  # options that name a folder
COMPOSITES = {"switch": "deals", "hedge": "every"}  # agents made of others, and the key of their number
_POST_PROCESSINGS = tuple(name for name in POSTPROCESSING_METHODS if name != "none")
_BASIC_OPTIONS = (*_POST_PROCESSINGS, "spare-first", "translation", "tie", "seed", "safe", "notice")
OPTIONS = (
    *_BASIC_OPTIONS,
    *FOLDER_OPTIONS,
    *SEARCH_OPTIONS,
    *(key for key in LEARNING_OPTIONS if key not in FOLDER_OPTIONS),
)

# Options that an untrusted spec may set. A separate list, so that a new option is closed until it is added here.
UNTRUSTED_OPTIONS = (
    *_BASIC_OPTIONS,
    "search", "method", "nested", "leaves", "device", "iterations", "threads", "until", "floor", "model", "play", "forced",
    "spread", "time", "menu", "exploit", "p", "fit", "every", "work", "prior", "wait", "showdowns", "doubt",
)  # fmt: skip
UNTRUSTED_MAXIMA = {"iterations": 10_000, "threads": 64, "every": 100_000, "work": 1_000_000}  # in untrusted specs
MAX_SECONDS = 60.0  # largest `time=` in an untrusted spec

AgentKind = Literal["baseline", "rules", "blueprint", "solution", "class", "switch", "hedge"]
_CLASS = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")


@dataclass(frozen=True)
class SpecOrigin:
    """Origin of a spec, which decides what the spec may name.

    Attributes
    ----------
    name
        Name of the origin in messages: "a request".
    trusted
        Whether a person typed it: code, paths and nested specs are allowed.
    find
        Finds the folder of a run by its name; None: no folders.

    Examples
    --------
    >>> TRUSTED_ORIGIN.trusted
    True
    """

    name: str  # for messages: "a request"
    trusted: bool = False  # whether a person typed it: code, paths and nested specs are allowed
    find: Callable[[str], Path] | None = None  # finds the folder of a run by its name; None: no folders

    def not_allowed_error(self, text: str, what: str) -> InputError:
        """Return the error for a spec that names what this origin may not.

        Parameters
        ----------
        text
            Spec of an agent.
        what
            What it names, for the message.
        """
        return InputError(
            f"agent {short_repr(text)}: {what} cannot come from {self.name}; type it in the terminal or in Python"
        )


TRUSTED_ORIGIN = SpecOrigin("a person", trusted=True, find=Path)


def file_origin(path: str | Path) -> SpecOrigin:
    """Return the origin of specs in a file, such as a session: it may name agents only.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    SpecOrigin
        The origin of specs in a file, such as a session.

    Examples
    --------
    >>> file_origin("session.json").trusted
    False
    """
    return SpecOrigin(f"the file {path}")


@dataclass(frozen=True, kw_only=True)
class BlueprintOptions:
    """Options for playing a blueprint: translation, post-processing, search, exploitation.

    Attributes
    ----------
    post
        Post-processing, one of `POSTPROCESSING_METHODS`.
    share
        Share of the post-processing.
    spare_first
        Whether a player's first decision of a hand is not post-processed; None: the default of the method.
    translation
        Action translation.
    tie
        Side for a bet exactly at the threshold of a deterministic mapping.
    abstraction
        Folder of the card abstraction; None: that of the blueprint.
    endgames
        Database of endgames for the river.
    search
        Settings of subgame search; None: no search.
    learn
        Settings of learning; None: no learning.
    safe
        Mbb per hand that exploitation may risk.
    notice
        Hands of the window for detecting a change of the opponent.

    Examples
    --------
    >>> parse_agent("default?search=turn").blueprint.search.street
    'turn'
    """

    post: str = "none"
    share: float | None = None  # number of the post-processing: 0.15 of `threshold=0.15`
    spare_first: bool | None = None
    translation: str = DEFAULT_MAPPING
    tie: TieRule = "high"
    abstraction: Path | None = None
    endgames: Path | None = None  # database of endgames for the river
    search: SearchSettings | None = None
    learn: LearningSettings | None = None
    safe: float | None = None  # mbb per hand that exploitation may risk
    notice: int | None = None  # hands of the window for detecting a change of the opponent


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    """Parsed spec of an agent; nothing is loaded or imported yet.

    Attributes
    ----------
    text
        The spec as it was written.
    kind
        Kind of agent.
    target
        Name of a baseline agent, `demo`, `default`, a folder, a file of rules, `module:Class`
    seed
        Seed; None: that of the match.
    blueprint
        Options of a blueprint.
    arguments
        Arguments of a user's class.
    parts
        Agents that switch or hedge is made of; the known opponent of exploit=known.
    count
        Deals of each agent of switch; hands between two updates of hedge.

    Examples
    --------
    >>> spec = parse_agent("random?seed=7")
    >>> spec.target, spec.seed
    ('random', 7)
    """

    text: str
    kind: AgentKind
    target: str  # name of a baseline agent, `demo`, `default`, a folder, a file of rules, `module:Class`
    seed: int | None = None
    blueprint: BlueprintOptions = field(default_factory=BlueprintOptions)
    arguments: Mapping[str, str] = field(default_factory=dict)  # arguments of a user's class
    parts: tuple[AgentSpec, ...] = ()  # agents of switch and hedge; the known opponent of exploit=known
    count: int = 0  # deals of each agent of switch; hands between two updates of hedge

    @property
    def is_expensive(self) -> bool:
        """Whether the agent, or one of its parts, solves, learns or loads something large before it acts."""
        plays = self.blueprint
        return bool(self.parts) or not (plays.search is None and plays.learn is None and plays.endgames is None)


def describe_agents() -> str:
    """List the kinds of agents, for messages.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> "module:Class" in describe_agents()
    True
    """
    names = ", ".join((*BASELINES, DEMO, DEFAULT))
    folders = "a folder with a blueprint such as runs/mine?purify or a solved spot"
    return f"{names}, {folders}, a file of rules (mine.rules), or module:Class"


def is_agent_spec(text: str) -> bool:
    """Return whether a text can only mean an agent; a folder without options is a strategy.

    Parameters
    ----------
    text
        Spec of an agent.

    Returns
    -------
    bool
        Whether a text can only mean an agent.

    Examples
    --------
    >>> is_agent_spec("default?search=turn"), is_agent_spec("runs/mine")
    (True, False)
    """
    base, options, _ = text.partition("?")
    if text.partition(":")[0] in COMPOSITES and ":" in text:
        return True
    if base in (*BASELINES, DEMO, DEFAULT) or base.endswith(RULES_SUFFIX):
        return True
    return bool(options) or _CLASS.fullmatch(base) is not None


def parse_agent(text: str, origin: SpecOrigin = TRUSTED_ORIGIN) -> AgentSpec:
    """Parse the spec of an agent; raise InputError if its origin may not name it.

    Parameters
    ----------
    text
        Spec of an agent.
    origin
        Where the spec comes from, which decides what it may name.

    Returns
    -------
    AgentSpec
        The parsed spec.

    Raises
    ------
    InputError
        If there is no such agent, an option is invalid, or the origin may not name it.

    Examples
    --------
    >>> parse_agent("always-call").target
    'always-call'
    """
    if text.startswith(ACPC_PREFIX):
        raise InputError(
            f"agent {short_repr(text)}: a program of the ACPC protocol needs a dealer: use `riverboat acpc dealer`"
        )
    base, _, tail = text.partition("?")
    options = _parse_options(tail, text)
    head, colon, _ = text.partition(":")
    if colon and head in COMPOSITES:
        return _parse_composite(text, head, origin)
    if not base:
        raise InputError(f"agent {short_repr(text)}: no name; an agent is {describe_agents()}")
    if base in BASELINES:
        return _seeded_spec(text, "baseline", base, options)
    if base in (DEMO, DEFAULT):
        return _parse_blueprint(text, base, options if base == DEMO else DEFAULT_OPTIONS | options, origin)
    if base.endswith(RULES_SUFFIX):
        if not origin.trusted:
            raise origin.not_allowed_error(text, "a file of rules")
        return _seeded_spec(text, "rules", base, options)
    folder = _find_folder(text, base, origin)
    if folder is not None:
        if holds_solution(folder):
            return _seeded_spec(text, "solution", str(folder), options)
        return _parse_blueprint(text, str(folder), options, origin)
    if _CLASS.fullmatch(base):
        return AgentSpec(text=text, kind="class", target=base, arguments=options)
    if "/" in base:
        raise InputError(f"agent {short_repr(text)}: no folder {short_repr(base)}; an agent is {describe_agents()}")
    raise InputError(
        f"{unknown_name_error('agent', base, (*BASELINES, DEMO, DEFAULT))}; "
        "it may also be a folder with a blueprint, or module:Class"
    )


def with_search_device(text: str, device: str) -> str | None:
    """Return a spec whose search runs on a device, unless it names another.

    Parameters
    ----------
    text
        Spec of an agent.
    device
        cpu, cuda or auto.

    Returns
    -------
    str or None
        The spec; None for an agent that does not search.

    Examples
    --------
    >>> with_search_device("default?search=river", "cpu")
    'default?search=river&device=cpu'
    """
    options = _parse_options(text.partition("?")[2], text)
    if "search" not in options:
        return None
    return text if "device" in options else f"{text}&device={device}"


def _find_folder(text: str, base: str, origin: SpecOrigin) -> Path | None:
    """Return the folder that a spec names, None if it names something else; the origin must be able to find it."""
    if origin.trusted:
        return Path(base) if Path(base).is_dir() else None
    if _CLASS.fullmatch(base):
        raise origin.not_allowed_error(text, "code (module:Class)")
    if origin.find is None:
        raise origin.not_allowed_error(text, "a folder")
    return origin.find(base)


def _parse_options(tail: str, text: str) -> dict[str, str]:
    """Parse `purify&seed=3` to a dictionary; an option without a value has an empty one."""
    options: dict[str, str] = {}
    for part in filter(None, tail.split("&")):
        key, _, value = part.partition("=")
        if key in options:
            raise InputError(f"agent {short_repr(text)}: option {key} occurs twice")
        options[key] = value
    return options


def _check_keys(options: Mapping[str, str], keys: tuple[str, ...], text: str) -> None:
    check_keys(options, keys, f"agent {short_repr(text)}", kind="option")


def _seeded_spec(text: str, kind: AgentKind, target: str, options: dict[str, str]) -> AgentSpec:
    """Return the spec of an agent whose only option is its seed."""
    _check_keys(options, ("seed",), text)
    with errors_of_agent(text):
        return AgentSpec(text=text, kind=kind, target=target, seed=_parse_seed(options))


def _parse_seed(options: Mapping[str, str]) -> int | None:
    return int(_parse_number("seed", options["seed"], _WHOLE_NUMBER)) if "seed" in options else None


def _parse_composite(text: str, kind: str, origin: SpecOrigin) -> AgentSpec:
    """Parse `switch:A,B,deals=500` or `hedge:A,B,every=200`: agents made of others, whose specs have no commas."""
    if not origin.trusted:
        raise origin.not_allowed_error(text, "an agent made of others")
    key, words = COMPOSITES[kind], text.partition(":")[2].split(",")
    number_words = [word for word in words if word.startswith(f"{key}=")]
    if len(number_words) > 1 or (
        number_words and not re.fullmatch(r"\d{1,9}", number_words[0].partition("=")[2], re.ASCII)
    ):
        raise InputError(f"agent {short_repr(text)}: write {key}= once, with a whole number")
    number = int(number_words[0].partition("=")[2]) if number_words else 200
    with errors_of_agent(text):
        parts = tuple(parse_agent(word, origin) for word in words if word not in number_words)
    return AgentSpec(text=text, kind=cast("AgentKind", kind), target=kind, parts=parts, count=number)


def _parse_blueprint(text: str, target: str, options: dict[str, str], origin: SpecOrigin) -> AgentSpec:
    _check_keys(options, OPTIONS, text)
    if not origin.trusted:
        _check_untrusted(options, text, origin)
    search = parse_search_settings(options, text)
    with errors_of_agent(text):
        plays, seed = _parse_blueprint_options(options, search, origin), _parse_seed(options)
    known = plays.learn is not None and plays.learn.method == KNOWN
    parts = (parse_agent(options["opponent"], origin),) if known else ()
    return AgentSpec(text=text, kind="blueprint", target=target, seed=seed, blueprint=plays, parts=parts)


def _parse_blueprint_options(
    options: Mapping[str, str], search: SearchSettings | None, origin: SpecOrigin
) -> BlueprintOptions:
    for key in FOLDER_OPTIONS:
        if options.get(key) == "":
            raise InputError(f"{key}= names no folder: write {key}=DIR")
    folders = {key: Path(options[key]) for key in ("abstraction", ENDGAMES) if key in options}
    learn = _parse_learning_settings(options)
    if not origin.trusted and search is not None and search.seconds is not None and search.seconds > MAX_SECONDS:
        raise InputError(f"time={options['time']}: at most {MAX_SECONDS:g} s from {origin.name}")
    if ENDGAMES in options and (search is not None or learn is not None):
        raise InputError(f"{ENDGAMES} cannot be combined with search or exploit")
    _require_option(options, "exploit", ("notice", "safe"), "learn: add exploit=dbbr")
    chosen = [name for name in _POST_PROCESSINGS if name in options]
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)}: use only one kind of post-processing")
    post, spare_first = chosen[0] if chosen else "none", options.get("spare-first")
    return BlueprintOptions(
        post=post,
        share=_parse_share(options.get(post, ""), post),
        spare_first=None if spare_first is None else _parse_flag("spare-first", spare_first or "yes"),
        translation=options.get("translation", DEFAULT_MAPPING),
        tie=cast("TieRule", options.get("tie", "high")),
        search=search,
        learn=learn,
        safe=_parse_number("safe", options["safe"] or "0", _BUDGET) if "safe" in options else None,
        notice=_parse_window(options["notice"] or "200", options) if "notice" in options else None,
        **folders,
    )


def _check_untrusted(options: Mapping[str, str], text: str, origin: SpecOrigin) -> None:
    """Raise InputError for options and numbers that only a person may use."""
    for key, value in options.items():
        if key not in UNTRUSTED_OPTIONS:
            raise origin.not_allowed_error(text, f"the option {key}")
        if key in UNTRUSTED_MAXIMA and value.isdecimal() and int(value[:20]) > UNTRUSTED_MAXIMA[key]:
            raise InputError(
                f"agent {short_repr(text)}: {key}={short_repr(value)}: at most {UNTRUSTED_MAXIMA[key]:,} from {origin.name}"
            )
    if options.get("exploit") == KNOWN:
        raise origin.not_allowed_error(text, f"exploit={KNOWN}, which names another agent,")


def _parse_window(window: str, options: Mapping[str, str]) -> int:
    """Parse the window of `notice=200`, in hands."""
    if "search" in options or "safe" in options:
        raise InputError("notice needs exploit, and cannot be combined with search or safe")
    if not re.fullmatch(r"\d{1,7}", window, re.ASCII) or int(window) < MIN_WINDOW:
        raise InputError(f"notice={short_repr(window)}: write a number of hands, {MIN_WINDOW} or more")
    return int(window)


def _parse_share(value: str, post: str) -> float | None:
    try:
        return float(value) if value else None
    except ValueError:
        raise InputError(f"{post}={short_repr(value)}: write a share from 0 to 1, such as 0.2") from None
