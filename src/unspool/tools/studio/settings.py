"""Every limit of the studio, in one place. Tests make them small; nobody else has a reason to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["Settings"]

MIB: Final = 1024 * 1024


@dataclass(frozen=True)
class Settings:
    """What the studio takes, keeps and waits for. Sizes are in bytes, times in seconds."""

    body: int = 16 * MIB
    """The longest request body, and the most that is read of a live source."""
    drained: int = 64 * MIB
    """How much of a body that is too long is read and dropped, so that its sender gets to see the answer."""
    upload: float = 120.0
    """How long a body may take."""
    uploads: int = 8
    """How many bodies are read, or made sessions of, at once."""
    head: float = 15.0
    """How long a connection may take to say what it wants."""
    sessions: int = 16
    total: int = 64 * MIB
    """Of the texts of all sessions together; one that is loaded may always be kept."""
    loads: int = 2
    """How many sessions are made at once."""
    streams: int = 512
    """How many clients may follow sessions at once."""

    renewal: float = 0.1
    """Between two patches of a session that is live."""
    waterfall: float = 0.25
    """Between two layouts of its waterfall; longer where a layout takes long."""

    log_patches: int = 2_000
    log_bytes: int = 4 * MIB
    """How many of the last patches of a session are kept for those who come back."""

    keep_alive: float = 15.0
    stall: float = 10.0
    """A client that takes nothing for so long is sent away."""
    retry: int = 1_000
    """Milliseconds until a client comes back."""
    slice: int = 16 * 1024
    """What is handed to a connection at once: this and the buffers below are all the memory that a client takes."""
    send_buffer: int = 64 * 1024
    """Of the kernel, for each connection."""

    patience: float = 0.25
    """How long a live input may take to show what it is."""
    connect: float = 15.0
    """How long an address may take to answer."""
    silence: float = 600.0
    """How long it may say nothing after that."""
    grace: float = 3.0
    """How long those who are busy may take when the server is stopped."""
