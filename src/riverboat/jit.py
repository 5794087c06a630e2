"""How loops are compiled, once for the whole project.

Kernels take arrays and allocate nothing, so they need no reference counts: without them (`_nrt=False`) a walk of a small
game is several times faster and quicker to compile. `part` marks the small pieces of a kernel: they are inlined, since a
call that passes a tuple of arrays costs more than the work behind it, and are never called from Python.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

from numba import config, njit

# Re-association lets sums use vector registers; NaN and infinity keep their meaning. Multiplications and additions are
# not fused: where that happens depends on what is inlined where, and equal runs must stay equal bit for bit.
FAST = {"reassoc", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": FAST, "_nrt": False}
_PART: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

kernel: Any = njit(cache=True, **OPTIONS)
part: Any = njit(cache=True, **OPTIONS, **_PART)


def _drop_stale(package: Path) -> None:
    """Forget compiled loops when any of their sources has changed.

    Numba looks only at the file of the function it loads, not at the files of what was inlined into it.
    """
    sources = [
        p
        for p in sorted(package.rglob("*.py"))
        if "kernels" in p.name or p.name in ("_loops.py", "jit.py", "rng.py", "arrays.py", "lanes.py", "counter.py")
    ]
    facts = [(p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in sources]
    stamp = hashlib.sha256(repr(facts).encode()).hexdigest()
    elsewhere = getattr(config, "CACHE_DIR", "")
    folder = Path(elsewhere) if elsewhere else package
    note = folder / "__pycache__" / "kernels.stamp"
    with contextlib.suppress(OSError):  # a place that cannot be written to has no caches of ours either
        if not note.exists() or note.read_text() != stamp:
            modules = {p.stem for p in sources}
            for index in folder.rglob("*.nbi"):
                if index.name.split(".")[0] in modules:
                    index.unlink(missing_ok=True)
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(stamp)


_drop_stale(Path(__file__).parent)
