"""Arguments of the public API: types with limits, parsed from numbers or from texts as in the terminal, and checked.

    @checked
    def solve(game: str, *, iterations: Count | None = None, time: Duration | None = None) -> Result: ...

The annotations of a checked function say what it accepts. `iterations=1e3`, `iterations="1e3"` and `time="90s"` reach
it as numbers; anything else than its annotations allow raises `InputError` before the work begins.
"""

from __future__ import annotations

import builtins
import collections.abc
import functools
import inspect
import math
import numbers
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeAlias, TypeVar

from riverboat.core import validation
from riverboat.core.errors import MAX_THREADS, InputError, short_repr, unknown_name_error
from riverboat.core.formatting import parse_duration

MAX_COUNT = 10**15  # larger values are typing errors, and the loops count in 64 bits
MAX_SEED = 2**63 - 1
MAX_SEATS = 1000

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Limits:
    """Smallest and largest value of an argument; of a text, its largest length."""

    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class ParsedBy:
    """Function (value, name) that parses an argument, and raises InputError if it is invalid."""

    parse: Callable[[Any, str], Any]


class CheckedLater:
    """Mark of an argument that the function checks itself, with a message that says more than its type."""


# --- parsers ---


def parse_count(value: Any, name: str = "count", minimum: int = 0, maximum: int = MAX_COUNT) -> int:
    """Return a whole number from a number such as `1000` or `1e3`, or from a text such as `1e3` or `1,000`."""
    if type(value) is int and minimum <= value <= maximum:
        return value
    number: Any = value
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d[\d_,]{0,30}(\.\d*)?([eE]\+?\d{1,3})?\s*", value):
        number = float(value.replace(",", ""))
    if isinstance(number, numbers.Real) and not isinstance(number, numbers.Integral):
        rounded = int(float(number)) if math.isfinite(number) else None
        number = rounded if rounded == number else value
    validation.check_integer(name, number, minimum, maximum)
    return int(number)


def parse_seconds(value: float | str, name: str = "time") -> float:
    """Return seconds from a number, or from a text such as `90s`, `5m` or `8h`."""
    if isinstance(value, str):
        return parse_duration(value)
    validation.check_number(name, value)
    return value


def parse_byte_size(value: int | str, name: str = "memory") -> int:
    """Return bytes from a number, or from a text such as `2GB`, `512MB` or `1.5GiB`."""
    if not isinstance(value, str):
        return parse_count(value, name, maximum=validation.MAX_INT)
    match = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]?)(i?)b?\s*", value, re.IGNORECASE)
    if match is None:
        raise InputError(f"{name} {short_repr(value)}: write 2GB, 512MB or 1.5GiB")
    power = " kmgt".index(match[2].lower() or " ")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)


def parse_target(value: float | str, unit: str) -> float:
    """Return a target exploitability in the game's unit: a number, `1e-3`, or `0.5%` if the unit is % of the pot."""
    if not isinstance(value, str):
        return value
    number = value.strip()
    if number.endswith("%"):
        if "%" not in unit:
            raise InputError(
                f"until {short_repr(value)}: exploitability of this game is in {unit}; write a plain number"
            )
        number = number[:-1]
    try:
        target = float(number)
    except ValueError:
        target = math.nan
    if not 0 < target < math.inf:
        example = "0.5%" if "%" in unit else "1e-3"
        raise InputError(f"until {short_repr(value)}: write a positive number in {unit}, such as {example}")
    return target


def _check_target(value: float | str, name: str) -> float | str:
    """Return a target as it is: its unit is known later."""
    if isinstance(value, str):
        validation.check_text(name, value)
    else:
        validation.check_number(name, value)
    return value


Count: TypeAlias = Annotated[int, Limits(0, MAX_COUNT)]
PositiveCount: TypeAlias = Annotated[int, Limits(1, MAX_COUNT)]
Seed: TypeAlias = Annotated[int, Limits(0, MAX_SEED)]
Seat: TypeAlias = Annotated[int, Limits(0, MAX_SEATS - 1)]
Threads: TypeAlias = Annotated[int, Limits(1, MAX_THREADS)]
Duration: TypeAlias = Annotated[float | str, ParsedBy(parse_seconds)]  # seconds, or 90s, 5m, 8h
Target: TypeAlias = Annotated[float | str, ParsedBy(_check_target)]  # in the game's unit; 0.5% of the pot
ByteSize: TypeAlias = Annotated[int | str, ParsedBy(parse_byte_size)]  # bytes, or 2GB


# --- checks by annotations ---


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check and parse the arguments of a function by its annotations, whenever it is called.

    Parameters
    ----------
    function
        Function or method. Its annotations may be simple types, `Annotated` with `Limits` or `ParsedBy`, literals, classes,
        callables, and lists of these; what is not known at run time is not checked.

    Returns
    -------
    function
        The function, which raises InputError for invalid arguments.

    Examples
    --------
    >>> @checked
    ... def iterate(count: Count, *, time: Duration = 1.0):
    ...     return count, time
    >>> iterate(1e3, time="2m")
    (1000, 120.0)
    """
    signature = inspect.signature(function)

    @functools.cache
    def find_checks() -> dict[str, Callable[[str, Any], Any]]:
        return _checks_of(function, signature)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        checks, given = find_checks(), bound.arguments
        for name in given:
            if name in checks:
                given[name] = checks[name](name, given[name])
        return function(*bound.args, **bound.kwargs)

    # With the globals of the function, so that doctest finds its examples, and others its annotations.
    source: Any = function
    outer = FunctionType(call.__code__, source.__globals__, call.__name__, None, call.__closure__)
    return functools.wraps(function)(outer)


class _Member(NamedTuple):
    """One of the types that an argument may have."""

    accepts: Callable[[Any], bool]
    description: str
    convert: Callable[[str, Any], Any] | None = None  # parses or checks a value of this type


class Unknown:
    """Placeholder for a type that is not imported at run time."""

    def __class_getitem__(cls, _: object) -> type[Unknown]:
        return cls


class AnnotationNames(dict[str, Any]):
    """Names for the evaluation of annotations; those that are not imported become `Unknown`."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Unknown)


def evaluate_annotation(annotation: Any, function: Any) -> Any:
    """Evaluate an annotation of a function of this package; `Unknown` if it cannot be evaluated."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, AnnotationNames(function.__globals__))
    except TypeError:
        return Unknown


def _checks_of(function: Any, signature: inspect.Signature) -> dict[str, Callable[[str, Any], Any]]:
    checks: dict[str, Callable[[str, Any], Any]] = {}
    for name, parameter in signature.parameters.items():
        annotation = evaluate_annotation(parameter.annotation, function)
        if annotation is inspect.Parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if CheckedLater in getattr(annotation, "__metadata__", ()):
            continue
        members = _members(annotation)
        if members is None:
            continue
        check = functools.partial(_check_value, members)
        if parameter.kind is parameter.VAR_POSITIONAL:
            checks[name] = functools.partial(_check_each, check)
        else:
            checks[name] = check
    return checks


def _check_each(check: Callable[[str, Any], Any], name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(check(name, value) for value in values)


def _check_value(members: list[_Member], name: str, value: Any) -> Any:
    for member in members:
        if member.accepts(value):
            return value if member.convert is None else member.convert(name, value)
    described = list(dict.fromkeys(member.description for member in members if member.description))
    if len(described) > 1:
        described = [", ".join(described[:-1]), described[-1]]
    raise InputError(f"{name}={short_repr(value)}: must be {' or '.join(described)}")


def _members(annotation: Any, limits: Limits | None = None) -> list[_Member] | None:
    """Return the types that an annotation allows; None if some are not known."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        parsers = [each for each in annotation.__metadata__ if isinstance(each, ParsedBy)]
        if parsers:
            parse = parsers[0].parse
            accepts = functools.partial(_is_no, NoneType)
            return [_Member(accepts, "a number or a text", lambda name, value: parse(value, name))]
        found = next((each for each in annotation.__metadata__ if isinstance(each, Limits)), None)
        return _members(annotation.__origin__, found)
    if origin in (typing.Union, UnionType):
        parts = [_members(each, limits) for each in arguments]
        if None in parts:
            return None
        members = [member for part in parts if part is not None for member in part]
        first = ("None", "True or False", "a path", "a text")  # these accept texts before numbers do
        return sorted(members, key=lambda each: first.index(each.description) if each.description in first else 9)
    if annotation in (None, NoneType):
        return [_Member(lambda value: value is None, "None")]
    if origin is Literal:
        return [_Member(functools.partial(_is_text_or, arguments), "", functools.partial(_check_choice, arguments))]
    if annotation in _SIMPLE:
        return _SIMPLE[annotation](limits or Limits())
    if origin is collections.abc.Callable:
        return [_Member(lambda value: callable(value) and not isinstance(value, type), "a function")]
    if origin is not None and inspect.isclass(origin) and issubclass(origin, collections.abc.Iterable):
        items = _members(arguments[0]) if len(arguments) == 1 or arguments[1:] == (...,) else None
        accepts = functools.partial(_is_collection, origin)
        convert = None if items is None else functools.partial(_check_items, items)
        kinds = {"Mapping": "a mapping", "dict": "a mapping", "ndarray": "a NumPy array"}
        return [_Member(accepts, kinds.get(origin.__name__, "a list"), convert)]
    if not inspect.isclass(annotation) or annotation is Unknown or typing.is_typeddict(annotation):
        return None
    if annotation in (object, Any) or getattr(annotation, "_is_protocol", False):
        return None
    name = annotation.__name__
    article = "an" if name[0] in "AEIOU" else "a"
    return [_Member(functools.partial(_is_instance, annotation), f"{article} {name}")]


def _is_no(kind: type, value: Any) -> bool:
    return not isinstance(value, kind)


def _is_instance(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, type)


def _is_text_or(choices: tuple[Any, ...], value: Any) -> bool:
    return isinstance(value, str) or any(value is choice for choice in choices)


def _is_collection(origin: type, value: Any) -> bool:
    return isinstance(value, origin) and not isinstance(value, str | bytes | type)


def _check_choice(choices: tuple[Any, ...], name: str, value: Any) -> Any:
    if value not in choices:
        raise unknown_name_error(name, value, [str(choice) for choice in choices])
    return value


def _check_items(members: list[_Member], name: str, values: Any) -> Any:
    if type(values).__name__ == "ndarray":
        return _check_items(members, name, values.tolist())
    if isinstance(values, list | tuple):
        return type(values)(_check_value(members, name, value) for value in values)
    return values


def _count(limits: Limits) -> list[_Member]:
    low = -validation.MAX_INT if limits.minimum is None else int(limits.minimum)
    high = validation.MAX_INT if limits.maximum is None else int(limits.maximum)
    parse = lambda name, value: parse_count(value, name, low, high)  # noqa: E731
    is_count = lambda value: isinstance(value, numbers.Real | str) and not isinstance(value, bool)  # noqa: E731
    return [
        _Member(is_count, f"a whole number from {low:,}" if limits.minimum is not None else "a whole number", parse)
    ]


def _number(limits: Limits) -> list[_Member]:
    low = -math.inf if limits.minimum is None else limits.minimum
    high = math.inf if limits.maximum is None else limits.maximum

    def check(name: str, value: Any) -> float:
        validation.check_number(name, value, low)
        if value > high:
            raise InputError(f"{name}={short_repr(value)}: must be a number from {low:g} to {high:g}")
        return float(value) if not isinstance(value, int | float) else value

    return [_Member(lambda value: isinstance(value, numbers.Real) and not isinstance(value, bool), "a number", check)]


def _check(function: Callable[..., None]) -> Callable[[str, Any], Any]:
    """Return a check that returns the value, from one that returns nothing."""

    def convert(name: str, value: Any) -> Any:
        function(name, value)
        return value

    return convert


def _text(limits: Limits) -> list[_Member]:
    """Return the type of texts: printable ones on a line, or of any characters with a limit of their length."""

    def check_length(name: str, value: str) -> None:
        if limits.maximum is not None and len(value) > limits.maximum:
            raise InputError(f"{name}={short_repr(value)}: must have at most {limits.maximum:,} characters")

    check = validation.check_text if limits.maximum is None else check_length
    return [_Member(lambda value: isinstance(value, str), "a text", _check(check))]


def _path(_: Limits) -> list[_Member]:
    return [_Member(lambda value: isinstance(value, str | Path), "a path", _check(validation.check_path))]


def _boolean(_: Limits) -> list[_Member]:
    return [_Member(lambda value: type(value).__name__ in ("bool", "bool_"), "True or False")]


_SIMPLE: dict[Any, Callable[[Limits], list[_Member]]] = {
    int: _count, float: _number, str: _text, Path: _path, bool: _boolean,
}  # fmt: skip
