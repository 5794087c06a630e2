"""Objects of a user's own, named as `module:object`: imported as Python imports them, and called where they are makers.

What goes wrong inside of them is told in one line, with the file and the line where it happened; the exception itself is
the cause of the one that is raised.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from riverboat.core.errors import InputError, shown

_forbidden: str | None = None  # who may not import by name in this process


def forbid(who: str) -> None:
    """Refuse every `module:object` from now on, in this process: `who` serves requests, or works for somebody who does."""
    global _forbidden
    _forbidden = who


def find(what: str, text: str, module: str) -> Any:
    """The module that `text` names; `what` it should have is for errors."""
    if _forbidden is not None:
        raise InputError(
            f"{what} {shown(text)}: code by name is not allowed in {_forbidden}; name what comes with Riverboat"
        )
    with told(what, text, f"{module} cannot be imported"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is not None and f"{module}.".startswith(f"{error.name}."):
                raise InputError(
                    f"{what} {shown(text)}: no module {module!r} here or among what is installed"
                ) from None
            raise  # the module is there, and needs another that is not


def attribute(what: str, text: str, module: str, name: str) -> Any:
    """The object of a module that `text` names."""
    home = find(what, text, module)
    try:
        return getattr(home, name)
    except AttributeError:
        raise InputError(f"{what} {shown(text)}: {module} has no {name!r}") from None


@contextmanager
def told(what: str, text: str, problem: str) -> Iterator[None]:
    """Whatever a user's code raises becomes an InputError that says where."""
    try:
        yield
    except (KeyboardInterrupt, InputError):
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{what} {shown(text)}: {problem}: {type(error).__name__}: {error}{_place(error)}") from error


def _place(error: BaseException) -> str:
    """File and line where an exception was raised, or that does not parse."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({error.filename}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if not frame.filename.startswith("<") and frame.filename != __file__]
    return f" ({outside[-1].filename}, line {outside[-1].lineno})" if outside else ""
