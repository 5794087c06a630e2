"""`riverboat demo`: an agent for no-limit hold'em from nothing, and how well it plays.

Cards and blueprint are built once, in the user's data folder; after that they are loaded. `riverboat play demo` sits down
with the result. The agent that comes with Riverboat, `default`, plays it too: so one sees how far a minute is from more.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

from riverboat.abstraction.recipe import load_recipe
from riverboat.agents import registry
from riverboat.agents.baselines import YARDSTICKS
from riverboat.api.seating import rules_for
from riverboat.api.train import TrainOptions
from riverboat.cli import abstract, train
from riverboat.cli.matches.match import results, watched
from riverboat.cli.show import shipped as shipped_facts
from riverboat.cli.terminal import duration, plain_console, say
from riverboat.core.errors import CorruptError, InputError
from riverboat.core.formatting import quote
from riverboat.engines.devices import CPU
from riverboat.evaluation.identity import identity
from riverboat.evaluation.matches.match import Match, play_match
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.solvers.mccfr.training import saved_nothing
from riverboat.strategies import files
from riverboat.strategies.blueprint import BlueprintStrategy, load_blueprint

RECIPE = "demo"
PAIRS = 10_000  # of hands against each yardstick, at most
NEVER = 365 * 86400.0  # no checks of strength on the way: the matches that follow are the check


def demo(time: str | None = None, pairs: int = PAIRS, threads: int = 2, seed: int = 0) -> list[Match]:
    """Build the agent or load it, play it against the yardsticks, and say how to play against it.

    `time` is how long to train, the recipe's minute by default; an agent that was trained for less is trained on.
    """
    if not 2 <= pairs <= PAIRS:
        raise InputError(f"pairs={pairs}: from 2 to {PAIRS:,}")
    console, started = plain_console(), clock.perf_counter()
    folder = registry.demo_folder()
    strategy = _blueprint(folder, time, threads, seed)
    console.print(f"{registry.DEMO}: {_described(strategy)}")
    played = _matches(pairs, seed)
    shipped = load_blueprint(registry.default_folder())
    if shipped.rules == strategy.rules and shipped.fingerprint != strategy.fingerprint:
        console.print(f"{registry.DEFAULT}: {_described(shipped)}")
        played.insert(0, _apart(pairs, seed))
    console.print(results(played))
    console.print(
        f"{pairs:,} duplicate pairs against each; the true figure is within ± of the one shown in 95 cases of 100. "
        f"{clock.perf_counter() - started:,.0f} s in all",
    )
    if shipped_facts.is_shipped():
        table, notes = shipped_facts.table(identity(registry.make_agent(registry.DEMO))["fingerprint"])
        for part in ("", shipped_facts.HEADING, table, *notes):
            console.print(part)
        console.print("")
    for what, command in (
        ("play against the agent that comes with Riverboat", "riverboat play"),
        ("play against it", f"riverboat play {registry.DEMO}"),
        ("play it against others", f"riverboat match {registry.DEMO} rule-based --hands 100000"),
        ("see what it does first", f"riverboat show {quote(folder)} preflop"),
    ):
        console.print(f"{what}: {command}", soft_wrap=True)
    return played


def _blueprint(folder: Path, time: str | None, threads: int, seed: int) -> BlueprintStrategy:
    """The blueprint of `demo`, trained for as long as is asked."""
    recipe = load_train_recipe(RECIPE)
    time = recipe.time or "60s" if time is None else time
    duration(time)  # refused before anything is built
    begun = folder.is_dir() and not saved_nothing(folder)
    if begun:
        strategy = _loaded(folder)
        trained = float(strategy.provenance.get("seconds", inf))
        if trained >= duration(time) or not files.checkpoints(folder):
            say(f"{registry.DEMO}: built already, in {folder}")
            return strategy
        say(f"{registry.DEMO}: trained for {trained:,.0f} s so far; going on, up to {time}")
    cards = folder.with_name(recipe.abstraction)
    say(f"Step 1 of 2, card abstraction: {load_recipe(recipe.abstraction).about}")
    with _advised(cards):
        abstract.abstract(recipe.abstraction, cards, threads, True, False, CPU, False)
    say(f"Step 2 of 2, blueprint: {recipe.about}")
    how = TrainOptions(
        abstraction=cards, time=duration(time), threads=threads, seed=seed, resume=begun, check_seconds=NEVER
    )
    with _advised(folder):
        train.train(RECIPE, how, train.Options(out=folder))
    return _loaded(folder)


def _loaded(folder: Path) -> BlueprintStrategy:
    with _advised(folder):
        return load_blueprint(folder)


@contextmanager
def _advised(folder: Path) -> Iterator[None]:
    """What cannot be used may come from another release, or be torn: then it is built again."""
    try:
        yield
    except (InputError, CorruptError) as error:
        raise InputError(f"{error}; delete {folder}, and the demo builds it again") from None


def _described(strategy: BlueprintStrategy) -> str:
    known = strategy.provenance
    buckets = " – ".join(f"{count:,}" for count in strategy.cards.counts)
    trained = f", {known['iterations']:,} iterations in {known['seconds']:,.0f} s" if "seconds" in known else ""
    return f"{strategy.rules.name}, buckets {buckets}{trained}"


def _apart(pairs: int, seed: int) -> Match:
    """What comes with Riverboat against what was trained here."""
    first, second = (registry.make_agent(name, seed) for name in (registry.DEFAULT, registry.DEMO))
    with watched(f"{registry.DEFAULT} against {registry.DEMO}") as progress:
        return play_match(first, second, rules_for([first, second], None), 2 * pairs, seed, progress=progress)


def _matches(pairs: int, seed: int) -> list[Match]:
    """Against every yardstick, all with the same cards."""
    agent = registry.make_agent(registry.DEMO, seed)
    rules = rules_for([agent], None)
    matches = []
    for name in YARDSTICKS:
        with watched(f"{registry.DEMO} against {name}") as progress:
            matches.append(
                play_match(agent, registry.make_agent(name, seed), rules, 2 * pairs, seed, progress=progress)
            )
    return matches
