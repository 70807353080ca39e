"""The settings of a relay, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, final

from .._errors import OptionsError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Metrics", "RelaySettings"]

MAY_BE_ZERO: Final = {"linger", "hub_idle"}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """The settings of a relay. Times are in seconds, sizes in bytes.

    - `lease`: a writer that has not renewed its lease for this time counts as dead. It renews every third of it.
      `math.inf` is for a log in this process: writers live as long as it, and renew nothing. They learn of a request to
      cancel with their next entry.
    - `ttl`: the log keeps an open stream whose writer is dead this long. `retention`: and a stream that has ended.
    - `linger`: how long a publisher collects items for an entry. 0 means that it never waits.
    - `max_batch`: an entry of this size does not wait. `max_entry`: no entry is larger.
    - `checkpoint`: a publisher writes a checkpoint after this many bytes, and after twice the size of the last one. An
      entry counts with 64 bytes more than it has.
    - `window`, `window_bytes`: the number and size of the last entries that a follower may be behind. A slower one
      gets a snapshot.
    - `idle_check`: a hub without news checks this often whether the writer lives and the log is still the same.
    - `hub_idle`: a hub stays this long after its last follower.
    - `max_followers`: the followers of one stream in this process. `max_hubs`: the followed streams in this process.
    """

    lease: float = 15.0
    ttl: float = 3600.0
    retention: float = 600.0
    linger: float = 0.02
    max_batch: int = 16 << 10
    max_entry: int = 16 << 20
    checkpoint: int = 16 << 10
    window: int = 256
    window_bytes: int = 1 << 20
    idle_check: float = 5.0
    hub_idle: float = 10.0
    max_followers: int = 10_000
    max_hubs: int = 10_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise OptionsError(f"{field.name} must be a number")
            if value < 0 or (value == 0 and field.name not in MAY_BE_ZERO):
                raise OptionsError(f"{field.name} must be positive")


@final
class Metrics:
    """Counters of one relay, from its start on. `observe` gets each change: the name, and the added number.

    `resyncs` counts the readings of a whole log by reason: "start", "trimmed", "diverged". `snapshots` counts those
    that followers got instead of the next entry, by reason: "start", "behind", "restart", "trimmed", "diverged".
    """

    def __init__(self, observe: Callable[[str, float], object] | None = None) -> None:
        self.counts: Final[dict[str, float]] = dict.fromkeys(NAMES, 0)
        self._observe: Final = observe

    def add(self, name: str, amount: float = 1) -> None:
        """Add to a counter."""
        self.counts[name] = self.counts.get(name, 0) + amount
        if self._observe is not None:
            self._observe(name, amount)

    def __getitem__(self, name: str) -> float:
        return self.counts[name]

    def __repr__(self) -> str:
        return f"Metrics({', '.join(f'{name}={value:g}' for name, value in self.counts.items() if value)})"


NAMES: Final = (
    *("appends", "append_bytes", "append_seconds", "checkpoints", "claims", "takeovers", "fenced", "gaps", "reclaims"),
    *("hubs", "followers", "stalls", "cancels", "evicted"),
    *("resyncs.start", "resyncs.trimmed", "resyncs.diverged"),
    *("snapshots.start", "snapshots.behind", "snapshots.restart", "snapshots.trimmed", "snapshots.diverged"),
)
