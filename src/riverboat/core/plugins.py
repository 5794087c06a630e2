"""Plugins: objects of users that are named as `module:object` and imported like any Python module.

Errors inside of them become one line with the file and line number; the original exception is the cause.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from riverboat.core.errors import InputError, short_repr

_forbidden: str | None = None  # what forbids imports by name in this process, for messages


def forbid_imports(who: str) -> None:
    """Forbid every `module:object` in this process from now on, because `who` serves untrusted requests."""
    global _forbidden
    _forbidden = who


def import_user_module(kind: str, spec: str, module: str) -> Any:
    """Import the module that `spec` names; `kind` says in errors what it was expected to be."""
    subject = f"{kind} {short_repr(spec)}"
    if _forbidden is not None:
        raise InputError(
            f"{subject}: code by name is not allowed in {_forbidden}; use a name that comes with Riverboat"
        )
    with user_code_errors(kind, spec, f"{module} cannot be imported"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is not None and f"{module}.".startswith(f"{error.name}."):
                text = f"{subject}: no module {module!r} in this folder or among the installed packages"
                raise InputError(text) from None
            raise  # the module exists, but imports another that does not


def import_user_object(kind: str, spec: str, module: str, name: str) -> Any:
    """Import the object of a module that `spec` names."""
    home = import_user_module(kind, spec, module)
    try:
        return getattr(home, name)
    except AttributeError:
        raise InputError(f"{kind} {short_repr(spec)}: {module} has no {name!r}") from None


@contextmanager
def user_code_errors(kind: str, spec: str, problem: str) -> Iterator[None]:
    """Turn exceptions of a user's code inside the block into InputErrors with file and line."""
    try:
        yield
    except (KeyboardInterrupt, InputError):
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{kind} {short_repr(spec)}: {problem}: {type(error).__name__}: {error}{error_location(error)}"
        ) from error


def error_location(error: BaseException) -> str:
    """Return file and line where an exception was raised, or where a file does not parse."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({error.filename}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if not frame.filename.startswith("<") and frame.filename != __file__]
    return f" ({outside[-1].filename}, line {outside[-1].lineno})" if outside else ""
