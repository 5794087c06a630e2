"""Commands whose options are those of API functions: names, types, limits, defaults and help texts have one definition.

    @app.command()
    @command("riverboat.api.train:train", skip=("recipe", "out"))
    def train(recipe: …, json: JsonOption = False, **options: Any) -> None: ...

The command's own parameters come first, and replace parameters of the same name. The API module is imported when the
command is called or described, so that `riverboat --help` stays quick.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Annotated, Any, get_origin, get_type_hints

import typer
from typer.models import OptionInfo as TyperOption

from riverboat.api.options import OptionInfo, options_of
from riverboat.core.errors import InputError


class APICommand:
    """A command function with the options of API functions; typer reads its signature on demand."""

    def __init__(self, function: Callable[..., Any], sources: Mapping[str, str], skip: Collection[str]) -> None:
        self.function, self.sources, self.skip = function, sources, skip
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *values: Any, **options: Any) -> Any:
        try:
            return self.function(*values, **options)
        except InputError as error:
            error.args = (self._name_flag(str(error)), *error.args[1:])
            raise

    def _name_flag(self, message: str) -> str:
        """Write parameters as flags of the terminal: the one that an error begins with, and those with `=…`."""
        flags = {}
        for name, annotation in self.__annotations__.items():
            for info in getattr(annotation, "__metadata__", ()):
                if isinstance(info, TyperOption):
                    flags[name] = next(iter(info.param_decls or ()), f"--{name.replace('_', '-')}")
        first = re.match(r"\w+(?=[ =:])", message)
        if first is not None and first[0] in flags:
            message = f"{flags[first[0]]}{message.removeprefix(first[0])}"
        return re.sub(r"\b(\w+)=…", lambda found: flags.get(found[1], found[0]), message)

    @cached_property
    def __signature__(self) -> inspect.Signature:
        hints = get_type_hints(self.function, include_extras=True)
        own = [
            parameter.replace(annotation=hints[name])
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        names = {parameter.name for parameter in own}
        added = []
        for source, prefix in self.sources.items():
            for option in options_of(import_function(source)).values():
                if option.name not in names and option.name not in self.skip:
                    names.add(option.name)
                    added.append(_typer_parameter(option, prefix))
        keyword = inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature([*(parameter.replace(kind=keyword) for parameter in own), *added])

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return {name: parameter.annotation for name, parameter in self.__signature__.parameters.items()}


def command(*sources: str | tuple[str, str], skip: Collection[str] = ()) -> Callable[[Callable[..., Any]], APICommand]:
    """Give a command the options of API functions.

    Parameters
    ----------
    sources
        API functions, as `module:function`, or with a text that precedes the help of their options.
    skip
        Parameters that are no options of the command.
    """
    prefixes = dict((source, "") if isinstance(source, str) else source for source in sources)
    return lambda function: APICommand(function, prefixes, skip)


def import_function(source: str) -> Callable[..., Any]:
    """Import an API function from `module:function`."""
    module, _, name = source.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def options_for(source: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return those options of a command that belong to one API function."""
    names = options_of(import_function(source))
    return {name: value for name, value in options.items() if name in names}


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given: neither absent nor a flag that is off."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def _typer_parameter(option: OptionInfo, prefix: str) -> inspect.Parameter:
    """Return the parameter of a command for an option."""
    kind = str if get_origin(option.type) is not None else option.type
    default = option.default
    if kind is str and isinstance(default, int | float):
        default = f"{default:g}s" if option.flag or option.name == "time" else f"{default:g}"
    limits: dict[str, Any] = {"min": option.minimum, "max": option.maximum} if kind in (int, float) else {}
    names = (option.flag_name,) if kind is bool or option.flag else ()
    annotation = kind | None if option.optional else kind
    text = option.help if not prefix else f"{prefix}{option.help[:1].lower()}{option.help[1:]}"
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, typer.Option(*names, help=text.replace("`", ""), **limits)],
    )
