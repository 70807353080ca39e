"""The commands, put together. Each is a function of its name."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .._version import __version__
from ..errors import UnspoolError
from .check import check
from .chunk import chunk
from .message import message
from .profile import profile
from .record import record
from .replay import replay
from .steps import events, patch, values
from .studio import studio
from .terminal import excuse, prepare_streams
from .watch import watch

__all__ = ["app", "main"]

app = typer.Typer(
    help="JSON that is still being written: watch it, take it apart, find out when each field became usable.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: it fits any terminal, and takes nothing for markup
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (watch, events, values, patch, chunk, message, check, record, replay, profile, studio):
    app.command()(command)


def _version(is_asked: bool) -> None:
    if is_asked:
        sys.stdout.write(f"unspool {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which it is.")
    ] = False,
) -> None:
    """What comes before the name of a command."""


def main() -> None:
    """The entry point of the `unspool` command."""
    prepare_streams()
    try:
        app(prog_name="unspool")
    except (KeyboardInterrupt, OSError, UnspoolError) as error:  # before a command has begun, or after it
        sys.exit(excuse(error))
