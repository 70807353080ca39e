"""JSON that is still being written.

Fragments of text become events with paths::

    >>> from unspool import FragmentParser
    >>> parser = FragmentParser()
    >>> [(event.kind.value, str(event.path), event.value) for event in parser.feed('{"title": "Trip to Fu')]
    [('start_object', '$', None), ('start_string', '$.title', None), ('partial_string', '$.title', 'Trip to Fu')]
"""

from ._version import __version__
from .chunker.snapshots import SnapshotChunker
from .chunker.text import TextChunker
from .core.options import Options
from .core.scan import COMPILED
from .errors import (
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
from .events import Event, Kind
from .handles import FragmentParser, ValueParser
from .intake import Fragment
from .missing import MISSING
from .parsing import ParserState, create_state, finalize, parse_chunk
from .path import Path
from .streams import achunk_snapshots, aiter_events, aiter_values, chunk_snapshots, iter_events, iter_values

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
