"""Compilation of the board traversal for a GPU, and detection of CUDA devices.

Numba compiles for the device when a kernel is first launched. Without a device its simulator runs the same functions in
Python (`NUMBA_ENABLE_CUDASIM=1`), one Python thread for each CUDA thread, for tests of small trees.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numba import from_dtype

from riverboat.core.errors import InputError
from riverboat.engines.cuda._kernels import board as kernels
from riverboat.engines.cuda._kernels import intrinsics
from riverboat.engines.cuda._kernels import node as node_kernels
from riverboat.engines.cuda._kernels import root as root_kernels
from riverboat.engines.tables import TableFormat

cuda: Any = intrinsics.cuda
SIMULATED: bool = intrinsics.SIMULATED
MAX_SHARED_MEMORY = 232_448  # most bytes of shared memory for a block
SM_SHARED_MEMORY, BLOCK_RESERVED_MEMORY = 233_472, 1024  # bytes of a multiprocessor; bytes reserved by each block
SM_PARTITIONS, PARTITION_REGISTERS, WARP_SIZE = 4, 16_384, 32  # in a multiprocessor; in a partition; threads
DYNAMIC_MEMORY_ATTRIBUTE = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
# Modules of functions that run on a device.
KERNEL_MODULES = {f"{kernels.__package__}.{name}" for name in ("board", "external", "node", "public_chance", "root")}
DEVICE_FUNCTION_OPTIONS = {} if SIMULATED else {"forceinline": True}


def cuda_unavailable_reason() -> str | None:
    """Return why CUDA is not available, or None if it is."""
    if SIMULATED:
        return None
    try:
        return None if cuda.is_available() else "there is no CUDA device"
    except Exception as error:  # a driver that is installed but does not work
        return f"CUDA does not work: {error}".splitlines()[0]


@cache
def compile_traversal(form: TableFormat, **constants: int) -> Any:
    """Compile the kernel `traverse` for a table format and for constants of the kernels' modules, in lower case.

    Each variant has its own constants, so code that is not needed is left out.
    """
    work = np.dtype(form.compute)
    names: dict[str, Any] = {**vars(root_kernels), **vars(node_kernels), **vars(kernels)}
    names.update({name.upper(): value for name, value in constants.items()})
    names["real"], names["COMPUTE_TYPE"] = work.type, from_dtype(work)
    device = cuda.jit(device=True, **DEVICE_FUNCTION_OPTIONS)
    names["divide"] = device(intrinsics.divide if work == np.float64 else intrinsics.divide_fast)
    inner = {**vars(intrinsics), "rounding_threshold": device(intrinsics.rounding_threshold)}
    for table, kind in (("regret", form.regret), ("average", form.average)):
        read, write = intrinsics.CODECS.get(kind, (intrinsics.load_entry, intrinsics.store_entry))
        names[f"fetch_{table}"] = device(bind_globals(read, inner))
        names[f"keep_{table}"] = device(bind_globals(write, inner))
    limits = {} if SIMULATED else {"max_registers": _max_registers(bool(constants["one_street"]))}
    return cuda.jit(link_device_functions(kernels.traverse, names), **limits)


def threads_per_block(stride: int, memory: int, one_street: bool) -> int:
    """Return the threads of a block that give the most active threads on a multiprocessor.

    Three blocks are better than one or two with as many threads in total: while one waits for its threads, others
    continue. `stride`: numbers of a vector; `memory`: bytes of shared memory of a block.
    """
    warps = SM_PARTITIONS * (PARTITION_REGISTERS // (WARP_SIZE * _max_registers(one_street)))

    def active_threads(threads: int) -> int:
        blocks = min(SM_SHARED_MEMORY // (memory + BLOCK_RESERVED_MEMORY), warps * WARP_SIZE // threads)
        return threads * blocks * min(blocks, 3)

    return max(
        range(2 * WARP_SIZE, min(max(2 * WARP_SIZE, stride), warps * WARP_SIZE) + 1, WARP_SIZE), key=active_threads
    )


def _max_registers(one_street: bool) -> int:
    """Return the most registers of a thread: with fewer they spill to memory, with more fewer threads are active."""
    return 96 if one_street else 128


def prepare_kernel(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Compile a kernel by an empty launch, and raise its limit of dynamic shared memory, which Numba does not do."""
    if SIMULATED or kernel.overloads:
        return
    kernel[1, 32](*arguments)
    (compiled,) = kernel.overloads.values()
    handle = compiled._codelibrary.get_cufunc().handle
    function = ctypes.c_void_p(getattr(handle, "value", None) or int(handle))
    driver = ctypes.CDLL("libcuda.so.1")
    if driver.cuFuncSetAttribute(function, DYNAMIC_MEMORY_ATTRIBUTE, MAX_SHARED_MEMORY):
        device = ctypes.c_int(cuda.get_current_device().id)
        code = driver.cuKernelSetAttribute(DYNAMIC_MEMORY_ATTRIBUTE, MAX_SHARED_MEMORY, function, device)
        if code:
            raise InputError(
                f"the device does not allow {MAX_SHARED_MEMORY} bytes of shared memory for a block: CUDA error {code}"
            )


def bind_globals(function: Any, names: dict[str, Any]) -> FunctionType:
    """Return a function with the same code and `names` as its globals."""
    return FunctionType(function.__code__, names, function.__name__)


def link_device_functions(function: Any, names: dict[str, Any]) -> FunctionType:
    """Return a function with other globals, in which the kernels' functions that it calls are compiled for the device.

    They replace the originals in `names`, so each is compiled once.
    """
    for name in function.__code__.co_names:
        callee = names.get(name)
        if isinstance(callee, FunctionType) and callee.__module__ in KERNEL_MODULES:
            device = cuda.jit(device=True, **DEVICE_FUNCTION_OPTIONS)
            names[name] = device(link_device_functions(callee, names))
    return bind_globals(function, names)


def compile_kernels(names: dict[str, Any], kernels: Iterable[str], **options: dict[str, Any]) -> SimpleNamespace:
    """Compile some kernels of a module whose globals are `names`, with options by kernel."""
    linked = {name: link_device_functions(names[name], names) for name in kernels}
    return SimpleNamespace(**{name: cuda.jit(code, **options.get(name, {})) for name, code in linked.items()})


@cache
def compile_for_device(loop: Any) -> Any:
    """Compile an inlined function (`riverboat.compiled.jit.inline`), and those that it calls, for the device."""
    function = loop.py_func
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = compile_for_device(names[name])
    return cuda.jit(device=True, **DEVICE_FUNCTION_OPTIONS)(bind_globals(function, names))
