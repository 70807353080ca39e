"""The arguments and options that several commands share: they mean the same wherever they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ...llm._formats.registry import FORMATS
from ..viewer.inputs import InputKind
from ..viewer.recordings import SampleError, find_sample
from .reading import STANDARD_INPUT, Input
from .terminal import shown

__all__ = ["Cut", "Extract", "File", "Format", "Kind", "Select", "Times", "checked_file"]


def checked_file(path: Path | None) -> Path | None:
    """The same, if it can be read."""
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
        raise typer.BadParameter(f"one of {', '.join(FORMATS)}")
    return name


File = Annotated[
    Path,
    typer.Argument(
        help="A file; - is standard input; sample:NAME is one that comes with unspool.", callback=checked_file
    ),
]
Kind = Annotated[InputKind | None, typer.Option("--input", help="What the input is; found out unless given.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help="The provider's wire format; found out unless given.", callback=_known_format),
]
Cut = Annotated[int | None, typer.Option("--cut", min=1, help="Read JSON text in fragments of so many bytes.")]
Extract = Annotated[bool, typer.Option("--extract", help="The JSON stands in other text, such as a Markdown block.")]
Select = Annotated[
    str | None, typer.Option("--select", metavar="PATTERN", help="Only the values at these paths: '$.days[*].title'.")
]
Times = Annotated[
    bool, typer.Option("--times", help="Say when each line became known, in seconds; null where nobody measured it.")
]
