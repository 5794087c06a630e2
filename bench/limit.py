"""Limit hold'em on one machine: exploitability of a blueprint during training, and after thresholding.

    python bench/limit.py --minutes 1,5,20 --out runs/limit                 # a bound on sampled boards
    python bench/limit.py --minutes 60 --device cuda --out runs/limit       # the exact figure, on a GPU

After each time the exploitability is printed in mbb/g: a lower bound on --boards fresh boards with its interval, or
exact with --device. Then the last strategy is post-processed: actions below a threshold are never played, up to
purification. Missing card abstractions are built. Existing trainings are reused.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from riverboat.abstraction.build import build_abstraction
from riverboat.abstraction.recipe import load_recipe
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.api.train import train
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.best_response.lower_bound import lower_bound
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.strategies.blueprint import Blueprint, load_blueprint

RECIPE = "limit"


def measured(strategy: Blueprint, arguments: argparse.Namespace) -> dict[str, float | str]:
    """Measure the exploitability of a strategy."""
    labelled = strategy.with_labels(arguments.threads)
    if arguments.device is not None:
        exact = quality(labelled, arguments.threads, float("inf"), device=arguments.device)
        return {"mbb_per_game": exact.mbb_per_game, "ci95": 0.0, "is": "exact", "seconds": round(exact.seconds, 1)}
    bound = lower_bound(labelled, arguments.boards, seed=arguments.seed, threads=arguments.threads)
    result = {"mbb_per_game": bound.mbb_per_game, "ci95": bound.ci95, "is": "lower bound"}
    return result | {"seconds": round(bound.seconds, 1)}


def thresholded(strategy: Blueprint, share: float | None) -> Blueprint:
    """Return the strategy without actions below a threshold; None: purified."""
    post = "purify" if share is None else "threshold"
    return BlueprintAgent(strategy, name=post, post=post, share=share).policy.tree_strategy()


def main() -> None:
    """Train, measure, post-process, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", default="1,5", help="of training, ascending; each continues the one before")
    parser.add_argument("--thresholds", default="0.05,0.1,0.15,0.2", help="of post-processing, besides purification")
    parser.add_argument("--boards", type=int, default=2000, help="boards of a lower bound")
    parser.add_argument("--device", help="exact exploitability: cuda on a GPU, cpu in hours")
    parser.add_argument("--cards", type=Path, help="card abstraction; by default the recipe's is built")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    recipe, run = load_train_recipe(RECIPE), arguments.out / "run"
    cards = arguments.cards or arguments.out / "cards"
    if arguments.cards is None:
        build_abstraction(load_recipe(recipe.abstraction), cards, arguments.threads, resume=True)

    def tell(title: str, strategy: Blueprint) -> None:
        row = {"what": title, **measured(strategy, arguments)}
        with (arguments.out / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        figures = f"{row['mbb_per_game']:8.1f} ± {row['ci95']:.1f} mbb/g ({row['is']}, {row['seconds']} s)"
        print(f"{title:>28}: {figures}", flush=True)

    for minutes in map(float, arguments.minutes.split(",")):
        train(
            recipe, out=run, abstraction=cards, time=60 * minutes, threads=arguments.threads, seed=arguments.seed,
            resume=run.is_dir(), check_seconds=1e9,
        )  # fmt: skip
        tell(f"{minutes * arguments.threads:g} core-minutes", load_blueprint(run))
    last = load_blueprint(run)
    for share in (*map(float, arguments.thresholds.split(",")), None):
        tell("purified" if share is None else f"threshold {share:g}", thresholded(last, share))


if __name__ == "__main__":
    main()
