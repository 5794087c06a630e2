"""Commands that measure and explain agents and strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from riverboat.cli.command import command
from riverboat.cli.options import MAX_SEED, AgentArgument, JsonOption, SolvedGameOption
from riverboat.cli.progress import DeferredProgressBar, ProgressBar
from riverboat.cli.terminal import emit


@command("riverboat.api.evaluate:lbr")
def lbr(agent: AgentArgument, json: JsonOption = False, **options: Any) -> None:
    """Compute a local best response to an agent: a lower bound on its exploitability."""
    from riverboat.api import evaluate
    from riverboat.cli.evaluation import print_lbr

    with ProgressBar(f"local best response to {agent}") as progress:
        result = evaluate.lbr(agent, **options, progress=progress)
    emit(result.to_dict()) if json else print_lbr(agent, result)


@command("riverboat.api.evaluate:litmus")
def litmus(agent: AgentArgument, json: JsonOption = False, **options: Any) -> None:
    """Run checks of poker sense: aces, the nuts, pot odds, bet sizes."""
    from riverboat.api import evaluate
    from riverboat.cli.evaluation import print_litmus

    with ProgressBar(f"litmus of {agent}") as progress:
        result = evaluate.litmus(agent, **options, progress=progress)
    emit(result.to_dict()) if json else print_litmus(result)
    if not result.passes:
        raise typer.Exit(1)


@command("riverboat.api.evaluate:exploitability", skip=("strategy",))
def exploitability(
    folder: Annotated[Path, typer.Argument(help="Folder of a run or a strategy, or an agent.")],
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Measure the exploitability of a strategy: exactly, or a lower bound and the cost of the exact value."""
    from riverboat.api import evaluate
    from riverboat.cli.device_notes import report_cpu_fallback
    from riverboat.cli.evaluation import StageProgressLine, print_exploitability
    from riverboat.cli.solve.multiplayer import print_multiplayer_exploitability

    report_cpu_fallback(options.get("device", ""))
    with DeferredProgressBar("buckets of all hands, once") as preparing, StageProgressLine() as progress:
        result = evaluate.exploitability(folder, **options, preparing=preparing, progress=progress)
    if result.is_multiplayer and result.quality is not None:
        print_multiplayer_exploitability(result.game, result.quality, json)
    elif json:
        emit(result.to_dict())
    else:
        print_exploitability(result, options.get("threads", 1))


@command("riverboat.api.evaluate:cost")
def cost(agent: AgentArgument, json: JsonOption = False, **options: Any) -> None:
    """Measure what an agent costs: core-hours, megabytes, seconds to load and per decision."""
    from riverboat.api import evaluate
    from riverboat.cli.evaluation import print_cost

    with ProgressBar(f"{agent} plays") as bar:
        measured = evaluate.cost(agent, **options, progress=lambda done, count: bar(done / count))
    emit(measured.to_dict()) if json else print_cost(agent, measured)


# --- Explanations ---


def explain(
    folder: Annotated[Path, typer.Argument(help="Folder of a run, a strategy or many solved boards; or an agent.")],
    line: Annotated[str | None, typer.Argument(help="One decision, such as b94 or cr; root for the first one.")] = None,
    rules: Annotated[int, typer.Option(min=1, max=300, help="Maximum number of rules.")] = 10,
    method: Annotated[str, typer.Option(help="list, tree, or auto (the better one on held-out decisions).")] = "auto",
    player: Annotated[int | None, typer.Option(min=0, max=9, help="Small games: one player; all by default.")] = None,
    list_file: Annotated[Path | None, typer.Option("--list", help="Evaluate the rules of a text file instead.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the rules to a text file that can be edited.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot fidelity and cost by the number of rules.")] = None,
    hand: Annotated[str | None, typer.Option(help="Spots: explain the strategy of one hand, AhKh.")] = None,
    against: Annotated[Path | None, typer.Option(help="Compare with another folder or agent.")] = None,
    against_line: Annotated[str | None, typer.Option(help="Line in the other strategy, if it differs.")] = None,
    board: Annotated[str | None, typer.Option(help="Agents with a line: the board, 8c8d5c.")] = None,
    boards: Annotated[
        str | None, typer.Option(help="Agents with a line: many boards: a file, all flops, sample:25.")
    ] = None,
    hands: Annotated[int, typer.Option(min=100, max=100_000, help="Agents: hands of self-play.")] = 1_000,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Seed of these hands and of the held-out decisions.")
    ] = 0,
    game: SolvedGameOption = None,
    json: JsonOption = False,
) -> None:
    """Approximate a strategy by rules that a person can learn, and measure what following them costs."""
    from riverboat.cli.explain import run_explain

    run_explain(
        folder, line, rules=rules, method=method, player=player, rule_file=list_file, out=out, plot=plot, hand=hand,
        against=against, against_line=against_line, board=board, boards=boards, hands=hands, seed=seed, game=game,
        json=json,
    )  # fmt: skip


COMMANDS = (exploitability, lbr, litmus, cost, explain)
