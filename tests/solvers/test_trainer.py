"""External sampling over betting tree × buckets."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from reference.external_sampling import ExternalSampling
from reference.small_blueprint import small_game_strategy
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless_abstraction
from riverboat.cards.notation import parse_cards
from riverboat.compiled import simd
from riverboat.compiled.jit import kernel
from riverboat.core.errors import InputError
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.games.registry import game_from_spec
from riverboat.solvers.mccfr import tables as trainer_tables
from riverboat.solvers.mccfr.tables import BucketTables, Pruning, Weighting, make_sampling_game
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.tabular.best_response import Quality, quality
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

U = np.uint64


@cache
def game(name: str) -> tuple[ActionTree, CardAbstraction]:
    """An action tree and a lossless card abstraction."""
    if name == "hold'em":  # two hole cards, a flop and a turn from twelve cards
        rules = PokerRules(
            blinds=(2, 1), stacks=(20, 20), suits=4, ranks=3, board=(0, 3, 1), most_raises=(2, 2, 2), name=name
        )
        tree = compile_action_tree(rules, one_size_menu("100%"))
    else:
        rules = read_game(name)
        tree = compile_action_tree(rules)
    return tree, lossless_abstraction(rules.board[1:], rules.deck)


@cache
def public(name: str) -> PublicTree:
    tree = compile_game(game_from_spec(name))
    assert isinstance(tree, PublicTree)
    return tree


def measured(solver: BlueprintTrainer, name: str) -> Quality:
    return quality(small_game_strategy(solver, public(name)))


def regrets(solver: BlueprintTrainer, node: int, bucket: int) -> np.ndarray:
    """Read from the documented layout."""
    tree, tables = solver.tree, solver.tables
    street, count = tree.street[node], tree.count[node]
    at = tables.base[street] + bucket * tables.width[street] + 2 * tree.slot[node]
    return tables.cells[at : at + count]


# --- against the reference implementation ----------------------------------------------------------------------------


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
        ),  # a floor would depend on the order within a group
    ],
)
def test_tables_equal_the_reference(name: str, deals: int, prune: Pruning | None, runouts: int) -> None:
    tree, cards = game(name)
    assert not runouts or (tree.showdown & (tree.street < tree.rules.rounds - 1)).any()  # all-ins with cards to come
    solver = BlueprintTrainer(tree, cards, seed=7, prune=prune, runouts=runouts)
    solver.step(deals)
    arguments = (prune.threshold, prune.odds, prune.regret_floor) if prune else (None, 0.0, -np.inf)
    twin = ExternalSampling(tree, cards, 7, solver.traverser.group, *arguments, runouts=runouts)
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
    assert (
        len(marked) <= sum(solver.visited_infosets()) <= len({*twin.regret, *twin.average})
    )  # equal values give no regret


@pytest.mark.slow
def test_preflop_all_ins_are_paid_by_equity() -> None:
    rules = read_game("nolimit-200bb")
    tree, cards = compile_action_tree(rules, one_size_menu("a")), lossless_abstraction()
    table = make_sampling_game(tree, cards, BucketTables(tree, (1, 1, 1, 1)), runouts=1).first_equity
    aces, kings, low = (cards.bucket(parse_cards(hand)) for hand in ("AcAd", "KhKs", "7h2s"))
    assert table[aces, kings] == pytest.approx(2 * 0.819461 - 1, abs=1e-4)  # classes, over all suits
    assert table == pytest.approx(-table.T, abs=1e-6)
    assert table[aces, low] > table[aces, kings]


@pytest.mark.parametrize("name", ["kuhn", "leduc", "hold'em"])
def test_direct_lookup_equals_the_abstraction(name: str) -> None:
    direct, indexed = (BlueprintTrainer(*game(name), seed=8) for _ in range(2))
    part: Any = indexed.traverser
    assert len(part.game.direct.bucket) > 0
    part.game = part.game._replace(direct=part.game.direct._replace(bucket=np.zeros(0, np.int32)))
    for solver in (direct, indexed):
        solver.step(1_280)
    assert np.array_equal(direct.tables.cells, indexed.tables.cells)


# --- convergence ------------------------------------------------------------------------------


def test_kuhn_and_leduc_converge() -> None:
    solver = BlueprintTrainer(*game("kuhn"), seed=1)
    solver.step(400_000)
    result = measured(solver, "kuhn")
    assert result.exploitability < 0.005
    assert result.values[0] == pytest.approx(-1 / 18, abs=0.003)  # Kuhn 1950
    solver = BlueprintTrainer(*game("leduc"), seed=1)
    solver.step(20_000)
    early = measured(solver, "leduc")
    solver.step(1_000_000)
    late = measured(solver, "leduc")
    # A deal wins or loses a few chips: a million deals leave an error of a few thousandths.
    assert late.exploitability < 0.025 < early.exploitability
    assert late.values[0] == pytest.approx(-0.0856, abs=0.01)  # sequence-form linear program
    low, high = late.bracket
    assert low < -0.0856064 < high


@pytest.mark.slow
def test_leduc_converges_further() -> None:
    solver = BlueprintTrainer(*game("leduc"), seed=2, weighting=Weighting("linear", period=200_000))
    solver.step(30_000_000)
    result = measured(solver, "leduc")
    assert result.exploitability < 0.004
    assert result.values[0] == pytest.approx(-0.0856064, abs=0.002)
    assert solver.value == pytest.approx(-0.0856064, abs=0.003)


def test_weighting_discounts_the_beginning() -> None:
    result = []
    for weighting in ("none", "linear", "dcfr:alpha=1.5,beta=0.5,gamma=2"):
        solver = BlueprintTrainer(*game("leduc"), seed=3, weighting=Weighting(weighting, period=4_096))
        solver.step(20 * 4_096)
        assert measured(solver, "leduc").exploitability < 0.12
        result.append(solver)
    plain, linear, discounted = result
    assert plain.weight == 20 * 4_096
    # Period t has weight t / 21 after the end of period 20: (1 + … + 20) / 21 = 10 periods.
    assert linear.weight == pytest.approx(10 * 4_096)
    assert 10 * 4_096 < discounted.weight < plain.weight


def test_weighting_multiplies_at_the_end_of_a_period() -> None:
    weighting = Weighting("dcfr:alpha=1,beta=0,gamma=2", period=128)
    solver, plain = BlueprintTrainer(*game("leduc"), weighting=weighting), BlueprintTrainer(*game("leduc"))
    solver.step(128)
    plain.step(128)
    tables = plain.tables
    expected = np.array(tables.cells)
    for street in range(2):
        for slot, count, _ in zip(*tables._decisions[street], strict=True):
            for bucket in range(tables.counts[street]):
                at = tables.base[street] + bucket * tables.width[street] + slot
                expected[at : at + count] *= 0.5  # 1 / (1 + 1) for either sign: 1^alpha = 1^beta
                expected[at + count : at + 2 * count] *= 0.25  # (1 / 2)^2
    assert solver.tables.cells == pytest.approx(expected)
    until = Weighting("linear", period=128, until=200)
    assert until.factors(2) == (0.5, 0.5, 0.5)
    assert until.factors(3) is None


# --- threads and formats ----------------------------------------------------------------------


def test_deterministic_mode_is_equal_on_any_number_of_threads() -> None:
    result = []
    for threads in (1, 2, 3):
        solver = BlueprintTrainer(*game("leduc"), seed=5, threads=threads, mode="deterministic", batch=256)
        solver.step(20_000)
        result.append(solver)
    for other in result[1:]:
        assert np.array_equal(result[0].tables.cells, other.tables.cells)
        assert (result[0].updates, result[0].value) == (other.updates, other.value)
    result[0].step(200_000)
    assert measured(result[0], "leduc").exploitability < 0.1


def test_racing_threads_converge_to_the_same_strategy() -> None:
    solver = BlueprintTrainer(*game("leduc"), seed=5, threads=2)
    solver.step(300_000)
    assert solver.iterations == 300_032  # whole blocks
    assert measured(solver, "leduc").exploitability < 0.06


def test_run_depends_only_on_seed_and_end() -> None:
    full, parts, other = (BlueprintTrainer(*game("leduc"), seed=seed) for seed in (1, 1, 2))
    full.step(6_400)
    for _ in range(10):
        parts.step(640)
    other.step(6_400)
    assert np.array_equal(full.tables.cells, parts.tables.cells)
    assert not np.array_equal(full.tables.cells, other.tables.cells)


@pytest.mark.parametrize("dtype", ["float32", "16-bit"])
def test_restored_run_continues_bitwise(dtype: str) -> None:
    weighting = Weighting("linear", period=1_280)
    first = BlueprintTrainer(*game("leduc"), seed=4, dtype=dtype, weighting=weighting)
    first.step(3_200)
    state = {name: np.array(values) for name, values in first.state().items()}
    second = BlueprintTrainer(*game("leduc"), seed=0, dtype=dtype, weighting=weighting)
    second.restore(state)
    first.step(3_200)
    second.step(3_200)
    assert np.array_equal(first.tables.cells, second.tables.cells)
    assert (first.iterations, first.updates, first.weight) == (second.iterations, second.updates, second.weight)
    assert first.value == second.value


def test_sixteen_bits_converge() -> None:
    wide, short = BlueprintTrainer(*game("leduc"), seed=1), BlueprintTrainer(*game("leduc"), seed=1, dtype="16-bit")
    for solver in (wide, short):
        solver.step(500_000)
    assert short.tables.nbytes * 2 == pytest.approx(wide.tables.nbytes, rel=0.02)
    assert measured(short, "leduc").exploitability < 0.04
    assert abs(measured(short, "leduc").values[0] - measured(wide, "leduc").values[0]) < 0.01
    assert short.regret_bound() == pytest.approx(wide.regret_bound(), rel=0.5)
    # Sums of averages are correct although most terms are far below the step of the sum.
    count, width = int(wide.tree.count[0]), int(wide.tables.width[0])
    place = slice(width + count, width + 2 * count)  # the first decision with the second bucket
    sums = simd.decode_codes(short.tables.cells[place]).sum() / short.tables.share
    assert sums == pytest.approx(wide.tables.cells[place].sum(), rel=0.03)


@pytest.mark.parametrize("dtype", ["float32", "16-bit"])
def test_tables_take_at_most_ten_bytes(dtype: str) -> None:
    tables = BlueprintTrainer(*game("hold'em"), dtype=dtype).tables
    assert tables.infoset_actions > 100_000
    assert tables.nbytes <= 10 * tables.infoset_actions


def test_pruning_visits_less_and_converges() -> None:
    plain = BlueprintTrainer(*game("leduc"), seed=6)
    pruned = BlueprintTrainer(*game("leduc"), seed=6, prune=Pruning(threshold=-10_000.0, after=64_000))
    for solver in (plain, pruned):
        solver.step(64_000)
    assert plain.updates == pruned.updates  # pruning has not begun, and no regret is that low yet
    for solver in (plain, pruned):
        solver.step(600_000)
    assert pruned.updates < 0.98 * plain.updates
    assert measured(pruned, "leduc").exploitability < 0.03
    floored = BlueprintTrainer(*game("leduc"), seed=6, prune=Pruning(threshold=-500.0))
    floored.step(64_000)
    nodes = np.flatnonzero((plain.tree.actor >= 0) & (plain.tree.street == 0))
    lowest = [min(regrets(solver, n, b).min() for n in nodes for b in range(3)) for solver in (plain, floored)]
    assert lowest[0] < -1_000
    assert -500 * 31 / 30 - 0.1 < lowest[1] < -500


# --- traversals in two parts -----------------------------------------------------------------------


@kernel
def _split_traversals(game, cells, block, deals, rule, journal, head, blade):  # type: ignore[no-untyped-def]
    """Traverse the first street and the later streets separately, as a head and its blades do."""
    last = len(game.base) - 1
    n = kernels.begin_traversals(game, cells, block, 0, deals, 0, 0, head)
    n = kernels.descend(game, cells, block, 0, 2 * deals, n, 0, rule, journal, head)
    cuts, below = n.cuts, kernels.NoteLengths(np.int64(0), np.int64(0), np.int64(0))
    for k in range(len(head.sign)):
        blade.sign[k] = head.sign[k]
    for c in range(cuts):
        node, walk = head.cut[c] >> U(35), head.cut[c] & U(127)
        below = kernels.visit_node(game, cells, block.rows, walk >> U(1), node, c, walk, last, blade, below)
    below = kernels.descend(game, cells, block, 0, cuts, below, last, rule, journal, blade)
    kernels.ascend(cells, block, 0, below.own, rule, journal, blade)
    for c in range(cuts):
        head.value[head.cut[c] >> U(7) & U(0xFFFFFFF)] = blade.value[c]
    kernels.ascend(cells, block, 0, n.own, rule, journal, head)
    return cuts


@pytest.mark.slow
def test_traversal_can_be_split_at_a_street() -> None:
    full, split = (BlueprintTrainer(*game("leduc"), seed=9) for _ in range(2))
    part: Any = split.traverser
    notes = trainer_tables.DealGroup(part.game.nodes)
    (block, head), blade = part._workspaces[0], notes.make_notes()
    cuts, rule, journal = 0, part.rule, part._journals
    for begin in range(0, 64 * 20, part.group):
        kernels.prepare_deals(part.game, split.cards.lookup, U(9), begin, part.group, block)
        block.weight[:], block.prune[:] = 1, False
        cuts += _split_traversals(part.game, split.tables.cells, block, part.group, rule, journal, head, blade)
    full.step(64 * 20)
    assert cuts > 64 * 20
    assert split.tables.cells == pytest.approx(full.tables.cells, rel=1e-4, abs=1e-2)


# --- invalid input --------------------------------------------------------------------------


def test_invalid_input() -> None:
    tree, cards = game("leduc")
    with pytest.raises(InputError, match="mode"):
        BlueprintTrainer(tree, cards, mode="raceing")
    with pytest.raises(InputError, match="dtype"):
        BlueprintTrainer(tree, cards, dtype="float16")
    with pytest.raises(InputError, match="threads=0"):
        BlueprintTrainer(tree, cards, threads=0)
    with pytest.raises(InputError, match="boards"):
        BlueprintTrainer(tree, game("kuhn")[1])
    with pytest.raises(InputError, match="weighting"):
        BlueprintTrainer(tree, cards, weighting="cfr+")
    with pytest.raises(InputError, match="threshold 3"):
        Pruning(threshold=3.0)
    solver = BlueprintTrainer(tree, cards)
    with pytest.raises(InputError, match=f"node {len(tree)}"):
        solver.average(len(tree), 0)
    with pytest.raises(InputError, match="buckets"):
        solver.average(0, 3)
    with pytest.raises(InputError, match="cells"):
        solver.restore(BlueprintTrainer(*game("kuhn")).state())
