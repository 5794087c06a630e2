"""Measures of strategies and agents: exploitability, local best responses, cost, and litmus checks.

exploitability("runs/mine").to_dict()["exploitability"]
lbr("default", hands=4_000).response.claim
litmus("default").report.num_failed
"""

from __future__ import annotations

import json
import math
import time as clock
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from riverboat.agents.registry import make_agent
from riverboat.api.agent import rules_for
from riverboat.api.artifacts import describe, load_policy, load_solved
from riverboat.api.options import MAX_COUNT, Duration, Flag, Limits, PositiveCount, Seed, Threads, parse_seconds
from riverboat.core import files
from riverboat.core.claims import EXACT, LOWER, to_dicts
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.core.files import folder_lock
from riverboat.core.schema import FileEntries
from riverboat.engines.devices import resolve_device
from riverboat.evaluation.best_response.exact import BestResponseCost, BestResponseExecution, estimate_cost
from riverboat.evaluation.best_response.lower_bound import LowerBound, abstract_lower_bound, lower_bound
from riverboat.evaluation.cost import AgentCost, measure_cost
from riverboat.evaluation.identity import describe_result
from riverboat.evaluation.ledger import read_result
from riverboat.evaluation.litmus import LitmusReport, merge_checks, read_checks, run_litmus, shipped_checks
from riverboat.evaluation.local_best_response import (
    SETTINGS,
    LbrSums,
    LbrWorkers,
    LocalBestResponseResult,
    limit_trajectories,
    local_best_response,
)
from riverboat.evaluation.quality import StrategyQuality, full_action_tree, quality
from riverboat.games.holdem.rules import PokerRules
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.strategies.blueprint import Blueprint, load_blueprint
from riverboat.strategies.files import check_unused
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.strategies.public_strategy import PublicPolicy
from riverboat.strategies.queries import Queryable
from riverboat.strategies.tabular import Strategy

DEFAULT_HANDS = 4_000  # hands of a local best response
DEFAULT_SECONDS = 600.0  # longest exact value of a blueprint by default
HANDS_PER_BOARD = 8_000  # hands that evaluate the abstract game's response, per board that it was fitted on
MAX_ABSTRACT_SECONDS = 60.0  # longest exact traversal for which the abstract game is measured exactly too
LBR_FILE = "lbr.json"  # result so far of a local best response, in its folder
LBR_UNITS = {
    "mbb_per_game": "mbb/g, what the local best response wins: a lower bound on exploitability, up to its interval",
    "ci95": "mbb/g, half the width of the 95 % interval over deals",
    "by_seat": "mbb/g, with the responder in seat 0 and in seat 1",
    "raw": "mbb/g, the same deals without control variates",
    "factor": "variance without control variates over the variance with them",
    "sums": "chips per hand over deals, sum and sum of squares",
}
StageProgress: TypeAlias = Callable[[str, int, int], None]  # name of the stage, completed parts and their number


# --- Exploitability ---


@dataclass(frozen=True, eq=False)
class ExploitabilityResult:
    """Exploitability of a strategy: its exact value, or a lower bound and the cost of the exact value.

    Attributes
    ----------
    game
        Name of the game.
    quality
        Best-response values; None if only a bound was computed.
    bound
        Lower bound of a blueprint; None if the value is exact.
    details
        Further JSON fields: the abstract game, cost, and identity of the strategy.
    is_multiplayer
        Whether a small game has more than two players, or payoffs that do not sum to a constant.

    Examples
    --------
    >>> exploitability("always-fold", game="kuhn").quality.claims[0].value
    1000.0
    """

    game: str
    quality: StrategyQuality | None
    bound: LowerBound | None
    details: Mapping[str, Any]
    is_multiplayer: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as a JSON object."""

        if self.bound is not None:
            bound = self.bound
            facts: dict[str, Any] = {
                "game": self.game, "mbb_per_game": bound.mbb_per_game, "ci95": bound.ci95, "is": "bound",
                "side": "lower", "seats": [1000 * won / bound.big_blind for won in bound.by_seat],
                "boards": bound.boards, "fitted": bound.fitting_boards, "seed": bound.seed,
                "seconds": round(bound.seconds, 3), "unit": "mbb/g", "exploitability": bound.mbb_per_game,
                "exploitability_is": LOWER, "claims": [bound.claim.to_dict()],
            }  # fmt: skip
            return facts | dict(self.details)
        assert self.quality is not None
        quality, claim = self.quality, self.quality.claims[0]
        ends = quality.interval or (-math.inf, math.inf)
        low, high = (None if math.isinf(end) else quality.scale * end for end in ends)
        value = quality.scale * quality.values[0]
        facts = {
            "game": self.game,
            "exploitability": claim.value,
            "nash_conv": quality.scale * quality.nash_conv,
            "value": None if math.isnan(value) else value,
            "value_low": low,
            "value_high": high,
            "unit": claim.unit,
            "exploitability_is": claim.kind,
            "claims": to_dicts(quality.claims),
        }
        return facts | ({"exact": quality.exact_in} if quality.exact_in else {}) | dict(self.details)


def exploitability(
    strategy: str | Path,
    *,
    exact: bool = False,
    bound: bool = False,
    time: Duration = DEFAULT_SECONDS,
    boards: Annotated[int, Limits(2, MAX_COUNT)] = 10_000,
    seed: Seed = 0,
    threads: Threads = 1,
    out: str | Path | None = None,
    resume: bool = False,
    cluster: str | None = None,
    device: str = "cpu",
    game: str | None = None,
    preparing: Callable[[float], None] | None = None,
    progress: StageProgress | None = None,
) -> ExploitabilityResult:
    """Measure the exploitability of a strategy: exactly, or a lower bound and the cost of the exact value.

    Parameters
    ----------
    strategy
        Folder of a run or a strategy, or an agent.
    exact
        Blueprints: the exact value, however long it takes.
    bound
        Blueprints: a lower bound on sampled boards.
    time
        Blueprints: compute the exact value if it takes no longer than this.
    boards
        Bound: boards on which the response is evaluated.
    seed
        Bound: seed of the boards.
    threads
        Threads of the traversal.
    out
        Blueprints: save parts of the exact computation in this folder.
    resume
        Continue with the parts in the folder.
    cluster
        Compute parts on a Ray cluster: local, auto, an address.
    device
        Hold'em, blueprints: cpu, cuda, or auto (a GPU if there is one).
    game
        The game that was solved, if it was module:object; or the game of an agent.
    preparing
        Callback with the completed fraction of the buckets of all hands, which are computed once.
    progress
        Callback with the name of the stage, completed parts and their number.

    Returns
    -------
    ExploitabilityResult
        The value or bound, with claims.

    Raises
    ------
    InputError
        If there is no such strategy, or options contradict each other.

    Examples
    --------
    >>> result = exploitability("always-fold", game="kuhn")
    >>> result.to_dict()["exploitability_is"]
    'exact'
    """

    if exact and bound:
        raise InputError("exact and bound=…: give only one of them")
    if resume and out is None:
        raise InputError("resume: name the folder of the parts with out=…")
    if bound and (out is not None or cluster is not None):
        raise InputError("out and cluster=… are for the exact value, not for bound=…")
    if cluster is not None and device != "cpu":
        raise InputError("cluster and device=…: give only one of them")
    seconds = parse_seconds(time)
    subject, rules, name, identity = _load_subject(strategy, game)
    if not isinstance(subject, Blueprint) and (
        exact or bound or resume or (seconds, boards, seed, out, cluster) != (DEFAULT_SECONDS, 10_000, 0, None, None)
    ):
        raise InputError(f"{strategy}: exact, bound, time, boards, seed, out and cluster are for blueprints")
    report = progress or (lambda stage, done, count: None)
    details: dict[str, Any] = {}
    if isinstance(subject, Blueprint):
        subject = subject.with_labels(threads, preparing)
        cost = estimate_cost(subject.tree)
        exact_seconds = cost.seconds_on(resolve_device(device), threads)
        if bound or not (exact or out is not None or cluster is not None or exact_seconds <= seconds):
            report("a lower bound", 0, 1)
            show = partial(report, "a lower bound")
            found = lower_bound(subject, boards, seed=seed, threads=threads, progress=show)
            details = {
                "exact_seconds": round(exact_seconds, 3),
                "exact_boards": sum(cost.boards),
                **_abstract_exploitability(subject, cost, boards, seed, threads, report),
                **describe_result("exploitability", subject.rules, identity),
            }
            return ExploitabilityResult(subject.rules.name, None, found, details)
        started = clock.monotonic()
    report("best responses", 0, 1)
    folder, show = None if out is None else Path(out), partial(report, "best responses")
    execution = BestResponseExecution(folder=folder, resume=resume, cluster=cluster, progress=show)
    with folder_lock(folder):
        minutes = math.inf if isinstance(subject, Blueprint) else 10.0
        measured = quality(subject, threads, rules=rules, most_minutes=minutes, means=execution, device=device)
    if isinstance(subject, Blueprint):
        details = {
            "mbb_per_game": measured.claims[0].value,
            "is": EXACT,
            "seconds": round(clock.monotonic() - started, 3),
            "boards": sum(cost.boards),
            **_abstract_exploitability(subject, cost, boards, seed, threads, report),
            **describe_result("exploitability", subject.rules, identity),
        }
    elif rules is not None:
        details = {"mbb_per_game": measured.claims[0].value, "is": EXACT}
        details |= describe_result("exploitability", rules, identity)
        if measured.half_widths:
            details |= {"ci95": measured.claims[0].half_width, "is": "bound", "side": "lower"}
    return ExploitabilityResult(name, measured, None, details, isinstance(subject, Strategy) and measured.total is None)


def _load_subject(source: str | Path, game: str | None) -> tuple[Queryable, PokerRules | None, str, Any]:
    """Load the strategy whose exploitability is measured.

    Returns the strategy, the rules if it is measured as an agent (else None), the name of the game, and the agent or
    strategy whose identity is recorded.
    """

    kind = describe(source).type
    if kind == "agent":
        agent, rules = load_policy(str(source), game)
        policy = getattr(agent, "policy", None)
        if isinstance(policy, BlueprintPolicy) and full_action_tree(rules) is None:
            return policy.tree_strategy(), None, rules.name, agent  # a blueprint with its post-processing
        return agent, rules, rules.name, agent
    if kind == "blueprint":
        strategy = load_blueprint(source)
        return strategy, None, strategy.rules.name, strategy
    solution = load_solved(source, game)
    return solution, None, solution.tree.name, solution


def _abstract_exploitability(
    strategy: Blueprint, cost: BestResponseCost, boards: int, seed: int, threads: int, report: StageProgress
) -> dict[str, Any]:
    """Measure exploitability in the abstract game.

    The value is exact if the abstract game is small and has perfect recall; otherwise that of a fitted response.
    """

    if cost.seconds <= MAX_ABSTRACT_SECONDS:
        try:
            won = 1000 * abstract_quality(strategy).exploitability / strategy.rules.big_blind
        except InputError:
            pass
        else:
            return {"abstract_mbb_per_game": won, "abstract_is": EXACT}
    if strategy.rules.rounds < 2 or not any(strategy.rules.board):
        return {"abstract_mbb_per_game": None, "abstract_is": None}
    stage, count = "a response of the abstract game", max(2, boards // 20)
    report(stage, 0, 1)
    hands, show = HANDS_PER_BOARD * count, partial(report, stage)
    bound = abstract_lower_bound(strategy, count, hands=hands, seed=seed, threads=threads, progress=show)
    return {"abstract_mbb_per_game": bound.mbb_per_game, "abstract_ci95": bound.ci95, "abstract_is": "bound"}


# --- Local best response ---


@dataclass(frozen=True, eq=False)
class LbrResult:
    """Value of a local best response to an agent, with the identity of the measurement.

    Attributes
    ----------
    response
        Winnings of the local best response.
    rules
        The game.
    identity
        Fingerprints of rules and agent, and the release.

    Examples
    --------
    >>> lbr("always-fold", hands=64, game="leduc").response.actions
    'fcpa'
    """

    response: LocalBestResponseResult
    rules: PokerRules
    identity: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as a JSON object, as ledgers read it."""
        response = self.response
        return {
            **response.record(),
            "agent": response.agent,
            "game": self.rules.name,
            "unit": "mbb/g",
            "units": LBR_UNITS,
            "claims": [response.claim.to_dict()],
            "seconds": round(response.seconds, 3),
            "hands_per_second": round(response.hands_per_second, 1),
            **self.identity,
        }


def lbr(
    agent: str,
    *,
    setting: str | None = None,
    actions: str | None = None,
    start: Annotated[str | None, Flag("--from")] = None,
    hands: PositiveCount | None = None,
    time: Duration | None = None,
    seed: Seed = 0,
    walkers: Annotated[int, Limits(1, 10_000)] = 32,
    threads: Threads = 1,
    workers: Threads = 1,
    out: str | Path | None = None,
    resume: bool = False,
    game: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> LbrResult:
    """Compute a local best response to an agent: a lower bound on its exploitability.

    Parameters
    ----------
    agent
        Name of the agent.
    setting
        Column of the published tables: fold-call, pot-turn, 56-turn or 56-flop.
    actions
        Actions of the responder: fc, fcpa (pot and all-in; the default), or 56 sizes; 56,fc: by street.
    start
        First street with all actions (preflop, flop, turn or river); before it LBR only calls.
    hands
        Hands to play, 4,000 by default.
    time
        Play hands for 90s, 10m instead; a number is seconds.
    seed
        Seed of the cards and of the agent's random choices.
    walkers
        Hands per deal and seat in a batch; fewer for slow agents.
    threads
        Threads over deals; they share the agent.
    workers
        Processes over deals; each loads the agent.
    out
        Folder for the result so far, lbr.json, written every 20 s.
    resume
        Go on after the deals in the folder.
    game
        A game or .game file; by default the agent's game.
    progress
        Callback with the completed fraction.

    Returns
    -------
    LbrResult
        Winnings with their confidence interval.

    Raises
    ------
    InputError
        If the agent does not give its strategy for all hands, or both hands and time are given.

    Notes
    -----
    Lisý and Bowling, "Equilibrium approximation quality of current no-limit poker bots" (2017).

    Examples
    --------
    >>> lbr("always-fold", hands=64, game="leduc").rules.name
    'leduc'
    """

    if hands is not None and time is not None:
        raise InputError(f"hands {hands} and time=…: give one of the two")
    if resume and out is None:
        raise InputError("resume: name the folder of the run with out=…")
    actions, start = _lbr_actions(setting, actions, start)
    hands = DEFAULT_HANDS if hands is None and time is None else hands
    trajectories = limit_trajectories(walkers, hands)
    policy, rules = load_policy(agent, game, seed)
    identity = describe_result("lbr", rules, policy)
    path = None if out is None else Path(out) / LBR_FILE
    with folder_lock(out), _make_lbr_workers(agent, seed, workers) as pool:
        sums, seconds_before = LbrSums(), 0.0
        if path is not None:
            wanted = {"actions": actions, "from": start, "seed": seed, "trajectories": trajectories, **identity}
            sums, seconds_before = _read_lbr_run(path, wanted, resume=resume)

        def save(response: LocalBestResponseResult) -> None:
            if path is not None:
                result = LbrResult(response, rules, identity).to_dict() | {"trajectories": trajectories}
                files.write_text(path, json.dumps(result, indent=1) + "\n")

        response = local_best_response(
            policy,
            rules,
            actions=actions,
            start=start,
            hands=hands,
            seconds=None if time is None else parse_seconds(time),
            seed=seed,
            trajectories=trajectories,
            threads=threads,
            workers=pool,
            sums=sums,
            seconds_before=seconds_before,
            checkpoint=save,
            progress=progress,
        )
    return LbrResult(response, rules, identity)


def _lbr_actions(setting: str | None, actions: str | None, start: str | None) -> tuple[str, str]:
    """Return the actions of the responder and its first street, from the name of a setting or from themselves."""
    if setting is None:
        return "fcpa" if actions is None else actions, "preflop" if start is None else start
    if actions is not None or start is not None:
        raise InputError(f"setting {setting!r} has actions and first street: give it alone, or actions and from")
    if setting not in SETTINGS:
        raise unknown_name_error("setting", setting, SETTINGS)
    return SETTINGS[setting]


def _make_lbr_workers(agent: str, seed: int, count: int) -> AbstractContextManager[LbrWorkers | None]:
    """Create the worker processes of a local best response; a null context with one worker."""
    return nullcontext() if count == 1 else LbrWorkers(partial(_make_policy, agent, seed), count)


def _make_policy(agent: str, seed: int) -> PublicPolicy:
    return load_policy(agent, None, seed)[0]


def _read_lbr_run(path: Path, wanted: Mapping[str, Any], *, resume: bool) -> tuple[LbrSums, float]:
    """Return the sums and the seconds of a stored run, or none if there is none; it must be of the same measurement."""
    if not path.exists():
        check_unused(path.parent)
        return LbrSums(), 0.0
    if not resume:
        raise InputError(f"{path}: exists; go on with resume=True (--resume), or choose another folder")
    entries = FileEntries(str(path), read_result(path))
    for key, value in json.loads(json.dumps(wanted)).items():
        if entries[key] != value:
            raise InputError(
                f"{path}: its {key} is {short_repr(entries[key])}, not {short_repr(value)}; choose another folder"
            )
    return LbrSums.from_dict(entries.table("sums")), entries.number("seconds", 0)


# --- Cost ---


def cost(
    agent: str,
    *,
    hands: Annotated[int, Limits(4, MAX_COUNT)] = 400,
    seed: Seed = 0,
    game: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AgentCost:
    """Measure what an agent costs: core-hours, megabytes, seconds to load and per decision.

    Parameters
    ----------
    agent
        Name of the agent.
    hands
        Hands to play, an even number.
    seed
        Seed of the cards and of the agent's random choices.
    game
        A game or .game file; by default the agent's game.
    progress
        Callback with the number of completed hands and the total.

    Returns
    -------
    AgentCost
        Times and sizes.

    Raises
    ------
    InputError
        If the number of hands is odd or below four.

    Examples
    --------
    >>> cost("always-call", hands=4).hands
    4
    """

    return measure_cost(
        lambda: make_agent(agent, seed), lambda made: rules_for([made], game), hands, seed=seed, progress=progress
    )


# --- Litmus checks ---


@dataclass(frozen=True, eq=False)
class LitmusResult:
    """Results of the checks of poker sense.

    Attributes
    ----------
    agent
        Name of the agent.
    game
        Name of the game.
    report
        Verdict and failures of each check.

    Examples
    --------
    >>> litmus("always-fold").passes
    False
    """

    agent: str
    game: str
    report: LitmusReport

    @property
    def passes(self) -> bool:
        """Whether no check failed."""
        return not self.report.num_failed

    def to_dict(self) -> dict[str, Any]:
        """Return the verdicts as a JSON object."""
        report = self.report
        return {
            "agent": self.agent,
            "game": self.game,
            "checks": report.num_checks,
            "failed": report.num_failed,
            "skipped": sum(bool(verdict.skipped) for verdict in report.results),
            "failures": [failure.record() for failure in report.failures],
            "verdicts": {verdict.check.name: verdict.status for verdict in report.results},
            "units": {"probabilities": "of fold, of check or call, and of all raises"},
        }


def litmus(
    agent: str,
    *,
    checks: str | Path | None = None,
    seed: Seed = 0,
    game: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> LitmusResult:
    """Run checks of poker sense: aces, the nuts, pot odds, bet sizes.

    Parameters
    ----------
    agent
        Name of the agent.
    checks
        A .toml file with additional checks.
    seed
        Seed of the agent's random choices.
    game
        A game or .game file; by default the agent's game.
    progress
        Callback with the completed fraction.

    Returns
    -------
    LitmusResult
        Verdicts and failures.

    Raises
    ------
    InputError
        If the file is invalid, or the agent does not give its strategy for all hands.

    Examples
    --------
    >>> litmus("always-fold").report.num_failed > 0
    True
    """

    chosen = shipped_checks() if checks is None else merge_checks(shipped_checks(), read_checks(Path(checks)))
    policy, rules = load_policy(agent, game, seed)
    return LitmusResult(agent, rules.name, run_litmus(policy, rules, chosen, progress=progress))
