"""Write arrays to `.npy` files, and read those that anybody may have made: mapped into memory, or refused as corrupt.

NumPy's own reader evaluates the header as Python, with several fallbacks, and raises whatever these raise. Riverboat
writes one form of header only, so it is parsed by a pattern. Nothing is allocated before the size of the file agrees.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError

_MAGIC = b"\x93NUMPY"
_LENGTHS = {(1, 0): 2, (2, 0): 4}  # bytes that the length of the header has, by version of the format
_LONGEST = 4096  # bytes of a header
_DIMENSIONS = 8
_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z]\d{1,2})', 'fortran_order': False, 'shape': \(((?:\d{1,19}, ?)*(?:\d{1,19})?)\), \} *\n"
)
_DTYPES = {
    np.dtype(kind).newbyteorder("<").str.encode(): np.dtype(kind)
    for kind in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}


def write_numbers(path: Path, array: Array) -> None:
    """Write an array as `numpy.save` does, except that a full disk is an error that says so.

    NumPy writes past Python's files, and reports how many numbers were not written, without the reason.
    """
    rows = np.ascontiguousarray(array)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        file.write(rows.reshape(-1).view(np.uint8).data)


def map_numbers(path: Path, *, private: bool = False) -> Array:
    """Map the numbers of a `.npy` file into memory.

    Parameters
    ----------
    path
        File as `numpy.save` writes it: booleans, integers or floats, little-endian, row by row.
    private
        Whether the result can be written to, in memory alone.

    Raises
    ------
    CorruptError
        The file is of any other form, shorter or longer than its header says.
    """
    with path.open("rb") as file:
        dtype, shape, offset = _header(path, file.read(len(_MAGIC) + 6 + _LONGEST))
        size = file.seek(0, 2)
    needed = offset + dtype.itemsize * prod(shape)
    if size != needed:
        raise _corrupt(path, f"{size:,} bytes where its header asks for {needed:,}")
    if needed == offset:
        return np.zeros(shape, dtype)  # nothing cannot be mapped
    array: Array = np.memmap(path, dtype, "c" if private else "r", offset, shape)
    return array.view(np.ndarray) if private else array


def _header(path: Path, start: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...], int]:
    """Parse the header: dtype, shape, and where the numbers begin."""
    version = tuple(start[len(_MAGIC) : len(_MAGIC) + 2])
    if not start.startswith(_MAGIC) or version not in _LENGTHS:
        raise _corrupt(path, "it does not begin as a .npy file of version 1 or 2 does")
    begin = len(_MAGIC) + 2 + _LENGTHS[version]
    length = int.from_bytes(start[len(_MAGIC) + 2 : begin], "little")
    if length > _LONGEST:
        raise _corrupt(path, f"a header of {length:,} bytes, where {_LONGEST:,} are the most")
    said = _HEADER.fullmatch(start[begin : begin + length])
    if said is None or said[1] not in _DTYPES:
        raise _corrupt(path, "its header must say booleans, integers or floats, little-endian and row by row")
    shape = tuple(int(number) for number in said[2].replace(b",", b" ").split())
    if len(shape) > _DIMENSIONS or any(count >= 1 << 48 for count in shape):
        raise _corrupt(path, f"a shape of {shape}")
    return _DTYPES[said[1]], shape, begin + length


def _corrupt(path: Path, why: str) -> CorruptError:
    return CorruptError(f"{path}: is no array of numbers: {why}")
