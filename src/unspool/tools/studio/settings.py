"""All limits of the studio in one place, so that tests can make them small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["Settings"]

MIB: Final = 1024 * 1024


@dataclass(frozen=True)
class Settings:
    """The limits of the studio. Sizes are in bytes, times in seconds."""

    body: int = 16 * MIB
    """The longest request body, and the most bytes read from a live source."""
    drained: int = 64 * MIB
    """The bytes of a body over the limit that are read and dropped, so that the client receives the error."""
    upload: float = 120.0
    """The time for a request body."""
    uploads: int = 8
    """The number of large bodies that are received or loaded at once, and of small ones beside them."""
    small: int = MIB
    """A body of at most this size is small: it never waits for a large one."""
    strangers: int = 64
    """The number of connections that have not shown the token yet. One more closes the oldest of them."""
    head: float = 15.0
    """The time for the head of a request."""
    sessions: int = 16
    total: int = 64 * MIB
    """The size of the texts of all sessions together; a single loaded session is always kept."""
    kept: int = 1024 * MIB
    """The memory of all sessions together, as estimated: texts, steps, states, values and patches. A single loaded
    session is always kept; it takes at most 320 bytes for each byte of its text."""
    loads: int = 2
    """The number of large sessions that load at once, and of small ones beside them."""
    streams: int = 512
    """The number of clients that follow sessions at once."""

    renewal: float = 0.1
    """The time between two patches of a live session."""
    waterfall: float = 0.25
    """The time between two layouts of its waterfall; longer if a layout takes long."""

    log_patches: int = 256
    log_bytes: int = MIB
    """The last patches that the relay keeps of a session, for clients that reconnect."""

    keep_alive: float = 15.0
    stall: float = 10.0
    """The time after which a client that does not read is disconnected."""
    retry: int = 1_000
    """The milliseconds that a client waits before it reconnects."""
    slice: int = 16 * 1024
    """The bytes that the server keeps for a connection before it waits."""
    send_buffer: int = 64 * 1024
    """The kernel buffer of each connection."""

    patience: float = 0.25
    """The time after which the kind of a live input is decided by the bytes so far."""
    connect: float = 15.0
    """The time for a web address to respond."""
    silence: float = 600.0
    """The longest pause of a web address after that."""
    grace: float = 3.0
    """The time for open requests to finish when the server stops."""
