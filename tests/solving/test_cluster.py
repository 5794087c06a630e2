"""Head and blades: Algorithm 4 of Brown, Ganzfried & Sandholm (2015)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from processes import Processes
from reference.distributed import Algorithm4, Expectation, flops_of
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.isomorphism import canonical_boards
from riverboat.core.errors import CorruptError, InputError
from riverboat.evaluation.best_response.exact import quality as real_quality
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.games.holdem.menus import one_size
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.registry import make
from riverboat.solvers.cluster import blade as blades
from riverboat.solvers.cluster.backends import InProcess, RayActors
from riverboat.solvers.cluster.distributed import Distributed
from riverboat.solvers.cluster.head import Head
from riverboat.solvers.mccfr.export import small_game_strategy
from riverboat.solvers.mccfr.tables import Weighting
from riverboat.solvers.mccfr.trainer import Blueprint, Pruning
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.trees.compile import compile_game


def by_flop(rules: Rules, publics: int) -> CardAbstraction:
    """Cards that lose nothing of a hand and its board, in so many public buckets."""
    deck, shown = rules.deck, rules.board[1]
    labels = np.arange(len(canonical_boards(shown, deck)[0])) % publics
    public = PublicBuckets(labels, shown, deck)
    streets = [lossless(rules.board[1:], deck).streets[0]]
    for r in range(1, rules.rounds):
        found = cluster_private(public, rules.board_sizes[r], lambda bucket, hands, weights: np.arange(len(hands)))
        streets.append(StreetBuckets(int(found.first[-1]), found.labels, found.layer, first=found.first))
    return CardAbstraction(tuple(streets), rules.board[1:], deck, public)


@cache
def game(name: str) -> tuple[ActionTree, CardAbstraction]:
    if name == "leduc":  # each rank a public bucket
        rules = read_game("leduc")
        return compile_actions(rules), by_flop(rules, 3)
    # Two hole cards, a flop and a turn from twelve cards; eight canonical kinds of flops in three public buckets.
    rules = Rules(blinds=(2, 1), stacks=(8, 8), suits=4, ranks=3, board=(0, 3, 1), most_raises=(1, 1, 1), name=name)
    return compile_actions(rules, one_size("100%")), by_flop(rules, 3)


def exploitability(solver: Blueprint | Distributed) -> float:
    """In the real game, in chips."""
    tree = solver.tree
    tables = tuple(solver.tables.strategies(street) for street in range(tree.rules.rounds))
    return real_quality(BlueprintStrategy(tree.rules, tree.menu, tree, solver.cards, tables)).exploitability


def equal(first: Distributed, second: Distributed) -> bool:
    one, other = first.state(), second.state()
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


# --- flops ------------------------------------------------------------------------------------


def test_flops_are_counted_exactly() -> None:
    labels = np.random.default_rng(1).integers(0, 3, 1_755)
    cards = CardAbstraction(lossless().streets[:1], public=PublicBuckets(labels))
    owned = [blades.flops_of(cards, n, n + 1) for n in range(3)]
    assert sum(len(flops.cards) for flops in owned) == comb(52, 3)
    rng = np.random.default_rng(2)
    hands = np.array([rng.permutation(52)[:4] for _ in range(500)], np.uint8)
    counts = np.array([blades.flops_avoiding(flops, hands) for flops in owned])
    assert (counts.sum(axis=0) == 17_296).all()  # 48 over 3, whatever was dealt
    for flops, found in zip(owned, counts, strict=True):
        for k in range(0, 500, 50):
            assert found[k] == (~np.isin(flops.cards, hands[k]).any(axis=1)).sum()
    assert counts.std(axis=1).min() > 5  # it depends on the hands
    assert len(FULL_DECK.cards) == 52


def test_blades_share_leduc_by_rank() -> None:
    tree, cards = game("leduc")
    deck = cards.deck.cards.tolist()
    hands = np.array(list(combinations(deck, 2)), np.uint8)
    for n in range(3):
        blade = blades.Blade(tree, cards, blades.Share(n, n, n + 1))
        counts = blades.flops_avoiding(blade.flops, hands)
        assert sorted(set(counts.tolist())) == [0, 1, 2]
        assert counts.mean() == pytest.approx(blade.mean)
        assert blade.mean / 4 == pytest.approx(blade.of_all)


# --- the slow twin ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "deals", "count", "mode"),
    [
        ("leduc", 320, 3, "weighted"),
        pytest.param("leduc", 320, 2, "paper", marks=pytest.mark.slow),
        ("hold'em", 128, 3, "weighted"),
    ],
)
def test_tables_are_those_of_the_twin(name: str, deals: int, count: int, mode: str) -> None:
    tree, cards = game(name)
    # Not every seed will do: regrets that cancel are zero here and 1e-16 in the twin, which then plays something else.
    solver = Distributed(tree, cards, blades=count, seed=8, mode=mode, batch=128, first_batch=128)
    solver.step(deals)
    parts = [range(share.first, share.end) for share in solver.shares]
    twin = Algorithm4(tree, cards, 8, flops_of(cards, parts), 128, 16, mode == "weighted")
    twin.run(solver.iterations)
    assert solver.updates == twin.visits
    assert {tree.street[tree.find(line)] for line, _ in twin.regret} == {*range(tree.rules.rounds)}
    tables = [[solver.tables.strategies(r, averages=a) for a in (True, False)] for r in range(tree.rules.rounds)]
    for which, known in enumerate((twin.average, twin.regret)):
        for (line, bucket), row in known.items():
            node = tree.find(line)
            at = int(tree.slot[node])
            found = tables[tree.street[node]][which][bucket, at : at + len(row)]
            positive = np.maximum(row, 0.0)
            if positive.sum() > 1e-3:
                assert found == pytest.approx(positive / positive.sum(), abs=1e-5)


# --- unbiased ---------------------------------------------------------------------------------


def fixed(tree: ActionTree, seed: int):  # type: ignore[no-untyped-def]
    """A strategy that was drawn at random."""
    rng, known = np.random.default_rng(seed), {}

    def strategy(node, where):  # type: ignore[no-untyped-def]
        if where not in known:
            known[where] = rng.dirichlet(np.ones(int(tree.count[node]))).tolist()
        return known[where]

    return strategy


def test_increments_on_blades_are_those_of_plain_sampling() -> None:
    """Exact means over all deals. Weighted, blade n adds what plain sampling adds there, times a constant."""
    tree, cards = game("leduc")
    means = Expectation(tree, cards, fixed(tree, 5))
    parts = flops_of(cards, [range(n, n + 1) for n in range(3)])
    everything = [flop for part in parts for flop in part]
    plain: dict = {}
    found: dict[str, list[dict]] = {"weighted": [{} for _ in parts], "paper": [{} for _ in parts]}
    for chance, hands in means.deals():
        for me in (0, 1):
            for p, board in means.boards(hands, everything):
                means.value(0, me, hands, board, chance * p, plain)
            for n, part in enumerate(parts):
                possible = sum(not {*f} & {*hands[0], *hands[1]} for f in part)
                for p, board in means.boards(hands, part):
                    means.value(0, me, hands, board, chance * p * possible, found["weighted"][n])
                    means.value(0, me, hands, board, chance * p, found["paper"][n])
    ratios: dict[str, list[float]] = {"weighted": [], "paper": []}
    for mode, tables in found.items():
        for table in tables:
            for (line, bucket), row in table.items():
                if "/" in line:
                    expected = np.array(plain[line, bucket])
                    if mode == "weighted":
                        assert row == pytest.approx(4 * expected, abs=1e-12)  # four flops avoid any two cards
                    else:
                        ratios[mode] += (np.array(row) / expected).tolist()
    # Unweighted, no constant fits: another game is played on the blades.
    assert np.std(ratios["paper"]) > 0.5 * np.abs(np.mean(ratios["paper"]))


def test_values_of_continuations_are_unbiased() -> None:
    """What the head makes of the blades' answers is on average the exact value over all boards."""
    tree, cards = game("leduc")
    strategy = fixed(tree, 6)
    solver = Distributed(tree, cards, blades=3, seed=3)
    assert isinstance(solver.engine, InProcess)
    nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == 1))
    for blade in solver.engine.blades:
        first, end = blade.rows[1]
        for node in nodes:
            for bucket in range(first, end):
                at = (
                    int(blade.tables.base[1]) + (bucket - first) * int(blade.tables.width[1]) + 2 * int(tree.slot[node])
                )
                row = strategy(node, (tree.line(int(node)), bucket))
                blade.tables.cells[at : at + len(row)] = np.array(row) * 1e12  # so large that nothing is learnt
    sums: dict[tuple, list[float]] = {}
    hands = cards.deck.hole * 2
    for begin in range(0, 40 * 4096, 4096):
        batch = solver.head.record(begin, 4096)
        total, weight = np.zeros(len(batch.root)), np.zeros(4096)
        deal = np.repeat(np.arange(4096), np.diff(batch.start))
        for values, counts, _ in solver.engine.ask("value", batch):
            total += values * counts[deal]
            weight += counts
        assert (weight == 4).all()
        for c, root in enumerate(batch.root.tolist()):
            held = tuple(batch.hands[deal[c] * hands : (deal[c] + 1) * hands].tolist())
            sums.setdefault((held, root >> 1, root & 1), []).append(total[c] / 4)
    means = Expectation(tree, cards, strategy)
    everything = [flop for part in flops_of(cards, [range(3)]) for flop in part]
    scores = []
    for (held, node, me), values in sums.items():
        if len(values) < 200:
            continue
        pair = [[held[0]], [held[1]]]
        exact = sum(p * means.value(node, me, pair, board, 0.0, {}) for p, board in means.boards(pair, everything))
        spread = np.std(values) / np.sqrt(len(values))
        scores.append((np.mean(values) - exact) / max(spread, 1e-6))
    assert len(scores) > 200
    assert np.abs(scores).max() < 5
    assert np.sqrt(np.mean(np.square(scores))) == pytest.approx(1.0, abs=0.2)


def test_a_missing_blade_is_noticed() -> None:
    solver = Distributed(*game("leduc"), blades=3)
    asked = solver.head.record(0, 64)
    answers = [(values, counts) for values, counts, _ in solver.engine.ask("value", asked)]
    with pytest.raises(AssertionError, match="not 4"):
        solver.head.finish(answers[:2])


# --- convergence ------------------------------------------------------------------------------


@pytest.mark.slow
def test_leduc_converges_with_weights_alone() -> None:
    public = compile_game(make("leduc"))
    found = {}
    for name, solver in (
        ("plain", Blueprint(*game("leduc"), seed=1)),
        ("one blade", Distributed(*game("leduc"), blades=1, seed=1)),
        ("weighted", Distributed(*game("leduc"), blades=3, seed=1)),
        ("paper", Distributed(*game("leduc"), blades=3, seed=1, mode="paper")),
    ):
        solver.step(400_000)
        found[name] = quality(small_game_strategy(solver, public)).exploitability
        assert solver.touched() == (18, 450)
        if name != "paper":
            assert solver.value == pytest.approx(-0.0856, abs=0.02)  # sequence-form linear program
    # Three boards a deal are worth more than one; the head's batches cost a little.
    assert found["weighted"] < 1.5 * found["plain"] < 0.04
    assert found["one blade"] < 2 * found["plain"]
    assert found["paper"] > 0.15


@pytest.mark.slow
def test_small_hold_em_converges() -> None:
    plain = Blueprint(*game("hold'em"), seed=2)
    solver = Distributed(*game("hold'em"), blades=3, seed=2, threads=2)
    for each in (plain, solver):
        each.step(100_000)
    early = exploitability(solver)
    for each in (plain, solver):
        each.step(500_000)
    late = exploitability(solver)
    assert late < 0.6 * early
    assert late < 1.2 * exploitability(plain)
    assert sum(solver.regret()) < 1.5 * sum(plain.regret())
    assert solver.value == pytest.approx(plain.value, abs=0.05)


@pytest.mark.slow
def test_options_of_the_plain_solver() -> None:
    """Linear weighting, pruning and two-byte tables."""
    public = compile_game(make("leduc"))
    solver = Distributed(
        *game("leduc"), blades=2, seed=4, weighting=Weighting("linear", period=4_096), dtype="16-bit",
        prune=Pruning(threshold=-10_000.0, after=64_000),
    )  # fmt: skip
    solver.step(200_000)
    assert quality(small_game_strategy(solver, public)).exploitability < 0.06
    plain = Blueprint(*game("leduc"), weighting=Weighting("linear", period=4_096))
    plain.step(solver.iterations)
    assert solver.weight == pytest.approx(plain.weight)


# --- repeated, stopped, resumed ---------------------------------------------------------------


def test_a_run_can_be_repeated_in_any_steps() -> None:
    one, many = (Distributed(*game("leduc"), blades=3, seed=5, batch=512) for _ in range(2))
    one.step(100_000)
    while many.iterations < one.iterations:
        many.step(min(3_000, one.iterations - many.iterations))
    assert equal(one, many)
    other = Distributed(*game("leduc"), blades=3, seed=6, batch=512)
    other.step(100_000)
    assert not equal(one, other)


def test_threads_of_the_head_change_nothing() -> None:
    tree, cards = game("hold'em")
    found = []
    for threads in (1, 3):
        head = Head(tree, cards, seed=1, threads=threads, batch=256)
        blade = blades.Blade(tree, cards, blades.Share(0, 0, 3))
        for begin in range(0, 1024, 256):
            values, counts, _ = blade.value(head.record(begin, 256))
            head.finish([(values, counts)])
        found.append(np.array(head.tables.cells))
    assert np.array_equal(*found)
    assert np.abs(found[0]).max() > 1


def test_checkpoints_are_whole_or_none(tmp_path: Path) -> None:
    first = Distributed(*game("leduc"), blades=3, seed=8, batch=256)
    first.step(10_000)
    first.save(tmp_path / "a")
    state = first.state()
    first.step(10_000)
    first.save(tmp_path / "b")
    by_file, by_state = (Distributed(*game("leduc"), blades=3, seed=0, batch=256) for _ in range(2))
    by_file.load(tmp_path / "a")
    by_state.restore(state)
    for solver in (by_file, by_state):
        solver.step(10_000)
        assert equal(solver, first)
    assert first.save(tmp_path / "b") == tmp_path / "b"  # the same moment once more
    with pytest.raises(InputError, match="already"):
        first.save(tmp_path / "a")
    with pytest.raises(InputError, match="blades is 3"):
        Distributed(*game("leduc"), blades=2).load(tmp_path / "b")
    (tmp_path / "b" / "blade-0001").rename(tmp_path / "gone")
    (tmp_path / "a" / "blade-0001").rename(tmp_path / "b" / "blade-0001")
    with pytest.raises(InputError, match="another checkpoint"):
        by_file.load(tmp_path / "b")
    (tmp_path / "b" / "head").rename(tmp_path / "no head")
    with pytest.raises(CorruptError, match="not finished"):
        by_file.load(tmp_path / "b")


def test_wrong_input_is_refused() -> None:
    tree, cards = game("leduc")
    with pytest.raises(InputError, match="no public buckets"):
        Distributed(tree, lossless(tree.rules.board[1:], tree.rules.deck))
    with pytest.raises(InputError, match="4 blades"):
        Distributed(tree, cards, blades=4)
    with pytest.raises(InputError, match="engine"):
        Distributed(tree, cards, engine="spark")
    with pytest.raises(InputError, match="mode"):
        Distributed(tree, cards, mode="unweighted")
    with pytest.raises(InputError, match="batch"):
        Distributed(tree, cards, batch=0)
    with pytest.raises(InputError, match="buckets"):
        Distributed(tree, cards).tables.strategies(1, np.array([15]))


# --- Ray --------------------------------------------------------------------------------------


needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs riverboat[cluster]")


@needs_ray
@pytest.mark.slow
@pytest.mark.posix
def test_ray_gives_the_same_and_survives_the_loss_of_a_blade(tmp_path: Path) -> None:
    expected = Distributed(*game("leduc"), blades=3, seed=1, batch=256)
    expected.step(10_000)
    expected.step(10_000)
    with Distributed(*game("leduc"), blades=3, seed=1, batch=256, engine="ray") as solver:
        assert isinstance(solver.engine, RayActors)
        assert [node["NodeManagerAddress"] for node in solver.engine.ray.nodes()] == ["127.0.0.1"]  # nobody else
        solver.step(10_000)
        os.kill(solver.engine.processes()[0], signal.SIGKILL)  # nothing is saved yet: from the beginning
        solver.step(10_000)
        assert (solver.faults, solver.iterations) == (1, expected.iterations)
        assert equal(solver, expected)
        solver.save(tmp_path / "a")
        for each in (solver, expected):
            each.step(5_000)
        os.kill(solver.engine.processes()[2], signal.SIGKILL)
        for each in (solver, expected):
            each.step(5_000)
        assert solver.faults == 2
        os.kill(solver.engine.processes()[1], signal.SIGKILL)  # between two steps: what is asked is found all the same
        assert solver.touched() == (18, 450)
        assert solver.faults == 3
        assert solver.iterations == expected.iterations
        assert equal(solver, expected)


_HEAD = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from test_cluster import Distributed, game
solver = Distributed(*game("leduc"), blades=2, seed=9, batch=256, engine="ray")
k = 0
while True:
    solver.step(5_000)
    solver.save(Path({folder!r}) / f"{{k:04d}}")
    print(k, flush=True)
    k += 1
"""


@needs_ray
@pytest.mark.slow
def test_the_death_of_the_head_loses_one_interval(processes: Processes, tmp_path: Path) -> None:
    script = _HEAD.format(
        path=[p for p in sys.path if "tests" in p or p == ""] + [str(Path(__file__).parent)], folder=str(tmp_path)
    )
    with processes.python("-c", script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        done = -1
        while done < 2:
            done = int(process.stdout.readline())
        process.kill()
        process.wait()
        done = max([done, *(int(line) for line in process.stdout)])
    whole = [folder for folder in sorted(tmp_path.iterdir()) if (folder / "head").is_dir()]
    assert done + 1 <= len(whole) <= done + 2
    solver, expected = (Distributed(*game("leduc"), blades=2, seed=9, batch=256) for _ in range(2))
    solver.load(whole[-1])
    for _ in whole:
        expected.step(5_000)
    assert solver.iterations == expected.iterations
    solver.step(5_000)
    expected.step(5_000)
    assert equal(solver, expected)
