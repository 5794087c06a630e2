"""Limit hold'em on one machine: a blueprint, what can be won of it as it trains, and what thresholds do to that.

    python bench/limit.py --minutes 1,5,20 --out runs/limit                 # a bound on sampled boards
    python bench/limit.py --minutes 60 --device cuda --out runs/limit       # the exact figure, on a GPU

After each time the exploitability is told in mbb/g: a lower bound on --boards fresh boards with its interval, or exact with
--device. Then the last strategy is post-processed: moves below a threshold are never played, up to purification. Where cards
are not given they are made. What is trained is not trained again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from riverboat.abstraction.build import build
from riverboat.abstraction.recipe import load_recipe
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.api.train import train
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.best_response.lower_bound import lower_bound
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.strategies.blueprint import BlueprintStrategy, load_blueprint

RECIPE = "limit"


def measured(strategy: BlueprintStrategy, given: argparse.Namespace) -> dict[str, float | str]:
    """What can be won of a strategy."""
    whole = strategy.labelled(given.threads)
    if given.device is not None:
        exact = quality(whole, given.threads, float("inf"), device=given.device)
        return {"mbb_per_game": exact.mbb_per_game, "ci95": 0.0, "is": "exact", "seconds": round(exact.seconds, 1)}
    bound = lower_bound(whole, given.boards, seed=given.seed, threads=given.threads)
    return {
        "mbb_per_game": bound.mbb_per_game,
        "ci95": bound.ci95,
        "is": "lower bound",
        "seconds": round(bound.seconds, 1),
    }


def thresholded(strategy: BlueprintStrategy, share: float | None) -> BlueprintStrategy:
    """The strategy without moves below a share; None: purified."""
    post = "purify" if share is None else "threshold"
    return BlueprintAgent(strategy, name=post, post=post, share=share).played.on_tree()


def main() -> None:
    """Train, measure, post-process, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--minutes", default="1,5", help="of training, ascending; each goes on where the one before ended"
    )
    parser.add_argument("--thresholds", default="0.05,0.1,0.15,0.2", help="of post-processing, beside purification")
    parser.add_argument("--boards", type=int, default=2000, help="of a bound")
    parser.add_argument("--device", help="cuda: the exact figure on a GPU; cpu: the exact figure, for who has hours")
    parser.add_argument("--cards", type=Path, help="a card abstraction; the recipe's is made otherwise")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    recipe, run = load_train_recipe(RECIPE), given.out / "run"
    cards = given.cards
    if cards is None:
        cards = given.out / "cards"
        build(load_recipe(recipe.abstraction), cards, given.threads, resume=True)

    def tell(what: str, strategy: BlueprintStrategy) -> None:
        told = {"what": what, **measured(strategy, given)}
        with (given.out / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
        print(
            f"{what:>28}: {told['mbb_per_game']:8.1f} ± {told['ci95']:.1f} mbb/g ({told['is']}, {told['seconds']} s)",
            flush=True,
        )

    for minutes in map(float, given.minutes.split(",")):
        train(
            recipe, out=run, abstraction=cards, time=60 * minutes, threads=given.threads, seed=given.seed,
            resume=run.is_dir(), check_seconds=1e9,
        )  # fmt: skip
        tell(f"{minutes * given.threads:g} core-minutes", load_blueprint(run))
    last = load_blueprint(run)
    for share in (*map(float, given.thresholds.split(",")), None):
        tell("purified" if share is None else f"threshold {share:g}", thresholded(last, share))


if __name__ == "__main__":
    main()
