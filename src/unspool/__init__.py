"""JSON that is still being written.

Fragments of text become events with paths::

    >>> from unspool import FragmentParser
    >>> parser = FragmentParser()
    >>> [(event.kind.value, str(event.path), event.value) for event in parser.feed('{"title": "Trip to Fu')]
    [('start_object', '$', None), ('start_string', '$.title', None), ('partial_string', '$.title', 'Trip to Fu')]
"""

from ._chunker.leaves import LeafChunker
from ._chunker.snapshots import SnapshotChunker
from ._chunker.text import TextChunker
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
from ._grammar.writer import Writer
from ._missing import MISSING
from ._options import Options
from ._parser import Fragment, FragmentParser, ValueParser
from ._path import Path
from ._state import ParserState, create_state, finalize, parse_chunk
from ._streams import achunk_snapshots, aiter_events, aiter_values, chunk_snapshots, iter_events, iter_values
from ._version import __version__

__all__ = [
    "COMPILED",
    "MISSING",
    "Code",
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
    "SnapshotChunker",
    "SnapshotError",
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
    "finalize",
    "iter_events",
    "iter_values",
    "parse_chunk",
]
