"""The arguments and options that several commands share, and loading what they name: files, schemas, classes."""

from __future__ import annotations

import importlib
import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..._errors import UnspoolError
from ...llm._config import Config
from ...llm._formats.registry import FORMATS
from ...select import compile as compile_pattern
from ...typed._iterate import partial
from ..viewer.inputs import InputKind
from ..viewer.recordings import SAMPLES, SampleError, find_sample
from .arrivals import STANDARD_INPUT, Input
from .terminal import UsageError, shown

if TYPE_CHECKING:
    from ...select import Pattern
    from ...typed._iterate import Resolver

__all__ = [
    "Cut",
    "Extract",
    "File",
    "Format",
    "Kind",
    "RepairLevel",
    "Repairing",
    "Schema",
    "Select",
    "Times",
    "Tools",
    "checked_file",
    "config_for",
    "level_of",
    "load_json",
    "load_pattern",
    "load_schema",
]


def checked_file(path: Path | None) -> Path | None:
    """Return the path of a file, a sample or standard input. Raises `BadParameter` if it cannot be read."""
    sample = None if path is None else Input(path).sample
    if sample is not None:
        try:
            find_sample(sample)
        except SampleError as error:
            raise typer.BadParameter(shown(str(error))) from None
    elif path is not None and path != STANDARD_INPUT:
        if not path.exists():
            raise typer.BadParameter(f"there is no file {shown(str(path))}")
        if path.is_dir():
            raise typer.BadParameter(f"{shown(str(path))} is a directory")
        if not os.access(path, os.R_OK):
            raise typer.BadParameter(f"{shown(str(path))} cannot be read")
    return path


def _known_format(name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise typer.BadParameter(f"there is no format {shown(name)}; there are {', '.join(FORMATS)}")
    return name


File = Annotated[
    Path,
    typer.Argument(
        help="File to read; '-' for standard input, sample:NAME for a sample: " + ", ".join(SAMPLES) + ".",
        callback=checked_file,
    ),
]
Kind = Annotated[
    InputKind | None,
    typer.Option("--input", metavar="KIND", help=f"Kind of input (default: auto-detect): {', '.join(InputKind)}."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help=f"Wire format of the stream (default: auto-detect): {', '.join(FORMATS)}.",
        callback=_known_format,
    ),
]
Cut = Annotated[
    int | None, typer.Option("--cut", min=1, metavar="BYTES", help="Read JSON text in fragments of this size.")
]
Extract = Annotated[bool, typer.Option("--extract", help="Find the JSON inside other text, such as a Markdown block.")]
Select = Annotated[
    str | None,
    typer.Option("--select", metavar="PATTERN", help="Show only the values at matching paths: '$.days[*].title'."),
]
Times = Annotated[
    bool, typer.Option("--times", help="Add the time of each line, in seconds; null if it was not measured.")
]
Schema = Annotated[
    str | None,
    typer.Option("--schema", help="JSON Schema file, or MODULE:CLASS. The first violation ends the command."),
]
Tools = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="NAME=SCHEMA", help="Schema of a tool's arguments. May be repeated."),
]


class RepairLevel(StrEnum):
    """What to repair."""

    SPELLING = "spelling"
    GUESS = "guess"


Repairing = Annotated[
    RepairLevel | None,
    typer.Option(
        "--repair",
        help="Read broken JSON: 'spelling' if it can mean one thing only, 'guess' also where something is missing.",
    ),
]


def level_of(repair: RepairLevel | None) -> Literal["none", "spelling", "guess"]:
    """Return the option of the parser for --repair."""
    return "none" if repair is None else "spelling" if repair is RepairLevel.SPELLING else "guess"


def load_pattern(select: str | None) -> Pattern | None:
    """Compile the pattern of --select."""
    return None if select is None else compile_pattern(select)


def load_schema(name: str | None) -> Resolver[Any] | None:
    """Load the schema of --schema: a file with a JSON Schema, or a class named as MODULE:CLASS."""
    if name is None:
        return None
    try:
        return partial(_read(name))
    except ModuleNotFoundError as error:
        raise UsageError(f"{name}: this needs {error.name}") from None
    except UsageError:
        raise
    except UnspoolError as error:
        raise UsageError(f"{name}: {error}") from None


def config_for(
    answer: Resolver[Any] | None,
    tools: list[str] | None,
    extract: bool,
    repair: Literal["none", "spelling", "guess"] = "none",
) -> Config:
    """Return the configuration for reading a message: the schema of the answer, and those of --tool."""
    return Config(answer, tools=_load_tools(tools or []), extract=extract and answer is not None, repair=repair)


def _load_tools(named: list[str]) -> dict[str, object]:
    tools: dict[str, object] = {}
    for one in named:
        name, sign, schema = one.partition("=")
        if not sign or not name or not schema:
            raise UsageError(f"{one}: --tool needs NAME=SCHEMA")
        tools[name] = load_schema(schema)
    return tools


def _read(name: str) -> object:
    path = Path(name)
    module, colon, attribute = name.partition(":")
    if path.is_file() or not (colon and attribute and all(part.isidentifier() for part in module.split("."))):
        return load_json(path)
    if os.getcwd() not in sys.path:  # noqa: PTH109 - like python -m: modules in the working directory are importable
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        found: object = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise UsageError(f"{name}: there is no module {error.name}") from None
    except AttributeError:
        raise UsageError(f"{name}: there is no {attribute} in the module") from None
    except Exception as error:  # noqa: BLE001 - a user's module may raise anything
        raise UsageError(f"{name}: importing it failed: {type(error).__name__}: {error}") from None
    return found


def load_json(path: Path) -> object:
    """Load a file with a JSON Schema."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: a JSON Schema must be valid JSON") from None
