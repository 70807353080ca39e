"""Streams that survive: a log of entries, publishers that write it, and followers that fold it.

Import from here::

    from unspool.relay import Messages, Relay
"""

from typing import TYPE_CHECKING, Any

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
    LogReader,
    RelayError,
    RelayLog,
)
from ._memory import MemoryLog
from ._publisher import Publisher
from ._redis import RedisLog
from ._relay import Relay, StreamStatus
from ._settings import Metrics, RelaySettings

if TYPE_CHECKING:
    from ._sse import SSESettings, browser_client

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
    "SSESettings",
    "Snapshot",
    "Stalled",
    "StreamStatus",
    "Update",
    "browser_client",
]


def __getattr__(name: str) -> Any:
    if name not in {"SSESettings", "browser_client"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _sse  # it needs Starlette, which nothing else here does

    return getattr(_sse, name)
