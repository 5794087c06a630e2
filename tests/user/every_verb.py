"""User's script with every verb, which type checkers read against the installed wheel (tests/test_wheel.py)."""

from __future__ import annotations

from pathlib import Path

import riverboat as rb
from riverboat.core.claims import Claim


def everything(folder: Path) -> list[Claim]:
    result: rb.Result = rb.solve("kuhn", schedule=rb.dcfr(alpha=2.0), until=1e-2, threads=1)
    claims: list[Claim] = list(result.claims)
    strategy = result.strategy
    assert isinstance(strategy, rb.Strategy)
    rows: dict[str, float] = strategy["K:"]
    assert abs(sum(rows.values()) - 1) < 1e-6
    responses = rb.respond(strategy)
    claims += [best.claim for best in responses.values()]
    saved: Path = rb.save(strategy, folder / "kuhn")
    assert rb.load(saved) == strategy

    recipe = folder / "leduc.toml"
    recipe.write_text("game = 'leduc'\n")
    trained = rb.train(recipe, out=folder / "run", iterations=5_000, threads=1, callback=lambda now: None)
    assert trained.iterations >= 5_000
    claims += trained.claims
    claims += rb.quality(trained.strategy).claims

    won = rb.match(str(folder / "run"), "always-call", hands=40, seed=1)
    claims.append(won.claim)
    bb: float = won.bb_per_100
    assert abs(bb - won.mbb_per_game / 10) < 1e-9
    robin = rb.match("always-call", "random", "always-raise", hands=40, game="kuhn")
    best: int = robin.ranking[0]
    assert robin.names[best]

    table = rb.play(rb.agent("always-call"), seed=1, game="kuhn")
    while not table.over:
        table.act(table.legal()[0])
    chips: float = table.won
    assert chips != 0
    return claims


def buckets(folder: Path) -> tuple[int, ...]:
    return rb.abstract("tiny", folder, threads=2).cards.counts


def own(game: str) -> float:
    solver = rb.CFR(rb.compile_game(rb.game(game)), rb.schedules.cfr_plus())
    solver.step(10)
    return solver.exploitability()


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        for claim in everything(Path(place)):
            print(claim)
    print(own("kuhn"))
