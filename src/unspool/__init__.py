"""Streaming JSON: parse text that is still being written, and write values that are still growing.

Fragments of text become events with paths::

    >>> from unspool import FragmentParser
    >>> parser = FragmentParser()
    >>> [(event.kind.value, str(event.path), event.value) for event in parser.feed('{"title": "Trip to Fu')]
    [('start_object', '$', None), ('start_string', '$.title', None), ('partial_string', '$.title', 'Trip to Fu')]

Importing the package loads what a parser needs. The other names load their modules on first use.
"""

from ._errors import (
    Code,
    IncompleteJSONError,
    JSONSyntaxError,
    LimitError,
    OptionsError,
    PatchError,
    PatternError,
    Position,
    Reason,
    SnapshotError,
    StateError,
    UnspoolError,
)
from ._events import Event, Kind
from ._grammar.scan import COMPILED
from ._missing import MISSING
from ._native import TYPE_CHECKING
from ._options import Options
from ._parser import Fragment, FragmentParser, ValueParser
from ._path import Path
from ._state import ParserState, create_state, finalize, parse_chunk
from ._version import __version__

if TYPE_CHECKING:
    from ._chunker.differences import SnapshotDiff, diff_snapshots
    from ._chunker.leaves import LeafChunker
    from ._chunker.notices import Conflict, Stall
    from ._chunker.snapshots import SnapshotChunker
    from ._chunker.text import TextChunker
    from ._grammar.writer import Writer
    from ._repairs import Repair, RepairCode
    from ._streams import achunk_snapshots, aiter_events, aiter_values, chunk_snapshots, iter_events, iter_values
del TYPE_CHECKING

__all__ = [
    "COMPILED",
    "MISSING",
    "Code",
    "Conflict",
    "Event",
    "Fragment",
    "FragmentParser",
    "IncompleteJSONError",
    "JSONSyntaxError",
    "Kind",
    "LeafChunker",
    "LimitError",
    "Options",
    "OptionsError",
    "ParserState",
    "PatchError",
    "Path",
    "PatternError",
    "Position",
    "Reason",
    "Repair",
    "RepairCode",
    "SnapshotChunker",
    "SnapshotDiff",
    "SnapshotError",
    "Stall",
    "StateError",
    "TextChunker",
    "UnspoolError",
    "ValueParser",
    "Writer",
    "__version__",
    "achunk_snapshots",
    "aiter_events",
    "aiter_values",
    "chunk_snapshots",
    "create_state",
    "diff_snapshots",
    "finalize",
    "iter_events",
    "iter_values",
    "parse_chunk",
]

_LAZY = {
    "Conflict": "_chunker.notices",
    "LeafChunker": "_chunker.leaves",
    "Repair": "_repairs",
    "RepairCode": "_repairs",
    "SnapshotChunker": "_chunker.snapshots",
    "SnapshotDiff": "_chunker.differences",
    "Stall": "_chunker.notices",
    "TextChunker": "_chunker.text",
    "Writer": "_grammar.writer",
    "achunk_snapshots": "_streams",
    "aiter_events": "_streams",
    "aiter_values": "_streams",
    "chunk_snapshots": "_streams",
    "diff_snapshots": "_chunker.differences",
    "iter_events": "_streams",
    "iter_values": "_streams",
}


def __getattr__(name: str) -> object:
    """Load the module of a name on its first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
