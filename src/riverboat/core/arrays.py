"""One name for NumPy arrays in type hints; shapes stand in comments beside it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
