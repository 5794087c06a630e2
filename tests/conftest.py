"""What all tests share. Each core has a process of its own, so libraries in it get one thread."""

from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL"):  # before NumPy is loaded
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
