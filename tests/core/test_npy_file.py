"""`.npy` files of unknown origin: arrays or CorruptError, with little memory in either case."""

from __future__ import annotations

import hashlib
import json
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from riverboat.core import artifacts
from riverboat.core.arrays import Array, map_npy
from riverboat.core.errors import CorruptError

MOST = 4 << 20  # bytes that reading a small file may allocate
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
NUMBERS = np.arange(12.0).reshape(3, 4)

kinds = st.sampled_from([np.dtype(kind) for kind in DTYPES])
arrays = kinds.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)))
anywhere = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def header(text: str, version: bytes = b"\x01\x00") -> bytes:
    """Return the start of a file with any header."""
    body = text.encode()
    return b"\x93NUMPY" + version + len(body).to_bytes(2 if version[:1] == b"\x01" else 4, "little") + body


def said(descr: str = "'<f8'", order: str = "False", shape: str = "(3, 4)", end: str = ", }\n") -> bytes:
    """Return a file with one part of the header changed."""
    return header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}{end}") + NUMBERS.tobytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact to be forged."""
    return artifacts.write(tmp_path_factory.mktemp("npy") / "thing", "test", {"numbers": NUMBERS}, {})


def forge(folder: Path, body: bytes) -> None:
    """Replace the bytes of the array, with the right checksums."""
    (folder / "numbers.npy").write_bytes(body)
    made = json.loads((folder / artifacts.MANIFEST).read_text())["manifest"]
    made["files"]["numbers.npy"] = {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    signed = json.dumps(made, indent=2, sort_keys=True)
    text = json.dumps({"manifest": made, "sha256": hashlib.sha256(signed.encode()).hexdigest()})
    (folder / artifacts.MANIFEST).write_text(text)


def read_forged(folder: Path, body: bytes) -> Array | None:
    """Read a forged array; None if it is corrupt. Reading must allocate little memory."""
    forge(folder, body)
    artifacts._CHECKSUM_CACHE.clear()  # two files of one size within one tick of the clock
    tracemalloc.start()
    try:
        _, found = artifacts.read(folder)
        return found["numbers"]
    except CorruptError:
        return None
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MOST


@given(array=arrays)
@anywhere
def test_arrays_of_numpy_round_trip(tmp_path_factory: pytest.TempPathFactory, array: Array) -> None:
    path = tmp_path_factory.getbasetemp() / "any.npy"
    np.save(path, np.ascontiguousarray(array))
    for private in (False, True):
        found = map_npy(path, private=private)
        assert (found.dtype, found.shape) == (array.dtype, np.ascontiguousarray(array).shape)
        assert found.tobytes() == array.tobytes()
        assert found.flags.writeable == (private or not found.size)


FORGED = {
    "other dtype": said("'<f4'"),
    "other byte order": said("'>f8'"),
    "objects": said("'|O'"),
    "texts": said("'<U2'"),
    "long floats": said("'<f16'"),
    "complex": said("'<c16'"),
    "fields": said("[('a', '<f8')]"),
    "column by column": said(order="True"),
    "no order": said(order="None"),
    "more rows": said(shape="(4, 4)"),
    "fewer rows": said(shape="(2, 4)"),
    "2^60 numbers": said(shape="(1152921504606846976,)"),
    "2^120 numbers": said(shape="(1152921504606846976, 1152921504606846976)"),
    "2^63 bytes and none": said(shape="(9223372036854775807, 0)"),
    "many digits": said(shape="(" + "9" * 3000 + ",)"),
    "negative": said(shape="(-3, -4)"),
    "many dimensions": said(shape="(" + "1, " * 60 + "12)"),
    "a list": said(shape="[3, 4]"),
    "a number": said(shape="12"),
    "true": said(shape="(True, 12)"),
    "not closed": said(shape="(3, 4", end=""),
    "not a literal": said(shape="__import__('os').abort()"),
    "deep": header("(" * 3000 + ")" * 900),
    "a comment": said(end=", } # \n"),
    "one more entry": said(end=", 'more': 1, }\n"),
    "nothing": header(""),
    "no text": header("") + b"\xff" * 100,
    "length beyond the file": b"\x93NUMPY\x01\x00\xff\xff" + bytes(50),
    "length beyond memory": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(50),
    "version 3": header("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }\n", b"\x03\x00"),
    "version 9": header("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }\n", b"\x09\x00"),
    "wrong magic": b"\x92" + said()[1:],
    "truncated numbers": said()[:-1],
    "truncated header": said()[:30],
    "truncated magic": said()[:4],
    "empty": b"",
    "extra data": said() + b"\0",
    "zip": b"PK\x03\x04" + bytes(100),
    "pickle": b"\x80\x04\x95" + bytes(100),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_corrupt(place: Path, name: str) -> None:
    assert read_forged(place, FORGED[name]) is None
    with pytest.raises(CorruptError, match=re.escape(str(place / "numbers.npy"))):
        artifacts.read(place)


def test_the_forgery_helper_can_write_valid_files(place: Path) -> None:
    found = read_forged(place, said())
    assert found is not None
    assert found.tobytes() == NUMBERS.tobytes()


changes = st.lists(
    st.tuples(st.integers(0, 130), st.integers(0, 2), st.one_of(st.binary(max_size=3), st.sampled_from(
        [b"(", b")", b"'", b"{", b"}", b",", b"0", b"9" * 18, b"\n", b"#", b"\\", b"O", b"U", b">", b"True", b"None", b"-"]
    ))),
    min_size=1, max_size=4,
)  # fmt: skip


@given(changes=changes)
@settings(anywhere, max_examples=300)
def test_mutated_headers_are_valid_or_corrupt(place: Path, changes: list[tuple[int, int, bytes]]) -> None:
    """Bytes of the header are replaced, removed and inserted."""
    body = said()
    for at, removed, inserted in changes:
        body = body[:at] + inserted + body[at + removed :]
    found = read_forged(place, body)
    assert found is None or found.nbytes <= len(body)
