"""What to read for those who show it: a file, standard input, or one of the samples that come with unspool."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.resources import as_file
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..viewer.opening import CUT
from ..viewer.samples import SAMPLES, SampleError, find
from .reading import STANDARD_INPUT, Input

if TYPE_CHECKING:
    from ..viewer.inputs import InputKind

__all__ = ["Sample", "Source", "source_of"]

PREFIX: Final = "sample:"
_AT_HAND: Final = ExitStack()  # what is not a file is one as long as the program runs


Source = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A file; - is standard input; sample:NAME is one that comes with unspool."),
]
Sample = Annotated[
    str | None, typer.Option("--sample", metavar="NAME", help=f"A sample instead of a file: {', '.join(SAMPLES)}.")
]


def source_of(
    source: str,
    sample: str | None = None,
    *,
    kind: InputKind | None = None,
    format: str | None = None,
    cut: int | None = None,
    most_steps: int,
) -> tuple[str, Input]:
    """What to read, and how it is called. A plain file comes in `most_steps` fragments or less, unless `cut` is given.

    What is not there is an error of usage.
    """
    name = source if sample is None else PREFIX + sample
    if name.startswith(PREFIX):
        try:
            file = _AT_HAND.enter_context(as_file(find(name.removeprefix(PREFIX))))
        except SampleError as error:
            raise typer.BadParameter(str(error)) from None
    else:
        file = Path(name)
        if file != STANDARD_INPUT and not file.exists():
            raise typer.BadParameter(f"File {name!r} does not exist.")
        if file.is_dir():
            raise typer.BadParameter(f"File {name!r} is a directory.")
    found = Input(file, kind, format, cut)
    if cut is None and not found.is_standard_input:
        found = Input(file, kind, format, max(CUT, (found.size or 0) // most_steps))
    return ("standard input" if found.is_standard_input else name), found
