"""Streams that survive: a log of entries, publishers that write it, and followers that fold it.

Import from here. `unspool.relay.web` has the parts that need Starlette::

    from unspool.relay import Messages, Relay
    from unspool.relay.web import browser_client
"""

from ._folds import Document, Fold, JSONText, JSONTextState, Messages, Recorder
from ._hub import End, Follower, News, Snapshot, Stalled, Update
from ._log import (
    Appended,
    CancelError,
    Cursor,
    EndedError,
    EndStatus,
    FencedError,
    FullError,
    GapError,
    GoneError,
    HeldError,
    Lease,
    LogEntry,
    LogError,
    LogListener,
    LogReader,
    RelayError,
    RelayLog,
)
from ._memory import MemoryLog
from ._publisher import Publisher
from ._redis import RedisLog
from ._relay import Relay, StreamStatus
from ._settings import Metrics, RelaySettings

__all__ = [
    "Appended",
    "CancelError",
    "Cursor",
    "Document",
    "End",
    "EndStatus",
    "EndedError",
    "FencedError",
    "Fold",
    "Follower",
    "FullError",
    "GapError",
    "GoneError",
    "HeldError",
    "JSONText",
    "JSONTextState",
    "Lease",
    "LogEntry",
    "LogError",
    "LogListener",
    "LogReader",
    "MemoryLog",
    "Messages",
    "Metrics",
    "News",
    "Publisher",
    "Recorder",
    "RedisLog",
    "Relay",
    "RelayError",
    "RelayLog",
    "RelaySettings",
    "Snapshot",
    "Stalled",
    "StreamStatus",
    "Update",
]
