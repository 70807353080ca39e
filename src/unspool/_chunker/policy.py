"""The rules: which text a new snapshot adds to the output.

The document is written from left to right. The output holds all complete values and one open place: the *spine*, the
open values from the root down to the innermost value that may still grow. The rest of the last snapshot *waits* in the
innermost open object, because no snapshot has shown yet which of these values comes next.

    {"days": [{"title": "Day 1"}, {"a": "x", "b": "y"}]}        spine   $, $.days, $.days[1]
                                                                waiting "a" and "b" in $.days[1]

This module holds three things, in this order:

- values: the chunker's own copy of a snapshot, which compares equal exactly when the JSON is the same
- contradictions: how a snapshot differs from text that is already written
- `Plan`: the events that one snapshot adds. The numbers of its rules are those of docs/snapshots.md:

    1. Atoms first              4. Moved on                   7. Ends come from moving on,
    2. One candidate is opened  5. Arrays know their order       or from the flush
    3. Two or more wait         6. A pause is not an end

A plan never changes the state that it starts from, so a rejected snapshot leaves no trace. A plan decides and does not
write: the chunker hands its events to the writer.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Containers hold any JSON value; the code checks the type of each value before it uses it.

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, final

from .._errors import Reason, SnapshotError
from .._events import Event
from .._grammar.sink import (
    COMPLETE_BOOLEAN,
    COMPLETE_NULL,
    COMPLETE_NUMBER,
    COMPLETE_STRING,
    END_ARRAY,
    END_OBJECT,
    PARTIAL_STRING,
    START_ARRAY,
    START_OBJECT,
    START_STRING,
)
from .._grammar.writer import Writer
from .._missing import MISSING
from .._path import ROOT, Path
from .._quoting import spelled
from .._tree.values import ValueSink

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .._native import i64
    from .._options import Options
    from .._path import Step

__all__ = [
    "Contradiction",
    "Limits",
    "Number",
    "Open",
    "Plan",
    "SpelledValueSink",
    "append_whole",
    "copied",
    "is_growable",
    "join_halves",
    "same",
    "string_contradiction",
    "text_of",
    "writable",
]

MAX_COPY_DEPTH: Final = 100_000  # without a limit: a value that contains itself must end somewhere
FIRST_HIGH: Final = 0xD800  # the high halves of surrogate pairs
LAST_HIGH: Final = 0xDBFF
NOT_CALLED: Final = -1  # rule 4 has not called this waiting value complete
NOTHING_WAITS: Final[dict[str, int]] = {}


# ---- values ------------------------------------------------------------------------------------------
#
# A snapshot becomes plain dicts, lists and strings that belong to the chunker, with numbers as they were spelled. The
# caller shares none of them, so the last snapshot cannot change before the next one is compared with it.


@final
class Number:
    """A number as it was spelled: equal only to a number with the same spelling, never to a boolean."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.text == other.text


@final
class SpelledValueSink(ValueSink):
    """A value sink whose numbers keep their spelling."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.keeps_raw = True

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        super().number(key, index, Number(raw), raw, node_id, offset)


def is_growable(value: object) -> bool:
    """Return True for strings, arrays and objects. Numbers, booleans and null are complete from the start."""
    return isinstance(value, (str, dict, list))


def writable(text: str) -> str:
    """Return the part of an open string that can be written: a trailing high surrogate waits for its other half."""
    if text and FIRST_HIGH <= ord(text[-1]) <= LAST_HIGH:
        return text[:-1]
    return text


def join_halves(text: str) -> str:
    """Return the text with one character per surrogate pair, also where the halves arrived separately."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def put_in_order(old: object, value: object) -> None:
    """Sort the keys of `value`, in place and to any depth: first those of `old`, in its order, then the new ones."""
    pairs = [(old, value)]
    while pairs:
        old, value = pairs.pop()
        if isinstance(old, dict) and isinstance(value, dict):
            members = dict(value)
            value.clear()
            value.update({key: members[key] for key in old if key in members})
            value.update(members)
            pairs.extend([(old[key], value[key]) for key in old if key in value])
        elif isinstance(old, list) and isinstance(value, list):
            pairs.extend(zip(old, value, strict=False))


def same(one: object, other: object) -> bool:
    """Compare two values of any depth. A plain ``==`` is faster, but fails where the interpreter's stack ends."""
    try:
        return one == other
    except RecursionError:
        return _same_without_recursion(one, other)


def _same_without_recursion(one: object, other: object) -> bool:
    pairs: list[tuple[object, object]] = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pairs.extend([(value, other[key]) for key, value in one.items()])
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif type(one) is not type(other) or one != other:
            return False
    return True


def text_of(value: object) -> str:
    """Return the canonical JSON text of a value, with numbers as they were spelled."""
    events: list[Event] = []
    append_whole(events, ROOT, value)
    return Writer().write(events)


def append_whole(events: list[Event], path: Path, value: object) -> None:
    """Append the events of a complete value."""
    if isinstance(value, (dict, list)):
        _append_container(events, path, value)
    else:
        _append_leaf(events, path, value)


def _append_leaf(events: list[Event], path: Path, value: object) -> None:
    if isinstance(value, str):
        events.append(Event(COMPLETE_STRING, path, value))
    elif isinstance(value, Number):
        events.append(Event(COMPLETE_NUMBER, path, None, -1, -1, value.text))
    elif value is None:
        events.append(Event(COMPLETE_NULL, path))
    else:
        events.append(Event(COMPLETE_BOOLEAN, path, value))


def _append_container(events: list[Event], path: Path, value: object) -> None:
    # The end of a container goes onto the stack below its contents, so it comes up after all of them.
    to_write: list[tuple[Path, object, bool]] = [(path, value, False)]
    while to_write:
        path, value, is_end = to_write.pop()
        if is_end:
            events.append(Event(END_OBJECT if isinstance(value, dict) else END_ARRAY, path))
        elif isinstance(value, dict):
            members = cast("dict[str, object]", value)
            events.append(Event(START_OBJECT, path))
            to_write.append((path, value, True))
            to_write.extend([(Path(path, key), members[key], False) for key in reversed(members)])
        elif isinstance(value, list):
            items = cast("list[object]", value)
            events.append(Event(START_ARRAY, path))
            to_write.append((path, value, True))
            to_write.extend([(Path(path, index), items[index], False) for index in range(len(items) - 1, -1, -1)])
        else:
            _append_leaf(events, path, value)


@final
class Limits:
    """The limits of `Options`, applied to values. Each value is checked once, in the first snapshot that has it."""

    __slots__ = ("max_depth", "max_key", "max_number", "max_string")

    def __init__(self, options: Options) -> None:
        self.max_depth = options.max_depth
        self.max_key = options.max_key
        self.max_number = options.max_number
        self.max_string = options.max_string

    def check(self, path: Path, value: object, depth: int, step: int) -> None:
        """Raise `SnapshotError` if a value inside `depth` containers exceeds a limit."""
        key = path.step
        if isinstance(key, str) and self.max_key is not None and len(key) > self.max_key:
            raise SnapshotError(path, Reason.LIMIT, step)
        if not isinstance(value, (dict, list)):
            if not self._allow_leaf(value):
                raise SnapshotError(path, Reason.LIMIT, step)
            return
        to_check: list[tuple[Path, object, int]] = [(path, value, depth)]
        while to_check:
            path, value, depth = to_check.pop()
            if self.max_depth is not None and depth >= self.max_depth:
                raise SnapshotError(path, Reason.LIMIT, step)
            if isinstance(value, dict):
                for key, member in cast("dict[str, object]", value).items():
                    if isinstance(member, (dict, list)):
                        to_check.append((Path(path, key), member, depth + 1))
                    elif not self._allow_leaf(member):
                        raise SnapshotError(Path(path, key), Reason.LIMIT, step)
                    if self.max_key is not None and len(key) > self.max_key:
                        raise SnapshotError(Path(path, key), Reason.LIMIT, step)
            else:
                for index, item in enumerate(cast("list[object]", value)):
                    if isinstance(item, (dict, list)):
                        to_check.append((Path(path, index), item, depth + 1))
                    elif not self._allow_leaf(item):
                        raise SnapshotError(Path(path, index), Reason.LIMIT, step)

    def _allow_leaf(self, value: object) -> bool:
        if isinstance(value, str):
            return self.max_string is None or len(value) <= self.max_string
        if isinstance(value, Number):
            return self.max_number is None or len(value.text) <= self.max_number
        return True


def copied(value: object, max_depth: int | None, step: int, path: Path = ROOT) -> object:
    """Copy a parsed value into the chunker's own form. Raise `SnapshotError` for values that JSON cannot express."""
    if not isinstance(value, (dict, list, tuple)):
        return _copied_leaf(value, path, step)
    most_nested = MAX_COPY_DEPTH if max_depth is None else max_depth
    whole: object = {} if isinstance(value, dict) else []
    # Each entry pairs a container with the empty copy of it that is to be filled.
    to_copy: list[tuple[object, object, Path, int]] = [(value, whole, path, 0)]
    while to_copy:
        value, target, path, depth = to_copy.pop()
        if depth >= most_nested:
            raise SnapshotError(path, Reason.LIMIT, step)
        copy: object
        if isinstance(value, dict):
            members = cast("dict[str, object]", target)
            for key, member in value.items():
                if not isinstance(key, str):
                    raise SnapshotError(path, Reason.NOT_JSON, step)
                if member is None or (type(member) is str and member.isascii()):
                    copy = member
                elif isinstance(member, (dict, list, tuple)):
                    copy = {} if isinstance(member, dict) else []
                    to_copy.append((member, copy, Path(path, key), depth + 1))
                else:
                    copy = _copied_leaf(member, Path(path, key), step)
                members[join_halves(key if type(key) is str else str.__str__(key))] = copy
        else:
            items = cast("list[object]", target)
            for index, item in enumerate(cast("list[object] | tuple[object, ...]", value)):
                if item is None or (type(item) is str and item.isascii()):
                    copy = item
                elif isinstance(item, (dict, list, tuple)):
                    copy = {} if isinstance(item, dict) else []
                    to_copy.append((item, copy, Path(path, index), depth + 1))
                else:
                    copy = _copied_leaf(item, Path(path, index), step)
                items.append(copy)
    return whole


def _copied_leaf(value: object, path: Path, step: int) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return join_halves(str.__str__(value))
    number = spelled(value)
    if number is None:  # an int lacks a spelling if it has more digits than the interpreter converts
        raise SnapshotError(path, Reason.LIMIT if isinstance(value, int) else Reason.NOT_JSON, step)
    return Number(number)


# ---- contradictions ----------------------------------------------------------------------------------


@final
class Contradiction:
    """A place where the newest snapshot differs from the written text. `value` is MISSING where it has none."""

    __slots__ = ("path", "reason", "value")

    def __init__(self, path: Path, reason: Reason, value: object) -> None:
        self.path = path
        self.reason = reason
        self.value = value


def contradictions(path: Path, written: object, value: object) -> Iterator[Contradiction]:
    """Yield every place where `value` differs from the complete value that is written at `path`."""
    pairs: list[tuple[Path, object, object]] = [(path, written, value)]
    while pairs:
        path, written, value = pairs.pop()
        if type(written) is not type(value):
            yield Contradiction(path, Reason.VANISHED if value is MISSING else Reason.CHANGED_KIND, value)
        elif isinstance(written, dict):
            seen = cast("dict[str, object]", value)
            members = cast("dict[str, object]", written)
            if not seen.keys() <= members.keys():
                yield Contradiction(path, Reason.GREW_LATE, value)
            pairs.extend([(Path(path, key), members[key], seen.get(key, MISSING)) for key in reversed(members)])
        elif isinstance(written, list):
            items = cast("list[object]", written)
            seen_items = cast("list[object]", value)
            if len(items) != len(seen_items):
                is_shorter = len(seen_items) < len(items)
                yield Contradiction(path, Reason.SHORTER if is_shorter else Reason.GREW_LATE, value)
            shared = range(min(len(items), len(seen_items)) - 1, -1, -1)
            pairs.extend([(Path(path, index), items[index], seen_items[index]) for index in shared])
        elif written == value:
            continue
        elif isinstance(written, str):
            yield Contradiction(path, string_contradiction(written, cast("str", value)), value)
        else:
            yield Contradiction(path, Reason.CHANGED, value)


def string_contradiction(written: str, text: str) -> Reason:
    """Return the reason why a string differs from the one that was written."""
    if text.startswith(written):
        return Reason.GREW_LATE
    return Reason.SHRUNK if written.startswith(text) else Reason.REWRITTEN


# ---- the plan ----------------------------------------------------------------------------------------


@final
class Open:
    """One open value of the spine: its value in the last snapshot, and which of its members wait.

    Members that neither wait nor are open themselves (the next value of the spine) are written completely. A waiting
    member has a number: for how many distinct snapshots it has stayed the same since rule 4 called it complete.
    """

    __slots__ = ("path", "value", "waiting")

    def __init__(self, path: Path, value: object, waiting: dict[str, int] = NOTHING_WAITS) -> None:
        self.path = path
        self.value = value
        self.waiting = waiting


@final
class NextValue:
    """The value that is opened next: first as it was in the last snapshot, then grown to what it is now."""

    __slots__ = ("event_count", "old", "path", "spine_length", "value")

    def __init__(self, path: Path, old: object, value: object, event_count: int, spine_length: int) -> None:
        self.path = path
        self.old = old
        self.value = value
        self.event_count = event_count  # of the plan, before this value is opened
        self.spine_length = spine_length


@final
class Plan:
    """The effect of one snapshot: the `events` to write, the new `root` and `spine`, and the `contradictions`.

    A contradiction in the list means that the plan keeps the written value. A strict plan raises the first one instead.
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
        self._is_strict = is_strict
        self._is_checked = False  # the whole snapshot is known to keep within the limits
        self._snapshot: object = MISSING
        self._next: NextValue | None = None  # set by the last decision

    def take(self, value: object) -> None:
        """Plan for one snapshot. Raise `SnapshotError` if it is rejected; the plan is then useless."""
        self._snapshot = value
        if self.root is MISSING:
            self._limits.check(ROOT, value, 0, self._step)
            self._open(ROOT, value)
            self.root = value
        elif self.spine:
            self._grow(0, value)
            self._open_deeper()
            self.root = self.spine[0].value
        elif not same(self.root, value):  # a number, a boolean or null: it is complete
            self._contradict(contradictions(ROOT, self.root, value))

    def finish(self) -> None:
        """Rule 7: plan for the end. Everything that is open or waits is complete."""
        for one in reversed(self.spine):
            self._close(one, one.value)
        self.spine = []

    def _grow(self, start: int, value: object) -> None:
        """Grow the spine from index `start` on to what it is in `value`.

        Rule 6 needs no code: a snapshot that is equal to the last one has no news at any place, so no event follows.
        """
        spine = self.spine
        grown, moved = self._compare(start, value)
        if moved < 0:
            moved = len(spine) - 1
        else:  # rules 4 and 7: news further out means that everything open inside is complete
            for at in range(len(spine) - 1, moved, -1):
                self._close(spine[at], grown[at - start])
            del spine[moved + 1 :]
        for at in range(start, moved):
            spine[at] = Open(spine[at].path, grown[at - start])
        self._continue(spine.pop(), grown[moved - start])

    def _open_deeper(self) -> None:
        """Rule 3: open a container that waited as it was, then grow it. This decides about its contents as well."""
        self._is_checked = True
        while self._next is not None:
            following, self._next = self._next, None
            old, value, was_strict = following.old, following.value, self._is_strict
            if type(old) is not type(value):
                old = value
            self._open(following.path, old)
            if old is value:
                continue
            try:
                self._is_strict = True
                self._grow(following.spine_length, value)
            except SnapshotError:
                # It was rewritten while it waited. The output does not contain it yet, so it is opened as it is now.
                del self.events[following.event_count :]
                del self.spine[following.spine_length :]
                self._next = None
                self._open(following.path, value)
            finally:
                self._is_strict = was_strict

    # Comparing, from the outermost value of the spine inwards. A contradiction is replaced in the snapshot, in place,
    # by the value that is written, so later steps see the document as the output has it.

    def _compare(self, start: int, value: object) -> tuple[list[object], int]:
        """Return the new value of each open value, and the index of the outermost one that has news, or -1.

        News are members or items after the value that is open inside.
        """
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
                    _set(grown[-1], before.path.step, value)
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
        # Only new values are checked against the limits, and a contradicting value may never count as new.
        self._check(ROOT, self._snapshot, 0)
        self._is_checked = True
        for contradiction in found:
            if self._is_strict:
                raise SnapshotError(contradiction.path, contradiction.reason, self._step)
            self.contradictions.append(contradiction)

    # Opening, continuing, closing.

    def _open(self, path: Path, value: object) -> None:
        """Open a new value: treat it as if it had been there before, empty."""
        while True:
            if isinstance(value, str):
                self.events.append(Event(START_STRING, path))
                self._continue(Open(path, ""), value)
                return
            if isinstance(value, dict):
                self.events.append(Event(START_OBJECT, path))
                self._continue(Open(path, {}), value)
            elif isinstance(value, list):
                self.events.append(Event(START_ARRAY, path))
                self._continue(Open(path, []), value)
            else:
                append_whole(self.events, path, value)
                return
            inner, self._next = self._next, None
            if inner is None:
                return
            path, value = inner.path, inner.value

    def _continue(self, before: Open, value: object) -> None:
        """Write what is new in the innermost value of the spine."""
        if isinstance(value, dict):
            self._continue_object(before, value)
        elif isinstance(value, list):
            self._continue_array(before, value)
        else:
            text = cast("str", value)
            more = writable(text)[len(writable(cast("str", before.value))) :]
            if more:
                self.events.append(Event(PARTIAL_STRING, before.path, more))
            self.spine.append(Open(before.path, text))

    def _continue_array(self, before: Open, items: list[object]) -> None:
        """Rule 5: all new items but the last are complete. The last one is opened if it may grow."""
        path = before.path
        self.spine.append(Open(path, items))
        for index in range(len(cast("list[object]", before.value)), len(items)):
            if index == len(items) - 1 and is_growable(items[index]):
                self._open_next(Path(path, index), items[index], items[index])
            else:
                append_whole(self.events, Path(path, index), items[index])

    def _continue_object(self, before: Open, members: dict[str, object]) -> None:
        """Rules 1 to 4: write the complete members, then open one member, or let several wait."""
        path, old = before.path, cast("dict[str, object]", before.value)
        # Rule 4: waiting members that did not move are complete.
        complete, waits = self._sort_waiting(before, members)
        # Rule 1: new atoms are written at once, before anything is opened.
        for key, member in members.items():
            if key not in old:
                if is_growable(member):
                    waits[key] = NOT_CALLED
                else:
                    complete.append(key)
        for key in complete:
            append_whole(self.events, Path(path, key), members[key])
        # Rule 3: if several members may be growing, all of them wait.
        if len(waits) != 1:
            self.spine.append(Open(path, members, waits))
            return
        # Rule 2: a single candidate is opened.
        self.spine.append(Open(path, members))
        for key in waits:
            self._open_next(Path(path, key), old.get(key, members[key]), members[key])

    def _sort_waiting(self, before: Open, members: dict[str, object]) -> tuple[list[str], dict[str, int]]:
        """Rule 4: return the waiting members that are complete now, and those that wait on.

        A member that vanished is in neither: the output does not contain it.
        """
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
            # Several members that move at once contradict left-to-right writing. Waiting on loses nothing.
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
        complete.sort(key=moved.__contains__)  # a member that moved comes after those that did not
        return complete, waits

    def _open_next(self, path: Path, old: object, value: object) -> None:
        self._next = NextValue(path, old, value, len(self.events), len(self.spine))

    def _close(self, one: Open, value: object) -> None:
        """Rules 4 and 7: write the rest of an open value, and its end."""
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
    """Return the reason why an open value cannot have become `value`, or None if it can."""
    if type(value) is not type(before):
        return Reason.CHANGED_KIND
    if isinstance(value, str):
        written = writable(cast("str", before))
        if not value.startswith(written):
            return string_contradiction(written, value)
    return None


def _set(container: object, step: Step | None, value: object) -> None:
    if isinstance(container, dict):
        container[step] = value
    else:
        cast("list[object]", container)[cast("int", step)] = value
