"""Agents by name, as users write them.

    always-fold  always-call  always-raise  random  rule-based      yardsticks
    runs/mine                                                       a folder with a blueprint, trained or in training
    runs/spot                                                       a folder with a solved spot: plays its subgame
    runs/mine?purify&translation=det-arith                          with options
    demo                                                            the blueprint that `riverboat demo` builds
    default                                                         the agent that comes with Riverboat (`DEFAULT_PLAYS`)
    mine.rules                                                      a text file of rules (`agents.rules`)
    module:Class                                                    a class of your own; options are its arguments
    switch:always-call,demo,deals=500                               one after the other (`agents.changing`)
    hedge:demo,always-raise                                         a choice among prepared ones, by what they would have won

Options of blueprints: `purify`, `threshold=0.15` or `new=0.2` (post-processing); `spare-first=yes` or `no` (whether the first
move of a hand is left as it is; yes with `new`); `translation=rand-pshar` and `tie=high` (how bets off the tree are read);
`abstraction=DIR` (where the card abstraction lies now). All agents that draw have `seed=0`.

`exploit=dbbr`, `rnr`, `dbr` or `preflop` lets a blueprint learn from hands and answer what it has seen: `agents.learning`;
`exploit=known&opponent=always-raise` answers an agent that is known.
With `search`, endgames are solved against the range of the model: `agents.endgame_learning`. `safe=20` risks no more than 20
mbb a hand and what was given: `agents.safe`. `notice=200` forgets what was before the opponent changed: `agents.changing`.

`search=preflop`, `flop`, `turn` or `river` lets a blueprint solve a hand from there on: `agents.search_options` has the rest.
`endgames=DIR` lets it play rivers by the nearest of a library of solved endgames: `riverboat endgames build DIR`.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import cast

from riverboat import own
from riverboat.abstraction.translation import Tie
from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.changing import HedgeAgent, NoticingLearner, SwitchingAgent
from riverboat.agents.endgame_learning import EndgameLearner
from riverboat.agents.learning import KNOWN, LEARN_OPTIONS, LearningAgent, known_answer, learn_settings
from riverboat.agents.rules import SUFFIX, RuleAgent
from riverboat.agents.safe import SafeLearner, SafeSearcher
from riverboat.agents.search_options import SEARCH_OPTIONS, search_settings
from riverboat.agents.searching import LibraryAgent, SearchingAgent
from riverboat.agents.solved_spot import SolutionAgent
from riverboat.agents.yardsticks import YARDSTICKS, Yardstick
from riverboat.artefact import MANIFEST
from riverboat.endgame.library_build import load_library
from riverboat.endgame.table_search import SearchSettings
from riverboat.errors import InputError, shown, unknown
from riverboat.exploit.changes import LEAST_WINDOW
from riverboat.kept import own_folder
from riverboat.strategy.blueprint import load_blueprint
from riverboat.strategy.files import holds_solution, load
from riverboat.strategy.played import DEFAULT_MAPPING, POST
from riverboat.strategy.solution import Solution

DEMO, DEFAULT = "demo", "default"
SHIPPED = Path(__file__).parent / "shipped" / DEFAULT
SHIPPED_LEDGER = SHIPPED.with_name("strength.jsonl")  # what has been measured of it
DEFAULT_PLAYS = {"translation": "det-pshar"}  # as it was measured; a name may say otherwise
SEVERAL = ("switch:", "hedge:")  # agents made of others
ENDGAMES = "endgames"
FOLDERS = ("abstraction", "memory", ENDGAMES)  # options that name one
PROGRAM = "acpc:"  # a program that speaks the protocol; a dealer seats it
_POST = tuple(name for name in POST if name != "none")
_OPTIONS = (
    *_POST,
    "spare-first",
    "translation",
    "tie",
    "abstraction",
    "seed",
    *SEARCH_OPTIONS,
    *LEARN_OPTIONS,
    "safe",
    "notice",
    ENDGAMES,
)
_CLASS = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")


def demo_folder() -> Path:
    """Where the blueprint of the demo lies: in the user's data folder. Earlier releases called it `default`."""
    home = own_folder("data")
    return home / DEFAULT if (home / DEFAULT).is_dir() and not (home / DEMO).is_dir() else home / DEMO


def default_folder() -> Path:
    """Where the agent lies that comes with Riverboat (`riverboat ship` made it); the demo's, in builds without one."""
    return SHIPPED if (SHIPPED / MANIFEST).is_file() else demo_folder()


def known_agents() -> str:
    """What an agent may be, in words."""
    names = ", ".join((*YARDSTICKS, DEMO, DEFAULT))
    folders = "a folder with a blueprint such as runs/mine?purify or a solved spot"
    return f"{names}, {folders}, a file of rules (mine.rules), or module:Class"


def names_agent(text: str) -> bool:
    """Whether a text can only mean an agent: a name, a folder with options, or a class. A folder alone is a strategy."""
    base, options, _ = text.partition("?")
    if text.startswith(SEVERAL):
        return True
    if base in (*YARDSTICKS, DEMO, DEFAULT) or base.endswith(SUFFIX):
        return True
    return bool(options) or _CLASS.fullmatch(base) is not None


def make_agent(text: str, seed: int = 0) -> Agent:
    """The agent that a text names. `seed` is for agents that draw, where the text has none."""
    if text.startswith(PROGRAM):
        raise InputError(
            f"agent {shown(text)}: a program that speaks the ACPC protocol needs a dealer: `riverboat acpc dealer` seats it"
        )
    base, _, tail = text.partition("?")
    options = _options(tail, text)
    if text.startswith(SEVERAL):
        return _several(text, seed)
    if not base:
        raise InputError(f"agent {shown(text)}: no name; an agent is {known_agents()}")
    if base in YARDSTICKS:
        _known(options, ("seed",), text)
        return Yardstick(base, _seed(options, seed, text))
    if base in (DEMO, DEFAULT):
        folder = demo_folder() if base == DEMO else default_folder()
        if not folder.is_dir():
            raise InputError(f"agent {shown(text)}: nothing at {folder} yet; `riverboat demo` builds it")
        return _blueprint(text, folder, options if base == DEMO else DEFAULT_PLAYS | options, seed)
    if base.endswith(SUFFIX):
        _known(options, ("seed",), text)
        return RuleAgent.read(base, text, _seed(options, seed, text))
    if Path(base).is_dir() and holds_solution(base):
        _known(options, ("seed",), text)
        solution = load(base)
        if not isinstance(solution, Solution):
            raise InputError(f"agent {shown(text)}: holds {solution!r}; of what is solved, spots alone can be played")
        return SolutionAgent(solution, text, _seed(options, seed, text))
    if Path(base).is_dir():
        return _blueprint(text, Path(base), options, seed)
    match = _CLASS.fullmatch(base)
    if match:
        return _custom(text, match["module"], match["name"], options)
    if "/" in base:
        raise InputError(f"agent {shown(text)}: no folder {shown(base)}; an agent is {known_agents()}")
    raise InputError(
        f"{unknown('agent', base, (*YARDSTICKS, DEMO, DEFAULT))}; it may also be a folder with a blueprint, or module:Class"
    )


def _several(text: str, seed: int) -> Agent:
    """`switch:A,B,deals=500` or `hedge:A,B,every=200`: agents that are made of others, without commas in their names."""
    kind, _, rest = text.partition(":")
    key = {"switch": "deals", "hedge": "every"}[kind]
    words = rest.split(",")
    given = [word for word in words if word.startswith(f"{key}=")]
    if len(given) > 1 or (given and not re.fullmatch(r"\d{1,9}", given[0].partition("=")[2], re.ASCII)):
        raise InputError(f"agent {shown(text)}: write {key}= once, with a whole number")
    number = int(given[0].partition("=")[2]) if given else 200
    try:
        parts = [make_agent(word, seed) for word in words if word not in given]
        return (
            SwitchingAgent(parts, number, text) if kind == "switch" else HedgeAgent(parts, number, name=text, seed=seed)
        )
    except InputError as error:
        raise InputError(f"agent {shown(text)}: {error}") from None


def _options(tail: str, text: str) -> dict[str, str]:
    """`purify&seed=3` as a table; an option without a value has an empty one."""
    options: dict[str, str] = {}
    for part in filter(None, tail.split("&")):
        key, _, value = part.partition("=")
        if key in options:
            raise InputError(f"agent {shown(text)}: {key} is given twice")
        options[key] = value
    return options


def _known(options: dict[str, str], keys: tuple[str, ...], text: str) -> None:
    for key in options:
        if key not in keys:
            raise InputError(f"agent {shown(text)}: {unknown('option', key, keys)}")


def _seed(options: dict[str, str], seed: int, text: str) -> int:
    if "seed" not in options:
        return seed
    if not re.fullmatch(r"\d+", options["seed"], re.ASCII):
        raise InputError(f"agent {shown(text)}: seed={shown(options['seed'])}: write a whole number")
    return int(options["seed"])


def _blueprint(text: str, folder: Path, options: dict[str, str], seed: int) -> Agent:
    _known(options, _OPTIONS, text)
    for key in FOLDERS:
        if options.get(key) == "":
            raise InputError(f"agent {shown(text)}: {key}= names no folder: write {key}=DIR")
    library = options.pop(ENDGAMES, None)
    settings, learns = search_settings(options, text), learn_settings(options, text)
    budget = _budget(options, text, learns is not None)
    if library is not None and (settings is not None or learns is not None):
        raise InputError(f"agent {shown(text)}: {ENDGAMES} and search or exploit: one of them")
    chosen = [name for name in _POST if name in options]
    if len(chosen) > 1:
        raise InputError(f"agent {shown(text)}: {' and '.join(chosen)}: one post-processing at a time")
    post = chosen[0] if chosen else "none"
    spare = options.get("spare-first")
    if spare not in (None, "", "yes", "no"):
        raise InputError(f"agent {shown(text)}: spare-first={shown(spare)}: write yes or no")
    agent = BlueprintAgent(
        load_blueprint(folder, options.get("abstraction")),
        name=text,
        translation=options.get("translation", DEFAULT_MAPPING),
        tie=cast("Tie", options.get("tie", "high")),
        post=post,
        share=_share(options.get(post, ""), post, text),
        spare_first=None if spare is None else spare != "no",
        seed=_seed(options, seed, text),
    )
    if learns is None and "notice" in options:
        raise InputError(f"agent {shown(text)}: notice is for agents that learn: add exploit=dbbr")
    if library is not None:
        return LibraryAgent(agent, SearchSettings("river"), library=load_library(library))
    if learns is not None and learns.method == KNOWN:
        agent, learns = known_answer(agent, make_agent(learns.opponent, seed), learns), None
    if learns is None:
        return agent if settings is None else SearchingAgent(agent, settings)
    window = _window(options, text, alone=settings is None and budget is None)
    if window is not None:
        return NoticingLearner(lambda: LearningAgent(agent, learns), window)
    if settings is None:
        learner = LearningAgent(agent, learns)
        return learner if budget is None else SafeLearner(learner, budget)
    if budget is None:
        return EndgameLearner(LearningAgent(agent, learns), settings)
    return SafeSearcher(agent, settings, budget, learns.every)


def _window(options: dict[str, str], text: str, *, alone: bool) -> int | None:
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


def _budget(options: dict[str, str], text: str, learns: bool) -> float | None:
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


def _custom(text: str, module: str, name: str, options: dict[str, str]) -> Agent:
    """An agent of the user's own, from a module that may lie in the current folder."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        home = own.find("agent", text, module)
    finally:
        sys.path.remove(here)
    if not hasattr(home, name):
        there = [key for key, value in vars(home).items() if inspect.isclass(value) and hasattr(value, "act")]
        known = unknown("class", name, there) if there else f"no class {shown(name)}, and no other that acts,"
        raise InputError(f"agent {shown(text)}: {known} in {module}")
    with own.told("agent", text, f"{name} cannot be made"):
        agent = getattr(home, name)(**options)
    missing = [what for what in ("name", "check_rules", "act") if not hasattr(agent, what)]
    if missing:
        raise InputError(f"agent {shown(text)}: has no {missing[0]}; see riverboat.agents.base.Agent")
    return cast("Agent", agent)
