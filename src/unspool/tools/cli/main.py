"""The commands, put together. Each is a function of its name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..._errors import UnspoolError
from ..._version import __version__
from .commands.check import check
from .commands.chunk import chunk
from .commands.message import message
from .commands.profile import profile
from .commands.record import record
from .commands.replay import replay
from .commands.steps import events, patch, values
from .commands.studio import studio
from .commands.watch import watch
from .terminal import excuse, prepare_streams

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["app", "main"]

app = typer.Typer(
    help="JSON that is still being written: watch it, take it apart, find out when each field became usable.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: it fits any terminal, and takes nothing for markup
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: Final[dict[Callable[..., None], str]] = {
    watch: "See a value grow, as a tree.",
    events: "What became known, as JSON lines.",
    values: "The value so far, as JSON lines.",
    patch: "What changed, as JSON Patch lines.",
    chunk: "Snapshots to fragments of text.",
    message: "Chunks of a provider to messages.",
    check: "Is it whole and valid; if not, where?",
    record: "Note down what comes, and when.",
    replay: "Play a recording, also as a server.",
    profile: "When did each field become usable?",
    studio: "All of that in the browser.",
}
for command, short_help in COMMANDS.items():
    app.command(short_help=short_help)(command)


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
