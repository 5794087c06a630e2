"""Commands made from functions: names, types, limits, defaults and help texts of their options have one definition.

    app.command()(Command("riverboat.cli.train:train", "riverboat.api.train:train"))

Parameters before `*` are arguments in the terminal, those behind it are options. A function with `**options` also has
the options of API functions: all their parameters but the first one, which is the subject. The command's own parameters
come first, and replace parameters of the same name. Nothing is imported before the command runs.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Annotated, Any, get_origin

import typer

from riverboat.api.options import MAX_COUNT, OptionInfo, options_of, parse_count, read_function, read_summary
from riverboat.core.errors import InputError
from riverboat.core.files import check_image_path

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
COMMON_HELP = {  # help texts of parameters that a docstring leaves out
    "agent": "A baseline agent, a blueprint folder (runs/x?purify), module:Class, demo or default.",
    "folder": "Folder of a run or a strategy.",
    "game": "A game or .game file; by default the agents' game.",
    "json": "Print one JSON object on stdout and nothing else.",
    "seed": "Seed of the random numbers.",
}
PREFIXES = {  # prefixes of help texts, where a command has the options of several functions
    "riverboat.api.spots:spot_from_texts": "solve spot: ",
    "riverboat.api.spots:spot_from_match_state": "solve MATCHSTATE: ",
}


class Command:
    """A function as a command; typer reads its signature, or of an outline only name and description.

    The command fails if the function returns False.
    """

    def __init__(self, source: str, *api: str, outline: bool = False) -> None:
        self.source, self.api, self.outline = source, api, outline
        self.__name__, self.__doc__ = source.partition(":")[2], read_summary(source)

    def __call__(self, *values: Any, **options: Any) -> None:
        if options.get("plot") is not None:
            check_image_path(options["plot"])  # raises before the work, not after it
        try:
            module, _, name = self.source.partition(":")
            done = getattr(importlib.import_module(module), name)(*values, **options)
        except InputError as error:
            error.args = (self._name_flag(str(error)), *error.args[1:])
            raise
        if done is False:
            raise typer.Exit(1)

    def _name_flag(self, message: str) -> str:
        """Replace parameters in an error message by their flags: the one at its beginning, and those with `=…`."""
        parameters = self._parameters.items()
        flags = {name: option.flag_name for name, (option, is_argument, _) in parameters if not is_argument}
        first = re.match(r"\w+(?=[ =:])", message)
        if first is not None and first[0] in flags:
            message = f"{flags[first[0]]}{message.removeprefix(first[0])}"
        return re.sub(r"\b(\w+)=…", lambda found: flags.get(found[1], found[0]), message)

    @cached_property
    def _parameters(self) -> dict[str, tuple[OptionInfo, bool, str]]:
        """By name: option of the function or its API functions, whether it is an argument, and prefix of its help."""
        function = read_function(self.source)
        kinds = {name: parameter.kind for name, parameter in inspect.signature(function).parameters.items()}
        found = {name: (option, kinds[name] != KEYWORD_ONLY, "") for name, option in options_of(function).items()}
        for source in self.api:
            function = read_function(source)
            first = next(iter(inspect.signature(function).parameters.values()))
            for name, option in options_of(function).items():
                if name != first.name or first.kind == KEYWORD_ONLY:
                    found.setdefault(name, (option, False, PREFIXES.get(source, "")))
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        parameters = () if self.outline else self._parameters.values()
        return inspect.Signature([_typer_parameter(*each) for each in parameters])

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return {name: parameter.annotation for name, parameter in self.__signature__.parameters.items()}


def options_for(source: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are parameters of an API function."""
    names = options_of(read_function(source))
    return {name: value for name, value in options.items() if name in names}


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that differ from None and False."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def _parse_count(text: str, minimum: int) -> int:
    """Parse a count in the terminal: `1000`, `1e3` or `1,000`."""
    try:
        return parse_count(text, minimum=minimum)
    except InputError as error:
        raise typer.BadParameter(str(error).partition(": ")[2] + f", not {text!r}") from None


def _typer_parameter(option: OptionInfo, is_argument: bool, prefix: str) -> inspect.Parameter:
    kind = option.type if get_origin(option.type) in (None, list) else str
    default = option.default
    if kind is str and isinstance(default, int | float):
        default = f"{default:g}s" if option.flag or option.name == "time" else f"{default:g}"
    limits: dict[str, Any] = {"min": option.minimum, "max": option.maximum} if kind in (int, float) else {}
    if kind is int and option.maximum == MAX_COUNT:
        limits = {"parser": partial(_parse_count, minimum=int(option.minimum or 0)), "metavar": "COUNT"}
    text = (option.help or COMMON_HELP.get(option.name, "")).replace("`", "")
    text = f"{prefix}{text[:1].lower()}{text[1:]}" if prefix else text
    names = (option.flag_name,) if kind is bool or option.flag else ()
    info = typer.Argument(help=text, **limits) if is_argument else typer.Option(*names, help=text, **limits)
    annotation = Annotated[kind | None if option.optional else kind, info]  # type: ignore[valid-type]
    return inspect.Parameter(option.name, KEYWORD_ONLY, default=default, annotation=annotation)
