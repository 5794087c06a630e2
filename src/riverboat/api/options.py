"""Options of the verbs, defined once: the signature and docstring of an API function also make its command and web form.

Names, types and defaults are those of the function's signature, limits are `Limits` in its annotations, and the help
text is the first sentence of the parameter's entry in the docstring. Times, sizes and targets are numbers, or texts as
in the terminal. Signatures are read from the source, so that `riverboat COMMAND --help` imports nothing heavy.
"""

from __future__ import annotations

import ast
import collections.abc
import importlib.util
import inspect
import re
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal

from riverboat.core.arguments import MAX_COUNT as MAX_COUNT
from riverboat.core.arguments import MAX_SEED as MAX_SEED
from riverboat.core.arguments import AnnotationNames, evaluate_annotation
from riverboat.core.arguments import ByteSize as ByteSize
from riverboat.core.arguments import Count as Count
from riverboat.core.arguments import Duration as Duration
from riverboat.core.arguments import Limits as Limits
from riverboat.core.arguments import PositiveCount as PositiveCount
from riverboat.core.arguments import Seat as Seat
from riverboat.core.arguments import Seed as Seed
from riverboat.core.arguments import Target as Target
from riverboat.core.arguments import Threads as Threads
from riverboat.core.arguments import checked as checked
from riverboat.core.arguments import parse_byte_size as parse_byte_size
from riverboat.core.arguments import parse_count as parse_count
from riverboat.core.arguments import parse_seconds as parse_seconds
from riverboat.core.arguments import parse_target as parse_target

MAX_PORT = 2**16 - 1


@dataclass(frozen=True)
class Flag:
    """Name of an option in the terminal, where it is not the parameter's name."""

    name: str


# --- options of a function ---


@dataclass(frozen=True)
class OptionInfo:
    """One option of a verb, as commands and forms need it.

    Attributes
    ----------
    name
        Name of the parameter.
    type
        `int`, `float`, `str`, `bool`, `Path`, a list of texts or paths, or a `Literal` of texts: the type in the terminal
        and in forms.
    optional
        Whether the option may be absent (None).
    default
        Its default, or `inspect.Parameter.empty`.
    help
        First sentence of its description.
    minimum, maximum
        Its limits, if it has any.
    flag
        Its name in the terminal, if that differs.
    """

    name: str
    type: Any
    optional: bool
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    flag: str | None = None

    @property
    def flag_name(self) -> str:
        """The option in the terminal, such as `--check-every`."""
        return self.flag or f"--{self.name.replace('_', '-')}"


def options_of(function: Callable[..., Any]) -> dict[str, OptionInfo]:
    """Return the options of an API function, from its signature and docstring.

    Parameters that only a program can give (callbacks, objects) are left out: their annotations name no simple type.
    """
    help_texts = parameter_help(function)
    options = {}
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = evaluate_annotation(parameter.annotation, function)
        simple, optional, metadata = _simplify(annotation)
        if simple is None:
            continue
        limits = next((each for each in metadata if isinstance(each, Limits)), Limits())
        flag = next((each.name for each in metadata if isinstance(each, Flag)), None)
        options[name] = OptionInfo(
            name, simple, optional, parameter.default, help_texts.get(name, ""), limits.minimum, limits.maximum, flag
        )
    return options


def parameter_help(function: Callable[..., Any]) -> dict[str, str]:
    """Return the first sentence of each parameter's description in a numpydoc docstring."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", text, re.DOTALL | re.MULTILINE)
    if section is None:
        return {}
    entries = re.findall(r"^(\w+)[^\n]*\n((?:[ \t]+[^\n]*\n?|\n)+)", section[1], re.MULTILINE)
    return {name: _first_sentence(" ".join(body.split())) for name, body in entries}


def _first_sentence(text: str) -> str:
    match = re.match(r".*?[.?](?=\s+[A-Z`]|$)", text)
    return match[0] if match else text


_SIMPLE = (int, float, str, bool, Path)
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable)


def _simplify(annotation: Any) -> tuple[Any, bool, tuple[Any, ...]]:
    """Return an annotation's type in the terminal (None if it has none), whether None is allowed, and metadata."""
    metadata: tuple[Any, ...] = ()
    optional = False
    pending: list[Any] = [annotation]
    kinds: list[Any] = []
    while pending:
        each = pending.pop()
        origin = typing.get_origin(each)
        if origin is Annotated:
            metadata += each.__metadata__
            pending.append(each.__origin__)
        elif origin in (typing.Union, UnionType):
            pending += typing.get_args(each)
        elif origin in _LISTS:
            items = _simplify(typing.get_args(each)[0])[0]
            kinds += [list[items]] if items in (str, Path) else []  # type: ignore[valid-type]
        elif each in (None, NoneType):
            optional = True
        else:
            kinds.append(each)
    choices = [kind for kind in kinds if typing.get_origin(kind) in (Literal, list)]
    if choices:
        return choices[0], optional, metadata
    simple = [kind for kind in kinds if kind in _SIMPLE]
    # A text where a text is accepted: it is parsed by the function.
    return (str if str in simple else simple[0] if simple else None), optional, metadata


# --- signatures without imports ---

_LIGHT_MODULES = ("collections.abc", "pathlib", "typing", "riverboat.api.options", "riverboat.core.errors")


@cache
def _source_text(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def read_function(source: str) -> Callable[..., Any]:
    """Return a function with the signature and docstring of `module:name`, which is imported only if it already was."""
    module, _, name = source.partition(":")
    if module in sys.modules:
        function: Callable[..., Any] = getattr(sys.modules[module], name)
        return function
    kept: list[ast.stmt] = []
    for node in ast.parse(_source_text(module)).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.body, node.decorator_list = node.body[:1], []
            kept.append(node)
        elif isinstance(node, ast.Assign):
            kept += [node] if isinstance(node.value, ast.Constant) else []
        elif isinstance(node, ast.ImportFrom) and node.module in ("__future__", *_LIGHT_MODULES):
            kept.append(node)
    names = AnnotationNames()
    exec(compile(ast.Module(kept, []), source, "exec"), {"__name__": module}, names)  # a module of this package
    function = names[name]
    function.__globals__.update(names)
    return function


def read_summary(source: str) -> str:
    """Return the first sentence of a function's docstring."""
    module, _, name = source.partition(":")
    found = re.search(rf'^def {name}\(.*?^    """(.*?)(?:"""|\n\n)', _source_text(module), re.DOTALL | re.MULTILINE)
    assert found is not None, source
    return found[1]
