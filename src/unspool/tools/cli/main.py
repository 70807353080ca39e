"""The `unspool` command: its subcommands, the global options, and the entry point."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..._errors import UnspoolError
from ..._version import __version__
from .commands.check import check
from .commands.chunk import chunk
from .commands.gateway import gateway
from .commands.message import message
from .commands.profile import profile
from .commands.recording import record, replay
from .commands.relay import relay
from .commands.repair import repair
from .commands.steps import events, patch, values
from .commands.studio import studio
from .commands.watch import watch
from .help import CommandWithExamples, GroupWithExamples
from .terminal import excuse, prepare_streams

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["app", "main"]

app = typer.Typer(
    cls=GroupWithExamples,
    help="Watch JSON that is still being written, take it apart, and see when each field became usable.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text fits any terminal, and contains no markup
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: Final[dict[Callable[..., None], str]] = {
    watch: "Watch a value grow, as a tree.",
    events: "Print events as JSON lines.",
    values: "Print the value so far as JSON lines.",
    patch: "Print changes as JSON Patch lines.",
    chunk: "Turn snapshots into fragments of text.",
    message: "Turn a provider's chunks into messages.",
    check: "Check that input is complete and valid.",
    repair: "Turn broken JSON into strict JSON.",
    record: "Record input with its timing.",
    replay: "Play a recording, also as a server.",
    gateway: "Serve a provider's stream to clients of OpenAI and Anthropic.",
    profile: "Show when each field became usable.",
    studio: "Show a stream in the browser.",
}
for command, short_help in COMMANDS.items():
    app.command(cls=CommandWithExamples, short_help=short_help)(command)
app.add_typer(relay, name="relay", short_help="Publish streams, and follow them from anywhere.")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        sys.stdout.write(f"unspool {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """The options before the name of a command."""


def main() -> None:
    """Run the `unspool` command."""
    prepare_streams()
    try:
        app(prog_name="unspool")
    except (KeyboardInterrupt, OSError, UnspoolError) as error:  # raised before or after a command
        sys.exit(excuse(error))
