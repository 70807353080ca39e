"""Types on the command line: a file with a JSON Schema, or a class in a module; and judging a text while it comes."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from ..errors import Position
from ..parsing import create_state, finalize, parse_chunk
from ..typed.outcome import Invalid, InvalidError
from ..typed.partials import partial
from .terminal import UsageError

if TYPE_CHECKING:
    from ..core.options import Options
    from ..parsing import ParserState
    from ..typed.partials import Resolver
    from ..typed.resolve import Cache

__all__ = ["Judge", "Schema", "Tools", "load_schema", "load_tools"]

Schema = Annotated[
    str | None,
    typer.Option("--schema", help="A file with a JSON Schema, or MODULE:CLASS. The first violation ends the command."),
]
Tools = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="NAME=SCHEMA", help="The type of a tool's arguments, likewise. May be repeated."),
]


def load_schema(name: str) -> Resolver[Any]:
    """What judges values by a file with a JSON Schema, or by a class that is named as MODULE:CLASS."""
    try:
        return partial(_read(name))
    except ModuleNotFoundError as error:
        raise UsageError(f"{name}: this needs {error.name}") from None


def load_tools(named: list[str]) -> dict[str, object]:
    """The tools by name, each with what judges its arguments."""
    tools: dict[str, object] = {}
    for one in named:
        name, sign, schema = one.partition("=")
        if not sign or not name or not schema:
            raise UsageError(f"{one}: a tool is given as NAME=SCHEMA")
        tools[name] = load_schema(schema)
    return tools


def _read(name: str) -> object:
    path = Path(name)
    module, colon, attribute = name.partition(":")
    if path.is_file() or not (colon and attribute and all(part.isidentifier() for part in module.split("."))):
        return _read_file(path)
    if os.getcwd() not in sys.path:  # noqa: PTH109 - as python -m does: one's own module is found where one stands
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        found: object = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise UsageError(f"{name}: there is no module {error.name}") from None
    except AttributeError:
        raise UsageError(f"{name}: there is no {attribute} in the module") from None
    except Exception as error:  # noqa: BLE001 - the module is not ours: it may do anything
        raise UsageError(f"{name}: importing it failed: {type(error).__name__}: {error}") from None
    return found


def _read_file(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: a JSON Schema is JSON, and this is not") from None


@final
class Judge:
    """Fragments in; raises `InvalidError` as soon as no continuation can be valid. Broken text is for others to tell.

    Where there are several documents, each is judged on its own.
    """

    def __init__(self, resolver: Resolver[Any], options: Options, *, extract: bool = False) -> None:
        self._resolver = resolver
        self._options = options
        self._state = create_state(options, extract=extract)
        self._cache: Cache | None = None

    def feed(self, fragment: str | bytes) -> None:
        """Read one more fragment."""
        self._go_on(parse_chunk(self._state, fragment))

    def close(self) -> None:
        """The text has ended."""
        self._go_on(finalize(self._state))

    def place_in(self, fragment: str | bytes) -> Position:
        """Where in the fragment that was refused is the first character that nothing can repair."""
        good, bad = 0, len(fragment)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._is_valid(parse_chunk(self._state, fragment[:middle])):
                good = middle
            else:
                bad = middle
        state = parse_chunk(self._state, fragment[:good])
        return Position(state.index, state.line, state.column)

    def _go_on(self, state: ParserState) -> None:
        """Take this state, unless something is wrong in it."""
        cache = self._judged(state)
        self._state, self._cache = state, None if state.is_complete and self._options.multiple else cache

    def _is_valid(self, state: ParserState) -> bool:
        try:
            self._judged(state)
        except InvalidError:
            return False
        return True

    def _judged(self, state: ParserState) -> Cache:
        cache = self._cache
        if self._options.multiple:
            # The tree of a state is that of the last document: those that ended before it are judged by their values.
            for value in state.finished[:-1] if state.is_complete else state.finished:
                self._raise(parse_chunk(create_state(self._options), json.dumps(value) + "\n"), None)
                cache = None
        return self._raise(state, cache)

    def _raise(self, state: ParserState, cache: Cache | None) -> Cache:
        resolution, cache = self._resolver.resolve(state, cache)
        if isinstance(resolution, Invalid):
            raise InvalidError(resolution)
        return cache
