"""Choice of the device for engines: the processor, or a GPU if there is one."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from riverboat.core.errors import InputError, short_repr
from riverboat.engines.cpu.board_engine import CpuBatchEngine, CpuBoardEngine
from riverboat.engines.protocol import EngineOptions
from riverboat.engines.tables import TableFormat
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree

if TYPE_CHECKING:
    from riverboat.engines.cuda.board_engine import CudaBatchEngine, CudaBoardEngine

AnyBoardEngine: TypeAlias = "CpuBoardEngine | CudaBoardEngine"
AnyBatchEngine: TypeAlias = "CpuBatchEngine | CudaBatchEngine"
CPU, CUDA, AUTO = "cpu", "cuda", "auto"
DEVICES = (CPU, CUDA, AUTO)


def cuda_unavailable_reason() -> str | None:
    """Return why CUDA is not available, or None if it is.

    Returns
    -------
    str or None
        The reason, for a message.

    Examples
    --------
    >>> from riverboat.engines.devices import cuda_unavailable_reason
    >>> reason = cuda_unavailable_reason()
    >>> reason is None or isinstance(reason, str)
    True
    """
    if importlib.util.find_spec("numba.cuda") is None:
        return "numba-cuda is not installed: install riverboat[gpu]"
    from riverboat.engines.cuda.compilation import cuda_unavailable_reason as answer

    return answer()


def check_device(device: str) -> None:
    """Raise InputError for an unknown device name.

    Parameters
    ----------
    device
        Name to check: "cpu", "cuda" or "auto".

    Raises
    ------
    InputError
        If the name is another one.

    Examples
    --------
    >>> from riverboat.engines.devices import check_device
    >>> check_device("auto")
    """
    if device not in DEVICES:
        raise InputError(f"device {short_repr(device)}: one of {', '.join(DEVICES)}")


def resolve_device(device: str) -> str:
    """Return `cpu` or `cuda` for a device name.

    Parameters
    ----------
    device
        "cpu", "cuda", or "auto": a GPU if there is one.

    Returns
    -------
    str
        "cpu" or "cuda".

    Raises
    ------
    InputError
        If the name is unknown, or "cuda" is requested and no GPU is available.

    Examples
    --------
    >>> from riverboat.engines.devices import resolve_device
    >>> resolve_device("cpu")
    'cpu'
    """
    check_device(device)
    if device == CPU:
        return CPU
    reason = cuda_unavailable_reason()
    if device == CUDA and reason is not None:
        raise InputError(f"device 'cuda': {reason}; use 'cpu', or 'auto' for the best available device")
    return CUDA if reason is None else CPU


def create_engine(device: str, tree: BoardTree, form: TableFormat, **how: Unpack[EngineOptions]) -> AnyBoardEngine:
    """Create an engine with its own tables on a device.

    Parameters
    ----------
    device
        "cpu" or "cuda".
    tree
        Betting and boards.
    form
        Format of the tables.
    how
        Options of `EngineOptions`; `threads`, `rule` and `memory` are for processors.

    Returns
    -------
    CpuBoardEngine or CudaBoardEngine
        The engine.

    Raises
    ------
    InputError
        If a user-defined rule is requested on a GPU.
    MemoryLimitError
        If the tables do not fit.

    Examples
    --------
    >>> from riverboat.engines.devices import create_engine
    >>> from riverboat.engines.tables import parse_table_format
    >>> from riverboat.games.boards.holdem import holdem
    >>> from riverboat.trees.boards import BoardTree
    >>> engine = create_engine("cpu", BoardTree(holdem("2-1", ranks=4, suits=2)), parse_table_format("float64"))
    >>> engine.table_names
    ('regret', 'average')
    """
    if device == CPU:
        return CpuBoardEngine(tree, form, **how)
    from riverboat.engines.cuda.board_engine import CudaBoardEngine

    return CudaBoardEngine(tree, form, **_cuda_options(tree, how))


def create_batch_engine(
    device: str, trees: Sequence[BoardTree], form: TableFormat, **how: Unpack[EngineOptions]
) -> AnyBatchEngine:
    """Create an engine for many trees, which are solved together.

    Parameters
    ----------
    device
        "cpu" or "cuda".
    trees
        Trees of one shape on processors, with one number of streets on a GPU.
    form
        Format of the tables.
    how
        Options of `EngineOptions`; `threads`, `rule` and `memory` are for processors.

    Returns
    -------
    CpuBatchEngine or CudaBatchEngine
        The engine.

    Raises
    ------
    InputError
        If a user-defined rule is requested on a GPU.
    MemoryLimitError
        If the tables do not fit.

    Examples
    --------
    >>> from riverboat.engines.devices import create_batch_engine
    >>> from riverboat.engines.tables import parse_table_format
    >>> from riverboat.games.boards.holdem import holdem
    >>> from riverboat.trees.boards import BoardTree
    >>> trees = [BoardTree(holdem("2-1", ranks=4, suits=2))] * 2
    >>> len(create_batch_engine("cpu", trees, parse_table_format("float64")).trees)
    2
    """
    if device == CPU:
        return CpuBatchEngine(trees, form, **how)
    from riverboat.engines.cuda.board_engine import CudaBatchEngine

    return CudaBatchEngine(trees, form, **_cuda_options(trees[0], how))


def _cuda_options(tree: BoardTree, options: EngineOptions) -> Any:
    """Return those options that a CUDA engine supports; raise InputError for a user-defined rule."""
    rule = options.get("rule")
    if rule is not None:
        raise InputError(
            f"{tree.name}: rule {rule.name!r} is user-defined and runs on processors only: use device='cpu'"
        )
    return {name: options[name] for name in ("predictive", "simultaneous", "stakes") if name in options}


def engine_from_average(
    device: str, tree: BoardTree, average: Array, *, threads: int = 1, root_average: Array | None = None
) -> AnyBoardEngine:
    """Create an engine that evaluates a table of averages and responds to it.

    Parameters
    ----------
    device
        "cpu" or "cuda".
    tree
        Betting and boards.
    average
        Table of averages. float [table]
    threads
        Threads of a processor; results do not depend on it.
    root_average
        Averages of the gadget at the root, if there is one.

    Returns
    -------
    CpuBoardEngine or CudaBoardEngine
        The engine.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.engines.devices import engine_from_average
    >>> from riverboat.engines.tables import TABLE_PADDING
    >>> from riverboat.games.boards.holdem import holdem
    >>> from riverboat.trees.boards import BoardTree
    >>> tree = BoardTree(holdem("2-1", ranks=4, suits=2))
    >>> engine = engine_from_average("cpu", tree, np.zeros(tree.table_size + TABLE_PADDING, np.float32))
    >>> engine.table_names[-1]
    'average'
    """
    if device == CPU:
        return CpuBoardEngine.from_average(tree, average, threads, root_average=root_average)
    from riverboat.engines.cuda.board_engine import CudaBoardEngine

    return CudaBoardEngine.from_average(tree, average, root_average)


def nearest_centroid_finder(device: str) -> Callable[[Array, bool], Callable[[Array, Array, Array], None]] | None:
    """Return the search of nearest centroids on a GPU.

    Parameters
    ----------
    device
        "cpu", "cuda" or "auto".

    Returns
    -------
    callable or None
        Class that is made from the points and finds nearest centroids; None for the processor.

    Raises
    ------
    InputError
        If the name is unknown, or "cuda" is requested and no GPU is available.

    Examples
    --------
    >>> from riverboat.engines.devices import nearest_centroid_finder
    >>> nearest_centroid_finder("cpu") is None
    True
    """
    if resolve_device(device) == CPU:
        return None
    from riverboat.engines.cuda.nearest_centroid import NearestCentroidFinder

    return NearestCentroidFinder


def free_memory(device: str) -> int | None:
    """Return the free memory of a GPU.

    Parameters
    ----------
    device
        "cpu" or "cuda".

    Returns
    -------
    int or None
        Bytes; None for a processor, whose engines check it themselves.

    Examples
    --------
    >>> from riverboat.engines.devices import free_memory
    >>> free_memory("cpu") is None
    True
    """
    if device == CPU:
        return None
    from riverboat.engines.cuda.board_engine import free_bytes

    return free_bytes()
