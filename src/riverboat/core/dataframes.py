"""Tables for pandas, where it is installed. Riverboat itself does without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from riverboat.core.errors import InputError


def frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A `pandas.DataFrame` of named columns."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError(
            "to_frame() needs pandas, which is not installed: pip install pandas, or use to_dict()"
        ) from None
    return pandas.DataFrame(dict(columns))
