"""Type alias for NumPy arrays, normalization, and reading and writing of `.npy` files.

Type hints say `Array`; shapes stand in comments on the same line. `map_npy` accepts files of unknown origin: it maps
them into memory, or rejects them as corrupt.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from riverboat.core.errors import CorruptError

Array: TypeAlias = npt.NDArray[Any]


def zeros(shape: int | tuple[int, ...], **dtypes: Any) -> dict[str, Any]:
    """Allocate several arrays of one shape, by name and dtype, as fields of a workspace."""
    return {name: np.zeros(shape, dtype) for name, dtype in dtypes.items()}


def aligned_zeros(count: int, dtype: Any) -> Array:
    """Allocate zeros aligned to 64 bytes: loads of SIMD vectors across cache lines are slow.

    NumPy asks Linux for huge pages for large arrays, on which first touch costs a tenth.
    """
    size = np.dtype(dtype).itemsize
    memory = np.zeros(count * size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count * size].view(dtype)


def safe_divide(numerator: Array, denominator: Array, otherwise: Array | float = 0.0) -> Array:
    """Return numerator / denominator where the denominator is positive, and `otherwise` elsewhere."""
    positive = denominator > 0
    return np.where(positive, numerator / np.where(positive, denominator, 1.0), otherwise)


def normalize(weights: Array, axis: int = 0) -> Array:
    """Divide weights by their sum along an axis; uniform where the sum is zero."""
    return safe_divide(weights, weights.sum(axis=axis, keepdims=True), 1.0 / weights.shape[axis])


# --- .npy files ---

_MAGIC = b"\x93NUMPY"
_HEADER_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4}  # size of the header's length field, by format version
_MAX_HEADER_BYTES = 4096
_MAX_DIMENSIONS = 8
_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z]\d{1,2})', 'fortran_order': False, 'shape': \(((?:\d{1,19}, ?)*(?:\d{1,19})?)\), \} *\n"
)
_DTYPES = {
    np.dtype(kind).newbyteorder("<").str.encode(): np.dtype(kind)
    for kind in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}


def write_npy(path: Path, array: Array) -> None:
    """Write an array as `numpy.save` does, but report a full disk as such.

    NumPy bypasses Python's files. Its error says how many numbers were not written, without the reason.
    """
    rows = np.ascontiguousarray(array)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        file.write(rows.reshape(-1).view(np.uint8).data)


def map_npy(path: Path, *, private: bool = False) -> Array:
    """Map the array of a `.npy` file into memory.

    Parameters
    ----------
    path
        File as `numpy.save` writes it: booleans, integers or floats, little-endian, C order.
    private
        Whether the result is writable. Writes stay in memory.

    Raises
    ------
    CorruptError
        The file has another form, or its size differs from what its header says.
    """
    with path.open("rb") as file:
        dtype, shape, offset = _parse_header(path, file.read(len(_MAGIC) + 6 + _MAX_HEADER_BYTES))
        size = file.seek(0, 2)
    needed = offset + dtype.itemsize * prod(shape)
    if size != needed:
        raise _corrupt_npy(path, f"{size:,} bytes where its header asks for {needed:,}")
    if needed == offset:
        return np.zeros(shape, dtype)  # an empty range cannot be mapped
    array: Array = np.memmap(path, dtype, "c" if private else "r", offset, shape)
    return array.view(np.ndarray) if private else array


def _parse_header(path: Path, start: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...], int]:
    """Parse the header and return dtype, shape, and offset of the data."""
    version = tuple(start[len(_MAGIC) : len(_MAGIC) + 2])
    if not start.startswith(_MAGIC) or version not in _HEADER_LENGTH_BYTES:
        raise _corrupt_npy(path, "it does not begin like a .npy file of version 1 or 2")
    begin = len(_MAGIC) + 2 + _HEADER_LENGTH_BYTES[version]
    length = int.from_bytes(start[len(_MAGIC) + 2 : begin], "little")
    if length > _MAX_HEADER_BYTES:
        raise _corrupt_npy(path, f"a header of {length:,} bytes, at most {_MAX_HEADER_BYTES:,} are allowed")
    header = _HEADER.fullmatch(start[begin : begin + length])
    if header is None or header[1] not in _DTYPES:
        raise _corrupt_npy(path, "its header must describe booleans, integers or floats, little-endian, in C order")
    shape = tuple(int(number) for number in header[2].replace(b",", b" ").split())
    if len(shape) > _MAX_DIMENSIONS or any(count >= 1 << 48 for count in shape):
        raise _corrupt_npy(path, f"a shape of {shape}")
    return _DTYPES[header[1]], shape, begin + length


def _corrupt_npy(path: Path, why: str) -> CorruptError:
    return CorruptError(f"{path}: not a valid array of numbers: {why}")
