"""`unspool studio`: a file, an address, standard input or the output of a command, in the browser."""

from __future__ import annotations

import builtins
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from .... import UnspoolError
from ..arrivals import STANDARD_INPUT, Input, standard_input
from ..options import Cut, Extract, Format, Kind, Repairing, checked_file, level_of, load_json
from ..terminal import USAGE, UsageError, complain, guarded, shown, write_text

if TYPE_CHECKING:
    from ...studio.requests import Order, SessionOptions
    from ...studio.sessions import NamedType
    from ...viewer.inputs import InputKind

__all__ = ["studio"]


def studio(
    source: Annotated[
        str | None,
        typer.Argument(metavar="FILE|URL|-", help="Input to show; '-' for standard input, sample:NAME for a sample."),
    ] = None,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND ARGS", help="Show the output of a command.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow other machines to connect, with the printed token.")
    ] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    schema: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="JSON Schema file to validate the text against.")
    ] = None,
    type: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Show typed values of this type: a Pydantic model, a msgspec struct, or a JSON Schema.",
        ),
    ] = None,
    kind: Kind = None,
    format: Format = None,
    cut: Cut = None,
    extract: Extract = False,
    repair: Repairing = None,
) -> None:
    """Show a stream in the browser: its text, its tree, and when each field became known."""
    lacking = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if lacking:
        complain(f"the studio needs {' and '.join(lacking)}: pip install 'unspool[studio]'")
        raise typer.Exit(USAGE)
    from ..local_server import check_host  # imports http.server, which other commands do not need

    with guarded():
        check_host(host, allow_remote=allow_remote)
        named = None if type is None else _named_type(type)
        order = _order(source, command or [], _schema(schema), kind, format, cut, extract, level_of(repair))
        try:
            _serve(order, host, port, allow_remote, named, is_browser_wanted=not no_browser)
        except BrokenPipeError:  # of standard output, not of the address
            raise
        except OSError as error:  # the address is in use, or invalid
            raise UsageError(f"{host}, port {port}: {error.strerror or error}") from None


def _named_type(name: str) -> NamedType:
    """Import the type that ``module:Name`` names. Raises `UsageError` with what is wrong with it."""
    from ...studio.judging import Judge
    from ...studio.sessions import NamedType

    module, sign, attribute = name.partition(":")
    if not sign or not module or not attribute:
        raise UsageError(f"--type {name}: expected MODULE:NAME, such as trips:Trip")
    sys.path.insert(0, "")  # as `python -m` does: modules of this folder can be imported
    try:
        value: Any = import_module(module)
        for part in attribute.split("."):
            value = getattr(value, part)
        Judge(value)
    except UnspoolError as error:
        raise UsageError(f"--type {name}: {error}") from None
    except Exception as error:  # noqa: BLE001 - the module of the user may raise anything
        raise UsageError(f"--type {name}: {builtins.type(error).__name__}: {error}") from None
    return NamedType(attribute, value)


def _schema(file: Path | None) -> dict[str, Any] | bool | None:
    if file is None:
        return None
    value = load_json(file)
    if not isinstance(value, (dict, bool)):
        raise typer.BadParameter("a JSON Schema must be an object or a boolean")
    return cast("dict[str, Any] | bool", value)


def _order(
    source: str | None,
    command: list[str],
    schema: dict[str, Any] | bool | None,
    kind: InputKind | None,
    format: str | None,
    cut: int | None,
    extract: bool,
    repair: Literal["none", "spelling", "guess"],
) -> Order | None:
    from ...studio.live import Address, Command, Descriptor, is_address
    from ...studio.requests import Order, SessionOptions, check_format, sample_of

    check_format(format)
    reading = SessionOptions(kind, format, cut, extract, schema, repair)
    if source is None:
        return None
    words = _words_of_a_command([source, *command])
    if words is not None:
        return Order(" ".join(words), reading, source=Command(_startable(words)))
    if command:
        raise typer.BadParameter("expected one file or address; put a command after --")
    if Path(source) == STANDARD_INPUT:
        return Order("Standard input", reading, source=Descriptor(standard_input()))
    sample = Input(Path(source)).sample
    if sample is not None:
        return sample_of(sample, reading)
    if is_address(source):
        return Order(source, reading, source=Address(source))
    return _order_of_file(Path(source), reading)


def _order_of_file(file: Path, reading: SessionOptions) -> Order:
    from ...studio.live import Descriptor
    from ...studio.requests import Order
    from ...studio.settings import Settings

    checked_file(file)
    if not file.is_file():  # such as a pipe: it is read while it arrives
        return Order(file.name, reading, source=Descriptor(os.open(file, os.O_RDONLY)))
    limit = Settings().body
    if file.stat().st_size > limit:
        raise typer.BadParameter(f"{shown(str(file))} is too large: the limit is {limit:,} bytes")
    return Order(file.name, reading, file.read_bytes())


def _words_of_a_command(words: list[str]) -> list[str] | None:
    """Return the words if they follow "--" on the command line, from which the option parser has removed that sign."""
    behind = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    return words if behind == words else None


def _startable(words: list[str]) -> list[str]:
    """Return the words of a command, or raise `UsageError` if it cannot be started, before the server starts."""
    if which(words[0]) is None:
        is_there = Path(words[0]).exists() and os.sep in words[0]
        raise UsageError(f"{words[0]}: {'it cannot be started' if is_there else 'there is no such program'}")
    return words


def _serve(
    order: Order | None, host: str, port: int, allow_remote: bool, named: NamedType | None, *, is_browser_wanted: bool
) -> None:
    from ...studio.server import StudioServer

    def started(url: str) -> None:
        others = f"from other machines: {server.remote_url}\n" if server.remote_url != url else ""
        write_text(f"unspool studio: {url}\n{others}")

    server = StudioServer(
        host=host,
        port=port,
        allow_remote=allow_remote,
        order=order,
        started=started,
        browser=is_browser_wanted,
        type=named,
    )
    server.serve_forever()
