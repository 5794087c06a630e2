"""Where walks run: on processors, or on a GPU where there is one."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from riverboat.core.errors import InputError, shown
from riverboat.engines.cpu.batch_engine import BatchWalker
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.rules import LocalRule
from riverboat.engines.tables import Format
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree

if TYPE_CHECKING:
    from riverboat.engines.cuda.board_engine import CudaBatch, CudaWalker

AnyWalker: TypeAlias = "BoardWalker | CudaWalker"
AnyBatch: TypeAlias = "BatchWalker | CudaBatch"
CPU, CUDA, AUTO = "cpu", "cuda", "auto"
DEVICES = (CPU, CUDA, AUTO)


def why_not() -> str | None:
    """Why nothing can run on a GPU here, or None."""
    if importlib.util.find_spec("numba.cuda") is None:
        return "numba has no CUDA here: install riverboat[gpu]"
    from riverboat.engines.cuda.compilation import why_not as answer

    return answer()


def check_device(device: str) -> None:
    """Refuse what is no device, wherever the work is done."""
    if device not in DEVICES:
        raise InputError(f"device {shown(device)}: one of {', '.join(DEVICES)}")


def choose(device: str) -> str:
    """`cpu` or `cuda` for what was asked: `auto` takes what there is, `cuda` is refused where it is not."""
    check_device(device)
    if device == CPU:
        return CPU
    reason = why_not()
    if device == CUDA and reason is not None:
        raise InputError(f"device 'cuda': {reason}; take 'cpu', or 'auto' for whatever there is")
    return CUDA if reason is None else CPU


class Learning(TypedDict, total=False):
    """How walkers learn: `predictive`, `simultaneous` and `stakes` by the schedule; the rest is for processors."""

    predictive: bool
    simultaneous: bool
    stakes: float
    threads: int
    rule: LocalRule | None
    memory: int | None


def learner(device: str, tree: BoardTree, form: Format, **how: Unpack[Learning]) -> AnyWalker:
    """A walker with tables of its own on a device, `cpu` or `cuda`."""
    if device == CPU:
        return BoardWalker.learner(tree, form, **how)
    from riverboat.engines.cuda.board_engine import CudaWalker

    return CudaWalker(tree, form, **_on_device(tree, how))


def batch_learner(device: str, trees: Sequence[BoardTree], form: Format, **how: Unpack[Learning]) -> AnyBatch:
    """A walker of many trees: on processors of one shape, on a GPU of one number of streets."""
    if device == CPU:
        return BatchWalker(trees, form, **how)
    from riverboat.engines.cuda.board_engine import CudaBatch

    return CudaBatch(trees, form, **_on_device(trees[0], how))


def _on_device(tree: BoardTree, how: Learning) -> Any:
    """What a device needs of it."""
    rule = how.get("rule")
    if rule is not None:
        raise InputError(f"{tree.name}: rule {rule.name!r} of one's own runs on processors: take device='cpu'")
    return {name: how[name] for name in ("predictive", "simultaneous", "stakes") if name in how}


def reader(device: str, tree: BoardTree, average: Array, *, threads: int = 1, root: Array | None = None) -> AnyWalker:
    """A walker that evaluates and responds to a table of averages; `root` are those of what stands at the root."""
    if device == CPU:
        return BoardWalker.reader(tree, average, threads, root=root)
    from riverboat.engines.cuda.board_engine import CudaWalker

    return CudaWalker.reader(tree, average, root)


def nearest_finder(device: str) -> Callable[[Array, bool], Callable[[Array, Array, Array], None]] | None:
    """What finds the nearest centres of points on a GPU; None: the processor does."""
    if choose(device) == CPU:
        return None
    from riverboat.engines.cuda.points import Nearest

    return Nearest


def free_memory(device: str) -> int | None:
    """Bytes that a GPU has free; of a processor None: its walkers ask for themselves."""
    if device == CPU:
        return None
    from riverboat.engines.cuda.board_engine import free_bytes

    return free_bytes()
