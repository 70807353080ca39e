"""Types on the command line: a file with a JSON Schema, or a class in a module."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._errors import UnspoolError
from ...llm._config import Config
from ...typed._iterate import partial
from .terminal import UsageError

if TYPE_CHECKING:
    from ...typed._iterate import Resolver

__all__ = ["Schema", "Tools", "config_for", "load_json", "load_schema"]

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
    except UsageError:
        raise
    except UnspoolError as error:
        raise UsageError(f"{name}: {error}") from None


def config_for(schema: str | None, tools: list[str] | None, extract: bool) -> Config:
    """How a message is read."""
    answer = None if schema is None else load_schema(schema)
    return Config(answer, tools=_load_tools(tools or []), extract=extract and answer is not None)


def _load_tools(named: list[str]) -> dict[str, object]:
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
        return load_json(path)
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


def load_json(path: Path) -> object:
    """What is in a file with a JSON Schema."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: a JSON Schema is JSON, and this is not") from None
