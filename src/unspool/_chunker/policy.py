"""What a new snapshot means for the text: the rules, as a plan of events.

Of a document that is being written from left to right, the output holds everything that is known to be written to its
end, and one place that is open: the *spine*, from the root down to the innermost value that may still grow. Everything
else of the last snapshot *waits* in the innermost open object: values of which nobody can tell yet which one is next.

    {"days": [{"title": "Day 1"}, {"a": "x", "b": "y"}]}        spine   $, $.days, $.days[1]
                                                                waiting "a" and "b" in $.days[1]

A `Plan` is what one snapshot changes. It is made aside from the state that it starts from, so that a snapshot which is
refused leaves nothing behind. It decides and never writes; whoever takes it over has its events written.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# What a dict or a list holds is any JSON value; each is looked at where it is taken.

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, final

from .._errors import Reason, SnapshotError
from .._events import Event
from .._grammar.sink import (
    COMPLETE_STRING,
    END_ARRAY,
    END_OBJECT,
    PARTIAL_STRING,
    START_ARRAY,
    START_OBJECT,
    START_STRING,
)
from .._missing import MISSING
from .._path import ROOT, Path
from .diff import Contradiction, contradictions, string_contradiction
from .values import append_whole, is_growable, put_in_order, same, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._path import Step
    from .values import Limits

__all__ = ["NOT_CALLED", "Open", "Plan"]

NOT_CALLED: Final = -1  # rule 4 has not called this waiting value complete
NOTHING_WAITS: Final[dict[str, int]] = {}


@final
class Open:
    """One open value of the spine: as the last snapshot had it, and which of its members wait.

    Members that are neither waiting nor open themselves (the next one of the spine) are written to their end. A member
    that waits has a number: how many distinct snapshots it has stayed the same since it was called complete.
    """

    __slots__ = ("path", "value", "waiting")

    def __init__(self, path: Path, value: object, waiting: dict[str, int] = NOTHING_WAITS) -> None:
        self.path = path
        self.value = value
        self.waiting = waiting


@final
class Opening:
    """A value that is to be opened as it was, and then grown to what it is."""

    __slots__ = ("event_count", "old", "path", "spine_length", "value")

    def __init__(self, path: Path, old: object, value: object, event_count: int, spine_length: int) -> None:
        self.path = path
        self.old = old
        self.value = value
        self.event_count = event_count  # before it is opened
        self.spine_length = spine_length


@final
class Plan:
    """What becomes of a spine with one snapshot: the `events` to write, `root` and `spine` after it, and what was kept
    although the snapshot has something else there.
    """

    __slots__ = (
        "_is_checked",
        "_is_strict",
        "_limits",
        "_next",
        "_patience",
        "_snapshot",
        "_step",
        "contradictions",
        "events",
        "root",
        "spine",
    )

    def __init__(
        self, root: object, spine: Iterable[Open], limits: Limits, step: int, patience: int, is_strict: bool
    ) -> None:
        self.root = root
        self.spine = list(spine)
        self.events: list[Event] = []
        self.contradictions: list[Contradiction] = []
        self._limits = limits
        self._step = step
        self._patience = patience
        self._is_strict = is_strict  # the first contradiction is raised
        self._is_checked = False  # the snapshot keeps within the limits
        self._snapshot: object = MISSING
        self._next: Opening | None = None  # what the last decision has found to be next

    def take(self, value: object) -> None:
        """Plan for one snapshot. Raises `SnapshotError`; then the plan is void."""
        self._snapshot = value
        if self.root is MISSING:
            self._limits.check(ROOT, value, 0, self._step)
            self._open(ROOT, value)
            self.root = value
        elif self.spine:
            self._grow(0, value)
            self._go_inwards()
            self.root = self.spine[0].value
        elif not same(self.root, value):  # a number, a boolean or null: nothing of it is open
            self._contradict(contradictions(ROOT, self.root, value))

    def finish(self) -> None:
        """Plan for the end: everything that is open or waits is complete."""
        for one in reversed(self.spine):
            self._close(one, one.value)
        self.spine = []

    def _grow(self, start: int, value: object) -> None:
        """Make the spine from `start` on what it is in `value`."""
        spine = self.spine
        grown, moved = self._compare(start, value)
        if moved < 0:
            moved = len(spine) - 1
        else:  # something came after what is open inside: that is complete
            for at in range(len(spine) - 1, moved, -1):
                self._close(spine[at], grown[at - start])
            del spine[moved + 1 :]
        for at in range(start, moved):
            spine[at] = Open(spine[at].path, grown[at - start])
        self._go_on(spine.pop(), grown[moved - start])

    def _go_inwards(self) -> None:
        """Rule 3: a container that waited is written as it was and then grown, so that what is in it is decided too."""
        self._is_checked = True
        while self._next is not None:
            opening, self._next = self._next, None
            old, value, was_strict = opening.old, opening.value, self._is_strict
            if type(old) is not type(value):
                old = value
            self._open(opening.path, old)
            if old is value:
                continue
            try:
                self._is_strict = True
                self._grow(opening.spine_length, value)
            except SnapshotError:
                # It changed while it waited. Nothing of it was written, so nothing is contradicted.
                del self.events[opening.event_count :]
                del self.spine[opening.spine_length :]
                self._next = None
                self._open(opening.path, value)
            finally:
                self._is_strict = was_strict

    # Comparing, from the root of the spine inwards. In place, what contradicts the text becomes what is written.

    def _compare(self, start: int, value: object) -> tuple[list[object], int]:
        """What each open value has become, and the outermost one with news behind what is open in it (-1: none)."""
        grown: list[object] = []
        moved = -1
        last = len(self.spine) - 1
        for at in range(start, last + 1):
            before = self.spine[at]
            inner = self.spine[at + 1].path.step if at < last else None
            reason = _mismatch(before.value, value)
            if reason is not None:
                self._contradict([Contradiction(before.path, reason, value)])
                value = before.value
                if grown:
                    _put(grown[-1], before.path.step, value)
            grown.append(value)
            has_news = False
            if isinstance(value, dict):
                has_news = self._compare_object(before, inner, at + 1, value)
                value = value[inner] if isinstance(inner, str) else None
            elif isinstance(value, list):
                has_news = self._compare_array(before, inner, at + 1, value)
                value = value[inner] if isinstance(inner, int) else None
            else:
                self._check(before.path, value, at)
            if has_news and moved < 0:
                moved = at
        return grown, moved

    def _compare_object(self, before: Open, inner: Step | None, depth: int, members: dict[str, object]) -> bool:
        old = cast("dict[str, object]", before.value)
        waiting = before.waiting
        known = 0
        for key, written in old.items():
            member = members.get(key, MISSING)
            if key in waiting:
                if member is not MISSING:
                    known += 1
                    if same(written, member):
                        members[key] = written
                    else:
                        self._check(Path(before.path, key), member, depth)
                        put_in_order(written, member)
                continue
            known += 1
            if key == inner:
                if member is MISSING:
                    self._contradict([Contradiction(Path(before.path, key), Reason.VANISHED, MISSING)])
                    members[key] = written
            elif not same(written, member):
                self._contradict(contradictions(Path(before.path, key), written, member))
                members[key] = written
        if len(members) == known:
            return False
        for key, member in members.items():
            if key not in old:
                self._check(Path(before.path, key), member, depth)
        return True

    def _compare_array(self, before: Open, inner: Step | None, depth: int, items: list[object]) -> bool:
        old = cast("list[object]", before.value)
        closed = len(old) if inner is None else len(old) - 1
        if not same(old[:closed], items[:closed]):
            for index in range(min(closed, len(items))):
                if not same(old[index], items[index]):
                    self._contradict(contradictions(Path(before.path, index), old[index], items[index]))
                    items[index] = old[index]
        if len(items) < len(old):
            self._contradict([Contradiction(before.path, Reason.SHORTER, list(items))])
            items.extend(old[len(items) :])
        for index in range(len(old), len(items)):
            self._check(Path(before.path, index), items[index], depth)
        return len(items) > len(old)

    def _check(self, path: Path, value: object, depth: int) -> None:
        if not self._is_checked:
            self._limits.check(path, value, depth, self._step)

    def _contradict(self, found: Iterable[Contradiction]) -> None:
        self._check(ROOT, self._snapshot, 0)  # what is new is looked at where it stands; but this may never be new
        self._is_checked = True
        for contradiction in found:
            if self._is_strict:
                raise SnapshotError(contradiction.path, contradiction.reason, self._step)
            self.contradictions.append(contradiction)

    # Opening, going on, closing

    def _open(self, path: Path, value: object) -> None:
        """A value that is seen for the first time: as if it had been there before, empty."""
        while True:
            if isinstance(value, str):
                self.events.append(Event(START_STRING, path))
                self._go_on(Open(path, ""), value)
                return
            if isinstance(value, dict):
                self.events.append(Event(START_OBJECT, path))
                self._go_on(Open(path, {}), value)
            elif isinstance(value, list):
                self.events.append(Event(START_ARRAY, path))
                self._go_on(Open(path, []), value)
            else:
                append_whole(self.events, path, value)
                return
            inner, self._next = self._next, None
            if inner is None:
                return
            path, value = inner.path, inner.value

    def _go_on(self, before: Open, value: object) -> None:
        """The value that is now the innermost of the spine."""
        if isinstance(value, dict):
            self._go_on_with_object(before, value)
        elif isinstance(value, list):
            self._go_on_with_array(before, value)
        else:
            text = cast("str", value)
            more = shown(text)[len(shown(cast("str", before.value))) :]
            if more:
                self.events.append(Event(PARTIAL_STRING, before.path, more))
            self.spine.append(Open(before.path, text))

    def _go_on_with_array(self, before: Open, items: list[object]) -> None:
        """Rule 5: of new items all but the last are complete."""
        path = before.path
        self.spine.append(Open(path, items))
        for index in range(len(cast("list[object]", before.value)), len(items)):
            if index == len(items) - 1 and is_growable(items[index]):
                self._open_next(Path(path, index), items[index], items[index])
            else:
                append_whole(self.events, Path(path, index), items[index])

    def _go_on_with_object(self, before: Open, members: dict[str, object]) -> None:
        """Rules 1, 2 and 4: what is complete is written; if just one value is left that may grow, it is opened."""
        path, old = before.path, cast("dict[str, object]", before.value)
        complete, waits = self._sort_waiting(before, members)
        for key, member in members.items():
            if key not in old:
                if is_growable(member):
                    waits[key] = NOT_CALLED
                else:
                    complete.append(key)
        for key in complete:
            append_whole(self.events, Path(path, key), members[key])
        if len(waits) != 1:
            self.spine.append(Open(path, members, waits))
            return
        self.spine.append(Open(path, members))
        for key in waits:
            self._open_next(Path(path, key), old.get(key, members[key]), members[key])

    def _sort_waiting(self, before: Open, members: dict[str, object]) -> tuple[list[str], dict[str, int]]:
        """Which of the waiting members are complete now, and which wait on. Whoever vanished was not written at all."""
        complete: list[str] = []
        waits: dict[str, int] = {}
        if not before.waiting:
            return complete, waits
        old = cast("dict[str, object]", before.value)
        present = [key for key in before.waiting if key in members]
        moved = [key for key in present if old[key] is not members[key]]
        has_news = len(members) > len(present) + len(old) - len(before.waiting)
        for key in present:
            count = before.waiting[key]
            # Where several moved at once, this is no document written from left to right; to wait loses nothing.
            is_called = len(moved) < 2 and (has_news or (len(moved) == 1 and key not in moved))
            if key in moved:
                count = 0 if is_called else NOT_CALLED
            elif count != NOT_CALLED:
                count += 1 if has_news or moved else 0
            elif is_called:
                count = 0
            if not is_growable(members[key]) or (count != NOT_CALLED and count >= self._patience):
                complete.append(key)
            else:
                waits[key] = count
        complete.sort(key=moved.__contains__)  # whoever moved was written after those that did not
        return complete, waits

    def _open_next(self, path: Path, old: object, value: object) -> None:
        self._next = Opening(path, old, value, len(self.events), len(self.spine))

    def _close(self, one: Open, value: object) -> None:
        """Write the rest of an open value, and its end."""
        path = one.path
        if isinstance(value, dict):
            old = cast("dict[str, object]", one.value)
            rest = [key for key in one.waiting if key in value]
            rest.sort(key=lambda key: old[key] is not value[key])
            for key in [*rest, *[key for key in value if key not in old]]:
                append_whole(self.events, Path(path, key), value[key])
            self.events.append(Event(END_OBJECT, path))
        elif isinstance(value, list):
            for index in range(len(cast("list[object]", one.value)), len(value)):
                append_whole(self.events, Path(path, index), value[index])
            self.events.append(Event(END_ARRAY, path))
        else:
            self.events.append(Event(COMPLETE_STRING, path, value))


def _mismatch(before: object, value: object) -> Reason | None:
    """Why an open value cannot have become this one."""
    if type(value) is not type(before):
        return Reason.CHANGED_KIND
    if isinstance(value, str):
        written = shown(cast("str", before))
        if not value.startswith(written):
            return string_contradiction(written, value)
    return None


def _put(container: object, step: Step | None, value: object) -> None:
    if isinstance(container, dict):
        container[step] = value
    else:
        cast("list[object]", container)[cast("int", step)] = value
