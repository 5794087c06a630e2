"""External sampling over betting tree × buckets."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from reference.external_sampling import ExternalSampling
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless
from riverboat.cards.notation import parse_cards
from riverboat.compiled import simd
from riverboat.compiled.jit import kernel
from riverboat.core.errors import InputError
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.games.holdem.menus import one_size
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.registry import make
from riverboat.solvers.mccfr import workspace
from riverboat.solvers.mccfr.export import small_game_strategy
from riverboat.solvers.mccfr.tables import BucketTables, Weighting, make_game
from riverboat.solvers.mccfr.trainer import Blueprint, Pruning
from riverboat.solvers.tabular.best_response import Quality, quality
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

U = np.uint64


@cache
def game(name: str) -> tuple[ActionTree, CardAbstraction]:
    """A tree and cards that lose nothing."""
    if name == "hold'em":  # two hole cards, a flop and a turn from twelve cards
        rules = Rules(
            blinds=(2, 1), stacks=(20, 20), suits=4, ranks=3, board=(0, 3, 1), most_raises=(2, 2, 2), name=name
        )
        tree = compile_actions(rules, one_size("100%"))
    else:
        rules = read_game(name)
        tree = compile_actions(rules)
    return tree, lossless(rules.board[1:], rules.deck)


@cache
def public(name: str) -> PublicTree:
    tree = compile_game(make(name))
    assert isinstance(tree, PublicTree)
    return tree


def measured(solver: Blueprint, name: str) -> Quality:
    return quality(small_game_strategy(solver, public(name)))


def regrets(solver: Blueprint, node: int, bucket: int) -> np.ndarray:
    """Straight from the documented place."""
    tree, tables = solver.tree, solver.tables
    street, count = tree.street[node], tree.count[node]
    at = tables.base[street] + bucket * tables.width[street] + 2 * tree.slot[node]
    return tables.cells[at : at + count]


# --- the slow twin ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "deals", "prune", "runouts"),
    [
        ("kuhn", 640, None, 0),
        ("leduc", 320, None, 0),
        ("hold'em", 64, None, 0),
        ("hold'em", 64, None, 3),
        (
            "leduc",
            320,
            Pruning(threshold=-4.0, odds=0.75, floor=-1e6),
            0,
        ),  # a floor would depend on the order inside a group
    ],
)
def test_tables_are_those_of_the_twin(name: str, deals: int, prune: Pruning | None, runouts: int) -> None:
    tree, cards = game(name)
    assert not runouts or (tree.showdown & (tree.street < tree.rules.rounds - 1)).any()  # all-ins that boards follow
    solver = Blueprint(tree, cards, seed=7, prune=prune, runouts=runouts)
    solver.step(deals)
    given = (prune.threshold, prune.odds, prune.least) if prune else (None, 0.0, -np.inf)
    twin = ExternalSampling(tree, cards, 7, solver.group, *given, runouts=runouts)
    twin.run(deals)
    assert solver.updates == twin.visits
    assert len(twin.regret) > 5
    for (line, bucket), expected in twin.regret.items():
        node = tree.find(line)
        assert regrets(solver, node, bucket) == pytest.approx(expected, rel=1e-4, abs=1e-3)
    for (line, bucket), sums in twin.average.items():
        node = tree.find(line)
        assert solver.average(node, bucket) == pytest.approx(np.array(sums) / sum(sums), abs=1e-4)
        expected = twin.sigma((line, bucket), len(sums))
        assert solver.current(node, bucket) == pytest.approx(expected, abs=1e-3)
    marked = {*twin.average, *(where for where, row in twin.regret.items() if max(map(abs, row)) > 1e-6)}
    assert len(marked) <= sum(solver.touched()) <= len({*twin.regret, *twin.average})  # equal values leave no mark


@pytest.mark.slow
def test_all_ins_before_the_flop_are_paid_by_equity() -> None:
    rules = read_game("nolimit-200bb")
    tree, cards = compile_actions(rules, one_size("a")), lossless()
    table = make_game(tree, cards, BucketTables(tree, (1, 1, 1, 1)), runouts=1).first_equity
    aces, kings, low = (cards.bucket(parse_cards(hand)) for hand in ("AcAd", "KhKs", "7h2s"))
    assert table[aces, kings] == pytest.approx(2 * 0.819461 - 1, abs=1e-4)  # the classes, over all suits
    assert table == pytest.approx(-table.T, abs=1e-6)
    assert table[aces, low] > table[aces, kings]


@pytest.mark.parametrize("name", ["kuhn", "leduc", "hold'em"])
def test_direct_tables_of_small_decks_are_the_abstraction(name: str) -> None:
    direct, indexed = (Blueprint(*game(name), seed=8) for _ in range(2))
    assert len(direct.game.direct.bucket) > 0
    nothing = indexed.game.direct._replace(bucket=np.zeros(0, np.int32))
    indexed.game = indexed.game._replace(direct=nothing)
    for solver in (direct, indexed):
        solver.step(1_280)
    assert np.array_equal(direct.tables.cells, indexed.tables.cells)


# --- convergence ------------------------------------------------------------------------------


def test_kuhn_and_leduc_converge() -> None:
    solver = Blueprint(*game("kuhn"), seed=1)
    solver.step(400_000)
    found = measured(solver, "kuhn")
    assert found.exploitability < 0.005
    assert found.values[0] == pytest.approx(-1 / 18, abs=0.003)  # Kuhn 1950
    solver = Blueprint(*game("leduc"), seed=1)
    solver.step(20_000)
    early = measured(solver, "leduc")
    solver.step(1_000_000)
    late = measured(solver, "leduc")
    # A walk earns a few chips either way: a million deals leave a few thousandths.
    assert late.exploitability < 0.025 < early.exploitability
    assert late.values[0] == pytest.approx(-0.0856, abs=0.01)  # sequence-form linear program
    low, high = late.bracket
    assert low < -0.0856064 < high


@pytest.mark.slow
def test_leduc_converges_further() -> None:
    solver = Blueprint(*game("leduc"), seed=2, weighting=Weighting("linear", period=200_000))
    solver.step(30_000_000)
    found = measured(solver, "leduc")
    assert found.exploitability < 0.004
    assert found.values[0] == pytest.approx(-0.0856064, abs=0.002)
    assert solver.value == pytest.approx(-0.0856064, abs=0.003)


def test_weighting_forgets_the_beginning() -> None:
    found = []
    for weighting in ("none", "linear", "dcfr:alpha=1.5,beta=0.5,gamma=2"):
        solver = Blueprint(*game("leduc"), seed=3, weighting=Weighting(weighting, period=4_096))
        solver.step(20 * 4_096)
        assert measured(solver, "leduc").exploitability < 0.12
        found.append(solver)
    plain, linear, discounted = found
    assert plain.weight == 20 * 4_096
    # Period t counts t / 21 after the end of period 20: (1 + … + 20) / 21 = 10 periods.
    assert linear.weight == pytest.approx(10 * 4_096)
    assert 10 * 4_096 < discounted.weight < plain.weight


def test_weighting_multiplies_at_the_end_of_a_period() -> None:
    weighting = Weighting("dcfr:alpha=1,beta=0,gamma=2", period=128)
    solver, plain = Blueprint(*game("leduc"), weighting=weighting), Blueprint(*game("leduc"))
    solver.step(128)
    plain.step(128)
    tables = plain.tables
    expected = np.array(tables.cells)
    for street in range(2):
        for slot, count, _ in zip(*tables._decisions[street], strict=True):
            for bucket in range(tables.counts[street]):
                at = tables.base[street] + bucket * tables.width[street] + slot
                expected[at : at + count] *= 0.5  # 1 / (1 + 1), whichever the sign: 1^alpha = 1^beta
                expected[at + count : at + 2 * count] *= 0.25  # (1 / 2)^2
    assert solver.tables.cells == pytest.approx(expected)
    until = Weighting("linear", period=128, until=200)
    assert until.factors(2) == (0.5, 0.5, 0.5)
    assert until.factors(3) is None


# --- threads and formats ----------------------------------------------------------------------


def test_deterministic_runs_are_equal_on_any_number_of_threads() -> None:
    found = []
    for threads in (1, 2, 3):
        solver = Blueprint(*game("leduc"), seed=5, threads=threads, mode="deterministic", batch=256)
        solver.step(20_000)
        found.append(solver)
    for other in found[1:]:
        assert np.array_equal(found[0].tables.cells, other.tables.cells)
        assert (found[0].updates, found[0].value) == (other.updates, other.value)
    found[0].step(200_000)
    assert measured(found[0], "leduc").exploitability < 0.1


def test_threads_race_to_the_same_strategy() -> None:
    solver = Blueprint(*game("leduc"), seed=5, threads=2)
    solver.step(300_000)
    assert solver.iterations == 300_032  # whole blocks
    assert measured(solver, "leduc").exploitability < 0.06


def test_a_run_depends_on_its_seed_and_its_end_alone() -> None:
    whole, parts, other = (Blueprint(*game("leduc"), seed=seed) for seed in (1, 1, 2))
    whole.step(6_400)
    for _ in range(10):
        parts.step(640)
    other.step(6_400)
    assert np.array_equal(whole.tables.cells, parts.tables.cells)
    assert not np.array_equal(whole.tables.cells, other.tables.cells)


@pytest.mark.parametrize("dtype", ["float32", "16-bit"])
def test_a_restored_run_goes_on_bit_for_bit(dtype: str) -> None:
    weighting = Weighting("linear", period=1_280)
    first = Blueprint(*game("leduc"), seed=4, dtype=dtype, weighting=weighting)
    first.step(3_200)
    state = {name: np.array(values) for name, values in first.state().items()}
    second = Blueprint(*game("leduc"), seed=0, dtype=dtype, weighting=weighting)
    second.restore(state)
    first.step(3_200)
    second.step(3_200)
    assert np.array_equal(first.tables.cells, second.tables.cells)
    assert (first.iterations, first.updates, first.weight) == (second.iterations, second.updates, second.weight)
    assert first.value == second.value


def test_two_bytes_are_enough() -> None:
    wide, short = Blueprint(*game("leduc"), seed=1), Blueprint(*game("leduc"), seed=1, dtype="16-bit")
    for solver in (wide, short):
        solver.step(500_000)
    assert short.tables.nbytes * 2 == pytest.approx(wide.tables.nbytes, rel=0.02)
    assert measured(short, "leduc").exploitability < 0.04
    assert abs(measured(short, "leduc").values[0] - measured(wide, "leduc").values[0]) < 0.01
    assert short.regret() == pytest.approx(wide.regret(), rel=0.5)
    # Sums of averages are right although most terms are far below the step of the sum.
    count, width = int(wide.tree.count[0]), int(wide.tables.width[0])
    place = slice(width + count, width + 2 * count)  # the opening with the second bucket
    sums = simd.decode(short.tables.cells[place]).sum() / short.tables.share
    assert sums == pytest.approx(wide.tables.cells[place].sum(), rel=0.03)


@pytest.mark.parametrize("dtype", ["float32", "16-bit"])
def test_tables_take_at_most_ten_bytes(dtype: str) -> None:
    tables = Blueprint(*game("hold'em"), dtype=dtype).tables
    assert tables.infoset_actions > 100_000
    assert tables.nbytes <= 10 * tables.infoset_actions


def test_pruning_skips_work_and_still_converges() -> None:
    plain = Blueprint(*game("leduc"), seed=6)
    pruned = Blueprint(*game("leduc"), seed=6, prune=Pruning(threshold=-10_000.0, after=64_000))
    for solver in (plain, pruned):
        solver.step(64_000)
    assert plain.updates == pruned.updates  # it has not begun, and no regret is so low yet
    for solver in (plain, pruned):
        solver.step(600_000)
    assert pruned.updates < 0.98 * plain.updates
    assert measured(pruned, "leduc").exploitability < 0.03
    floored = Blueprint(*game("leduc"), seed=6, prune=Pruning(threshold=-500.0))
    floored.step(64_000)
    nodes = np.flatnonzero((plain.tree.actor >= 0) & (plain.tree.street == 0))
    lowest = [min(regrets(solver, n, b).min() for n in nodes for b in range(3)) for solver in (plain, floored)]
    assert lowest[0] < -1_000
    assert -500 * 31 / 30 - 0.1 < lowest[1] < -500


# --- walks in two parts -----------------------------------------------------------------------


@kernel
def _split_walks(game, cells, block, deals, rule, journal, head, blade):  # type: ignore[no-untyped-def]
    """The first street in one place and what follows in another, as a head and its blades do."""
    last = len(game.base) - 1
    n = kernels.begin_walks(game, cells, block, 0, deals, 0, 0, head)
    n = kernels.descend(game, cells, block, 0, 2 * deals, n, 0, rule, journal, head)
    cuts, below = n.cuts, kernels.Lengths(np.int64(0), np.int64(0), np.int64(0))
    for k in range(len(head.sign)):
        blade.sign[k] = head.sign[k]
    for c in range(cuts):
        node, walk = head.cut[c] >> U(35), head.cut[c] & U(127)
        below = kernels.visit(game, cells, block.rows, walk >> U(1), node, c, walk, last, blade, below)
    below = kernels.descend(game, cells, block, 0, cuts, below, last, rule, journal, blade)
    kernels.ascend(cells, block, 0, below.own, rule, journal, blade)
    for c in range(cuts):
        head.value[head.cut[c] >> U(7) & U(0xFFFFFFF)] = blade.value[c]
    kernels.ascend(cells, block, 0, n.own, rule, journal, head)
    return cuts


@pytest.mark.slow
def test_a_walk_can_be_cut_at_a_street() -> None:
    whole, split = (Blueprint(*game("leduc"), seed=9) for _ in range(2))
    (block, head), (_, blade) = split._places[0], (None, workspace.make_notes(split._need, split.group))
    rule, journal, cuts = split._rule, split._journals, 0
    for begin in range(0, 64 * 20, split.group):
        kernels.prepare(split.game, split.cards.look, U(9), begin, split.group, block)
        block.weight[:], block.prune[:] = 1, False
        cuts += _split_walks(split.game, split.tables.cells, block, split.group, rule, journal, head, blade)
    whole.step(64 * 20)
    assert cuts > 64 * 20
    assert split.tables.cells == pytest.approx(whole.tables.cells, rel=1e-4, abs=1e-2)


# --- what is refused --------------------------------------------------------------------------


def test_wrong_input_is_refused() -> None:
    tree, cards = game("leduc")
    with pytest.raises(InputError, match="mode"):
        Blueprint(tree, cards, mode="raceing")
    with pytest.raises(InputError, match="dtype"):
        Blueprint(tree, cards, dtype="float16")
    with pytest.raises(InputError, match="threads=0"):
        Blueprint(tree, cards, threads=0)
    with pytest.raises(InputError, match="boards"):
        Blueprint(tree, game("kuhn")[1])
    with pytest.raises(InputError, match="weighting"):
        Blueprint(tree, cards, weighting="cfr+")
    with pytest.raises(InputError, match="below zero"):
        Pruning(threshold=3.0)
    solver = Blueprint(tree, cards)
    with pytest.raises(InputError, match="no decision"):
        solver.average(len(tree), 0)
    with pytest.raises(InputError, match="buckets"):
        solver.average(0, 3)
    with pytest.raises(InputError, match="cells"):
        solver.restore(Blueprint(*game("kuhn")).state())
    with pytest.raises(InputError, match="hands"):
        small_game_strategy(solver, public("kuhn"))
