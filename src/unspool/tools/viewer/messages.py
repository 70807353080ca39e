"""The message of a provider after each step.

A state of a message knows all of its calls, so to keep one for each step of a message with thousands of calls would
take the square of their number. As with the states of a track, some are kept, and those between are made again.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, final

from ...llm._formats.registry import deltas_for
from ...llm._message import reduce_chunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...llm._state import MessageState
    from .inputs import Item

__all__ = ["Messages"]

MOST_CALLS: Final = 100_000  # in all states together; then every second state goes
FEWEST_KEPT: Final = 16  # states, however many calls each of them has


@final
class Messages:
    """The states of one message. `items` are those of the timeline: what is made again is made of their chunks."""

    __slots__ = ("_at_hand", "_calls", "_format", "_items", "_kept", "_steps", "_stride", "last")

    def __init__(self, format: str | None, items: Sequence[Item]) -> None:
        self.last: MessageState | None = None
        """The state after the last step."""
        self._format = format
        self._items = items
        self._steps: list[int] = []
        self._kept: list[MessageState] = []  # one for each of these steps
        self._calls = 0  # of all that are kept
        self._stride = 1
        self._at_hand: tuple[int, MessageState] | None = None  # what was looked at last

    def add(self, step: int, message: MessageState) -> None:
        """The state after one more step."""
        self.last = message
        if not self._is_kept(step):
            return
        self._steps.append(step)
        self._kept.append(message)
        count = len(message.tool_calls)
        self._calls += count
        if self._format is not None and self._calls > max(MOST_CALLS, FEWEST_KEPT * count):
            self._thin()

    def _is_kept(self, step: int) -> bool:
        """The first is, and what no chunk brought: that cannot be made again."""
        return step % self._stride == 0 or not self._items[step].raw or step <= self._steps[0]

    def _thin(self) -> None:
        self._stride *= 2
        kept = [(step, state) for step, state in zip(self._steps, self._kept, strict=True) if self._is_kept(step)]
        self._steps = [step for step, _ in kept]
        self._kept = [state for _, state in kept]
        self._calls = sum([len(state.tool_calls) for state in self._kept])

    def at(self, step: int) -> MessageState | None:
        """The state after this step; None before there is a message."""
        index = bisect_right(self._steps, step) - 1
        if index < 0:
            return None
        begin, state = self._steps[index], self._kept[index]
        if self._at_hand is not None and begin < self._at_hand[0] <= step:
            begin, state = self._at_hand
        for between in range(begin + 1, step + 1):
            state = self._after(state, self._items[between].raw)
        self._at_hand = step, state
        return state

    def _after(self, state: MessageState, chunk: str) -> MessageState:
        if self._format is None or not chunk:
            return state
        try:
            value: object = json.loads(chunk)
        except (ValueError, RecursionError):
            return state
        return reduce_chunk(state, deltas_for(self._format)(value))
