"""`riverboat train`: a blueprint from a recipe, its size told before anything is allocated."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from riverboat.api.train import LOSSLESS, Trained, TrainOptions, cards_of, check_memory, counts_of, train_with
from riverboat.cli import abstract, device_notes, signals
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import duration, emit, plain_console, say
from riverboat.core.cache import own_folder
from riverboat.core.errors import InputError
from riverboat.core.formatting import quote, show_seconds
from riverboat.core.tables import PROSE, Column, ReportTable
from riverboat.engines.devices import CPU, choose
from riverboat.games.holdem.tree_sizes import Counts
from riverboat.solvers.mccfr.recipe import TrainRecipe, load_train_recipe, presets
from riverboat.solvers.mccfr.sizing import SHARE, size_for
from riverboat.solvers.mccfr.training import Progress
from riverboat.strategies.blueprint import CARDS, load_blueprint
from riverboat.strategies.files import CHECKPOINT

SIZED = "default"  # the recipe whose size is taken from the time
RATE = 1e7  # visits a second and thread; tables of 6.6 GB on 16 cores had 1.2e7 on each


@dataclass(frozen=True)
class Options:
    """What the command line says, beside how to train."""

    out: Path | None = None
    estimate: bool = False
    plot: Path | None = None
    json: bool = False
    cards: str | None = None  # of an estimate, in place of the recipe's


def listing(json: bool) -> None:
    """The recipes that come with Riverboat."""
    recipes = {name: load_train_recipe(name) for name in presets()}
    if json:
        facts = {
            name: {"about": r.about, "worth": r.worth, "cards": r.abstraction, "time": r.time}
            for name, r in recipes.items()
        }
        emit({"presets": facts})
        return
    columns = Column("recipe"), Column("cards"), Column("time"), Column("what it is, and what it is worth", PROSE)
    rows = [(name, r.abstraction, r.time or "", f"{r.about}. Worth: {r.worth}") for name, r in recipes.items()]
    plain_console().print(ReportTable("", columns, tuple(rows)))
    say("riverboat train RECIPE --estimate tells nodes, information sets and memory")


def train(source: str, how: TrainOptions, options: Options) -> None:
    """Train a blueprint in a folder."""
    recipe = load_train_recipe(source)
    if choose(how.device) != CPU:
        recipe.check_device()
    cards = None
    if how.abstraction is not None or recipe.abstraction == LOSSLESS:
        cards, _ = cards_of(recipe, how.abstraction)
    recipe = recipe if options.cards is None else replace(recipe, abstraction=options.cards)
    counts = counts_of(recipe, cards)
    planned = {"recipe": recipe.name, "about": recipe.about, **_sizes(counts), **_hours(recipe, counts, how)}
    if options.estimate:
        _tell(planned, counts, options.json, plain_console())
        return
    if cards is None:
        cards_of(recipe, None)  # says how to make them
    if options.out is None:
        raise InputError("no --out: say in which folder the run shall live, or give --estimate")
    if not options.json:
        _tell(planned, counts, False, plain_console(stderr=True))
    check_memory(recipe, counts)
    device_notes.tell(how.device)
    display = _Display(recipe.name)
    with signals.noted() as interrupted:
        try:
            trained = train_with(recipe, options.out, how, display, lambda: interrupted() is not None)
        finally:
            display.done()
        stopped = interrupted()
    if options.plot is not None and stopped is None:
        _plot(options.out, options.plot)
    _report(trained, recipe, options)
    if stopped is not None:
        say(f"interrupted; go on with --out {quote(options.out)} --resume")
        raise stopped


def train_sized(how: TrainOptions, options: Options) -> None:
    """Train for as long as is said, with as many buckets as that can fill; cards are made where they are not there yet."""
    if how.time is None or how.abstraction is not None:
        raise InputError("train: name a recipe, or give --time alone: the number of buckets is then taken from it")
    if how.resume and options.out is not None and any(options.out.glob(f"{CHECKPOINT}*")):
        _go_on(how, options, options.out, how.time)
        return
    size = size_for(how.time, how.threads, device=choose(how.device) != CPU)
    say(f"{size.cards} cards: {size.measured}")
    if options.estimate:
        train(SIZED, replace(how, abstraction=None), replace(options, cards=size.cards))
        return
    if options.out is None:
        raise InputError("no --out: say in which folder the run shall live, or give --estimate")
    coarse = _beside(options.out)
    begin, time = how.begin, how.time
    if size.begins is not None and begin is None:
        time = (1 - SHARE) * how.time  # the size before has the rest
        first = replace(how, abstraction=_made(size.begins, how), time=SHARE * how.time, check_seconds=how.time)
        train(SIZED, replace(first, resume=coarse.is_dir()), replace(options, out=coarse, plot=None, json=False))
        begin = coarse
    train(SIZED, replace(how, abstraction=_made(size.cards, how), begin=begin, time=time), options)
    shutil.rmtree(coarse, ignore_errors=True)


def _go_on(how: TrainOptions, options: Options, out: Path, time: float) -> None:
    """With the cards that a run has, also where a new one of that time would have more; `time` is that of all sittings."""
    begun = load_blueprint(out).provenance.get("begun_seconds", 0.0)
    rest = max(time - begun, 1e-3)  # a limit is above zero
    train(SIZED, replace(how, abstraction=out / CARDS, begin=None, time=rest), options)
    shutil.rmtree(_beside(out), ignore_errors=True)


def _beside(out: Path) -> Path:
    """Where the size before is trained."""
    return out.with_name(f"{out.name}.begin")


def _made(cards: str, how: TrainOptions) -> Path:
    """The card abstraction of a recipe, in the user's data folder, where the demo has its own."""
    place = own_folder("data") / cards
    abstract.abstract(cards, place, how.threads, resume=True, only_estimate=False, device="cpu", json=False)
    return place


def _report(trained: Trained, recipe: TrainRecipe, options: Options) -> None:
    facts = trained.to_dict()
    if options.json:
        emit(facts)
        return
    console = plain_console()
    console.print(
        f"{recipe.name}: {trained.iterations:,} iterations in {facts['seconds']:,.1f} s, "
        f"{facts['iterations_per_second']:,.3g} a second; {trained.touched:,} information sets visited",
    )
    for claim in trained.claims:
        console.print(f"at the last check: {claim}")
    console.print(f"written to {trained.out}; riverboat show {quote(trained.out)} preflop draws it")


def _plot(run: Path, picture: Path) -> None:
    """How the snapshots of a run do against its end."""
    from riverboat.cli import reproduce
    from riverboat.papers.sampling.blueprint_convergence import head_to_head

    report = head_to_head(run)
    reproduce.picture(report, "snapshots against the last strategy", picture)
    for row in report.rows:
        say(f"{row.name}: {row.ours:+,.0f} mbb/g  {row.note}")
    say(f"picture: {picture}")


# --- sizes ------------------------------------------------------------------------------------------


def _sizes(counts: Counts) -> dict[str, Any]:
    return {
        "nodes": counts.shape.nodes,
        "buckets": list(counts.buckets),
        "information_sets": sum(counts.infosets),
        "infoset_actions": sum(counts.infoset_actions),
        "memory_mb": round(sum(counts.bytes) / 1e6, 3),
        "bytes_per_infoset_action": counts.entry_bytes,
    }


def _hours(recipe: TrainRecipe, counts: Counts, how: TrainOptions) -> dict[str, Any]:
    """How often a run visits what it has to learn, at the rate that was measured."""
    if (recipe.time is None and how.time is None) or choose(how.device) != CPU:
        return {"time": None}
    seconds = duration(recipe.time or "") if how.time is None else how.time
    visits = RATE * seconds * how.threads
    return {
        "time": recipe.time if how.time is None else f"{how.time:g}s",
        "threads": how.threads,
        "visits_per_information_set": visits / sum(counts.infosets),
    }


def _tell(planned: dict[str, Any], counts: Counts, json: bool, console: Console) -> None:
    if json:
        emit(planned)
        return
    console.print(counts)
    if planned["time"] is not None:
        each = planned["visits_per_information_set"]
        console.print(
            f"{planned['time']} on {planned['threads']} threads: about {each:,.3g} visits of each information set, "
            f"at {RATE:,.0f} visits a second and thread",
        )


# --- while it runs ------------------------------------------------------------------------------------


class _Display(ProgressLine):
    """Strength first, where it is measured, then how long it takes and what was visited."""

    last: Progress | None = None
    known: tuple[str, ...] = ("", "", "")
    warned = False

    def __call__(self, now: Progress) -> None:
        if now.trouble is not None and not self.warned:
            self.warned = True
            say(f"warning: {now.trouble}; the run goes on and tries again")
        if now.touched is not None:
            self.known = _strength(now.strength), f"regret {now.regret:.3g}", f"{now.touched:,} touched"
        self.last = now
        strength, *visited = self.known
        left = f"{show_seconds(now.left)} left" if now.left is not None else ""
        self.update(now.share, strength, left, f"{now.iterations:,} iterations", f"{now.rate:,.3g}/s", *visited)


def _strength(strength: Mapping[str, Any] | None) -> str:
    if not strength:
        return ""
    if "exploitability" in strength:
        inside = strength.get("abstract_exploitability")
        real = f"exploitability {strength['exploitability']:.4g} {strength['unit']} ({strength['is']})"
        return real if inside is None else f"{real}, {inside:.4g} in the abstract game"
    return f"{strength['against_snapshot']:+.0f} ± {strength['ci95']:.0f} mbb/g against the last snapshot"
