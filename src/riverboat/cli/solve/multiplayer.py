"""Output for games without a certified value: values of all players, gains of unilateral deviations, and team-maxmin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from riverboat.api import general_sum
from riverboat.api.solve import TeamValues, team_values
from riverboat.cli.progress import StageDisplay
from riverboat.cli.terminal import figure, make_table, print_result, prose, say
from riverboat.core.claims import to_dicts
from riverboat.core.tables import ReportTable

if TYPE_CHECKING:
    from riverboat.evaluation.quality import StrategyQuality
    from riverboat.solvers.result import Result


def _player_table(values: tuple[float, ...], gains: tuple[float, ...]) -> ReportTable:
    players = enumerate(zip(values, gains, strict=True))
    rows = [(str(p), f"{value:.9f}", f"{value + gain:.9f}", f"{gain:.3e}") for p, (value, gain) in players]
    return make_table(["player", figure("value"), figure("best response", 2), figure("gain")], rows)


def multiplayer_parts(results: list[Result]) -> Iterator[Any]:
    """Yield results as tables."""
    first = results[0]
    players = len(first.values)
    yield f"{first.game}: {players} players, {first.infosets:,} information sets; values in {first.unit}"
    for r in results:
        method = f"{r.schedule}" + (f" {r.traversal}" if r.traversal != "full" else "")
        gain = f"{r.exploitability:.3e}"
        measure = f"ε {gain}, the largest gain by deviating alone" if players > 2 else f"exploitability {gain}"
        yield f"{method}, {r.iterations:,} iterations, {r.seconds:.2f} s: {measure}; NashConv {r.nash_conv:.3e}"
        yield _player_table(r.values, r.gains)
    yield f"guarantee {first.guarantee}"
    yield "other methods: riverboat games --methods"


def print_multiplayer_exploitability(name: str, quality: StrategyQuality, json: bool) -> None:
    """Print the gain of each player who deviates alone."""
    players = len(quality.values)
    facts: dict[str, Any] = {
        "game": name, "players": players, "exploitability": quality.exploitability,
        "nash_conv": quality.nash_conv, "values": quality.values, "best_responses": quality.best, "gains": quality.gains,
        "unit": quality.unit, "exploitability_is": quality.kind + (": the largest gain of a player" if players > 2 else ""),
        "claims": to_dicts(quality.claims),
    }  # fmt: skip
    figure = f"{quality.exploitability:.9g} {quality.unit} ({quality.kind})"
    measure = (
        f"ε {figure}, the largest gain of a player who deviates alone" if players > 2 else f"exploitability {figure}"
    )
    summary = f"{name}: {players} players; {measure}; NashConv {quality.nash_conv:.9g}"
    print_result(facts, [summary, _player_table(quality.values, quality.gains)], json)


def team(game: str, *, json: bool = False, **options: Any) -> None:
    """Compute team-maxmin values against each player, with and without correlation.

    Parameters
    ----------
    game
        A small game of three players or more, such as kuhn:players=3.
    """
    with StageDisplay() as display:
        solved = team_values(game, observer=display, **options)
    print_result(solved, _team_parts(solved), json)


def _team_parts(solved: TeamValues) -> Iterator[Any]:
    rows = []
    for each in solved.teams:
        mean, (low, high) = sum(each.correlated) / 2, each.uncorrelated
        rows.append(
            (str(each.adversary), f"{mean:.9f}", str(each.plans), f"{low:.9f}", f"{high:.9f}", f"{each.seconds:.1f}")
        )
    columns = "against player", figure("with correlation"), figure("plans", 2), figure("without, lower bound")
    yield f"{solved.game}: value of each player against a team of all others, in {solved.unit}"
    yield make_table([*columns, figure("upper bound"), figure("seconds", 3)], rows)
    yield (
        "with correlation: the team samples a joint plan in secret; without: members randomize independently, and the "
        "value is between the proved bound and the value of the best profile found"
    )


def correlated(game: str, *, json: bool = False, **options: Any) -> bool:
    """Compute a correlated equilibrium of a small game of any number of players, with its certificate.

    Parameters
    ----------
    game
        A small game, such as kuhn:players=3 or a .nfg file.
    """
    with StageDisplay() as display:
        result = general_sum.correlated(game, observer=display, **options)
    print_result(result, _correlated_parts(result), json)
    if not result.reached:
        say(f"{result.game}: the target was not reached: ε {result.epsilon:.4g} {result.unit}")
    return result.reached


def _correlated_parts(result: general_sum.CorrelatedResult) -> Iterator[Any]:
    how = result.method if result.schedule is None else f"{result.schedule}, {result.iterations:,} iterations"
    yield f"{result.game}: {len(result.values)} players; values in {result.unit}"
    yield f"{how}, {result.seconds:.2f} s: ε {result.epsilon:.3e}, the largest gain by ignoring the mediator"
    columns: list[Any] = ["player", figure("value"), figure("gain")]
    parts: list[Sequence[str]] = [
        [str(player) for player in range(len(result.values))],
        [f"{value:.9f}" for value in result.values],
        [f"{gain:.3e}" for gain in result.gains],
    ]
    for name, gains in (("gain of a trigger", result.trigger_gains), ("gain of swaps", result.swap_gains)):
        if gains is not None:
            columns.append(figure(name, 1))
            parts.append([f"{gain:.3e}" for gain in gains])
    if result.trigger_infosets is not None:
        columns.append(prose("trigger", 2))
        parts.append([name or "" for name in result.trigger_infosets])
    yield make_table(columns, list(zip(*parts, strict=True)))
    yield "gains are exact: of the best deviation from this correlated play; a negative one is a loss"


def methods_table() -> ReportTable:
    """Return the table of methods for more than two players and for general sums."""
    rows = [(m.name, m.command, m.function, m.games, m.guarantee, m.limit) for m in general_sum.OFFERED]
    columns: list[Any] = ["method", "command", *map(prose, ("Python", "games", "guarantee", "limit"))]
    return make_table(columns, rows)
