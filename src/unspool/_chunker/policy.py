"""The rules: which text a new snapshot adds to the output.

The document is written from left to right. The output holds all complete values and one open place: the *spine*, the
open values from the root down to the innermost value that may still grow. The rest of the last snapshot *waits* in the
innermost open object, because no snapshot has shown yet which of these values comes next.

    {"days": [{"title": "Day 1"}, {"a": "x", "b": "y"}]}        spine   $, $.days, $.days[1]
                                                                waiting "a" and "b" in $.days[1]

This module holds two things, in this order:

- contradictions: how a snapshot differs from text that is already written
- `Plan`: the events that one snapshot adds. The numbers of its rules are those of docs/snapshots.md:

    1. Atoms first              4. Moved on                   7. Ends come from moving on,
    2. One candidate is opened  5. Arrays know their order       or from the flush
    3. Two or more wait         6. A pause is not an end      8. Empty values wait (an option)

A plan never changes the state that it starts from, so a rejected snapshot leaves no trace. A plan decides and does not
write: the chunker hands its events to the writer.

Values can also wait outside the innermost object: empty ones by rule 8, and with patience everything that came after an
open value that may not be complete. Plans with rule 8 or patience are *careful*: they look at the waiting values of the
whole spine. All other plans need not.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Containers hold any JSON value; the code checks the type of each value before it uses it.

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
from .values import Limits, Number, append_whole, is_growable, is_zero, note_blanks, put_in_order, same, writable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._path import Step

__all__ = ["BLANK", "NOT_CALLED", "Contradiction", "Open", "Plan", "Rules", "string_contradiction"]

NOT_CALLED: Final = -1  # rule 4 has not called this value complete
BLANK: Final = -2  # rule 8: this waiting value is empty
NOTHING_WAITS: Final[dict[str, int]] = {}


# ---- contradictions ----------------------------------------------------------------------------------


@final
class Contradiction:
    """A place where the newest snapshot differs from the written text. `value` is MISSING where it has none.

    `before` is the value that the last snapshot had there.
    """

    __slots__ = ("before", "path", "reason", "value")

    def __init__(self, path: Path, reason: Reason, before: object, value: object) -> None:
        self.path = path
        self.reason = reason
        self.before = before
        self.value = value


def contradictions(path: Path, written: object, value: object) -> Iterator[Contradiction]:
    """Yield every place where `value` differs from the complete value that is written at `path`."""
    pairs: list[tuple[Path, object, object]] = [(path, written, value)]
    while pairs:
        path, written, value = pairs.pop()
        if type(written) is not type(value):
            yield Contradiction(path, Reason.VANISHED if value is MISSING else Reason.CHANGED_KIND, written, value)
        elif isinstance(written, dict):
            seen = cast("dict[str, object]", value)
            members = cast("dict[str, object]", written)
            if not seen.keys() <= members.keys():
                yield Contradiction(path, Reason.GREW_LATE, written, value)
            pairs.extend([(Path(path, key), members[key], seen.get(key, MISSING)) for key in reversed(members)])
        elif isinstance(written, list):
            items = cast("list[object]", written)
            seen_items = cast("list[object]", value)
            if len(items) != len(seen_items):
                is_shorter = len(seen_items) < len(items)
                yield Contradiction(path, Reason.SHORTER if is_shorter else Reason.GREW_LATE, written, value)
            shared = range(min(len(items), len(seen_items)) - 1, -1, -1)
            pairs.extend([(Path(path, index), items[index], seen_items[index]) for index in shared])
        elif written == value:
            continue
        elif isinstance(written, str):
            yield Contradiction(path, string_contradiction(written, cast("str", value)), written, value)
        else:
            yield Contradiction(path, Reason.CHANGED, written, value)


def string_contradiction(written: str, text: str) -> Reason:
    """Return the reason why a string differs from the one that was written."""
    if text.startswith(written):
        return Reason.GREW_LATE
    return Reason.SHRUNK if written.startswith(text) else Reason.REWRITTEN


# ---- the plan ----------------------------------------------------------------------------------------


@final
class Open:
    """One open value of the spine: its value in the last snapshot, and which of its contents wait.

    Members that neither wait nor are open themselves (the next value of the spine) are written completely, and so are
    all items of an array but the last `held`. A waiting member has a number: for how many distinct snapshots it has
    stayed the same since rule 4 called it complete. `called` is this number of the open value itself.
    """

    __slots__ = ("called", "held", "path", "value", "waiting")

    def __init__(
        self,
        path: Path,
        value: object,
        waiting: dict[str, int] = NOTHING_WAITS,
        held: int = 0,
        called: int = NOT_CALLED,
    ) -> None:
        self.path = path
        self.value = value
        self.waiting = waiting
        self.held = held
        self.called = called


@final
class Verdict:
    """What a snapshot shows about the members of an open object: which waiting ones are complete, which wait on.

    `waits` has the complete ones too, in the order in which they were first seen. `called` is the new number of the
    member that is open.
    """

    __slots__ = ("called", "complete", "waits")

    def __init__(self, complete: list[str], waits: dict[str, int], called: int) -> None:
        self.complete = complete
        self.waits = waits
        self.called = called


@final
class Rules:
    """The settings of a chunker that its plans follow. `keeps` decides about a contradiction; None keeps nothing."""

    __slots__ = ("empty_waits", "is_careful", "keeps", "limits", "patience")

    def __init__(
        self, limits: Limits, patience: int, empty_waits: bool, keeps: Callable[[Contradiction], bool] | None
    ) -> None:
        self.limits = limits
        self.patience = patience
        self.empty_waits = empty_waits
        self.is_careful = patience > 0 or empty_waits
        self.keeps = keeps


@final
class NextValue:
    """The value that is opened next: first as it was in the last snapshot, then grown to what it is now."""

    __slots__ = ("called", "event_count", "old", "path", "spine_length", "value")

    def __init__(
        self, path: Path, old: object, value: object, called: int, event_count: int, spine_length: int
    ) -> None:
        self.path = path
        self.old = old
        self.value = value
        self.called = called
        self.event_count = event_count  # of the plan, before this value is opened
        self.spine_length = spine_length


@final
class Plan:
    """The effect of one snapshot: the `events` to write, the new `root` and `spine`, and the `contradictions`.

    A contradiction in the list means that the plan keeps the written value. Any other contradiction is raised.
    `together` has the paths of the waiting values that moved at once.
    """

    __slots__ = (
        "_blanks",
        "_is_checked",
        "_is_trial",
        "_limits",
        "_next",
        "_rules",
        "_snapshot",
        "_step",
        "contradictions",
        "events",
        "root",
        "spine",
        "together",
    )

    def __init__(self, root: object, spine: Iterable[Open], step: int, rules: Rules) -> None:
        self.root = root
        self.spine = list(spine)
        self.events: list[Event] = []
        self.contradictions: list[Contradiction] = []
        self.together: list[Path] = []
        self._rules = rules
        self._limits = rules.limits
        self._step = step
        self._blanks: dict[int, bool] = {}  # of the containers, by their id
        self._is_trial = False  # every contradiction is raised
        self._is_checked = False  # the whole snapshot is known to keep within the limits
        self._snapshot: object = MISSING
        self._next: NextValue | None = None  # set by the last decision

    def take(self, value: object) -> None:
        """Plan for one snapshot. Raise `SnapshotError` if it is rejected; the plan is then useless."""
        self._snapshot = value
        if self.root is MISSING or self.holds_root():
            self._limits.check(ROOT, value, 0, self._step)
            put_in_order(self.root, value)
            self.root = value
            if not self.holds_root():
                self._open(ROOT, value)
        elif self.spine:
            self._grow(0, value)
            self._open_deeper()
            self.root = self.spine[0].value
        elif not same(self.root, value):  # a number, a boolean or null: it is complete
            self._contradict(contradictions(ROOT, self.root, value))

    def finish(self) -> None:
        """Rule 7: plan for the end. Everything that is open or waits is complete."""
        if self.holds_root():
            append_whole(self.events, ROOT, self.root)
        for one in reversed(self.spine):
            self._close(one, one.value)
        self.spine = []

    def holds_root(self) -> bool:
        """Rule 8: return True if the document itself waits, so nothing of it is written."""
        if self.spine or self.root is MISSING or not self._rules.empty_waits:
            return False
        return isinstance(self.root, Number) or self._is_blank(self.root)

    def _grow(self, start: int, value: object) -> None:
        """Grow the spine from index `start` on to what it is in `value`.

        Rule 6 needs no code: a snapshot that is equal to the last one has no news at any place, so no event follows.
        """
        if self._rules.is_careful:
            self._grow_carefully(start, value)
            return
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

    def _grow_carefully(self, start: int, value: object) -> None:
        """Grow the spine, as `_grow` does, where values may wait at any place of it.

        From the outermost value inwards, find the first one whose open content is complete. It writes what is new.
        """
        spine = self.spine
        grown, _ = self._compare(start, value)
        last = len(spine) - 1
        has_changed = self._changes(start, grown)
        is_distinct = start > 0 or has_changed[0]
        called = spine[start].called
        at = start
        while True:
            before, value = spine[at], grown[at - start]
            before = Open(before.path, before.value, before.waiting, before.held, called)
            has_inner = at < last
            inner_changed = has_inner and has_changed[at - start + 1]
            called = spine[at + 1].called if has_inner else NOT_CALLED
            verdict = None
            if isinstance(value, dict):
                verdict = self._judge(before, value, has_inner, inner_changed, called, is_distinct)
                called = verdict.called
            elif isinstance(value, list) and has_inner:
                called = self._called_in_array(before, value, inner_changed, called, is_distinct)
            if not has_inner or 0 <= called >= self._rules.patience:
                break
            if verdict is not None:
                spine[at] = Open(before.path, value, verdict.waits, 0, before.called)
            else:
                written = len(cast("list[object]", before.value)) - before.held
                spine[at] = Open(
                    before.path, value, NOTHING_WAITS, len(cast("list[object]", value)) - written, before.called
                )
            at += 1
        for inner in range(last, at, -1):
            self._close(spine[inner], grown[inner - start])
        del spine[at:]
        if verdict is not None:
            self._write_members(before, cast("dict[str, object]", value), verdict)
        else:
            self._continue(before, value)

    def _changes(self, start: int, grown: list[object]) -> list[bool]:
        """Return for each open value whether it differs from the last snapshot, to any depth."""
        has_changed: list[bool] = []
        is_changed = False
        for at in range(len(self.spine) - 1, start - 1, -1):
            before, value = self.spine[at], grown[at - start]
            if not is_changed:
                is_changed = _has_changed(before, value)
            has_changed.append(is_changed)
        has_changed.reverse()
        return has_changed

    def _called_in_array(
        self, before: Open, items: list[object], is_changed: bool, called: int, is_distinct: bool
    ) -> int:
        """Rule 4, for the open item of an array: an item after it calls it complete."""
        for index in range(len(items) - 1, len(cast("list[object]", before.value)) - before.held - 1, -1):
            if not self._is_blank(items[index]):
                if called == NOT_CALLED or is_changed:
                    return 0
                return called + 1 if is_distinct else called
        return NOT_CALLED

    def _judge(
        self,
        before: Open,
        members: dict[str, object],
        has_inner: bool,
        inner_changed: bool,
        called: int,
        is_distinct: bool,
    ) -> Verdict:
        """Rules 1, 4 and 8: sort the members that are not written completely. One of them may be open.

        A member that vanished is in no list: the output does not contain it.
        """
        path, old, waiting = before.path, cast("dict[str, object]", before.value), before.waiting
        waits: dict[str, int] = {}
        moved: set[str] = set()
        has_news = False
        for key, count in waiting.items():
            if key in members:
                member = members[key]
                if self._is_blank(member):
                    waits[key] = BLANK
                elif count == BLANK:
                    waits[key] = NOT_CALLED
                    has_news = True
                else:
                    waits[key] = count
                    if old[key] is not member:
                        moved.add(key)
        new: list[str] = []
        if len(members) > len(waits) + len(old) - len(waiting):
            for key, member in members.items():
                if key not in old:
                    new.append(key)
                    if self._is_blank(member):
                        waits[key] = BLANK
                    else:
                        waits[key] = NOT_CALLED
                        has_news = True
        movers = len(moved) + (1 if inner_changed else 0)
        if movers > 1:
            self.together.extend([Path(path, key) for key in moved])
        complete: list[str] = []
        late: list[str] = []
        for key, count in waiting.items():
            if count == BLANK or waits.get(key, BLANK) == BLANK:
                continue
            is_mover = key in moved
            count = _next_count(count, is_mover, movers, has_news, is_distinct)
            waits[key] = count
            if self._is_settled(members[key]) or 0 <= count >= self._rules.patience:
                (late if is_mover else complete).append(key)
        # Rule 1: new atoms are written at once, before anything is opened.
        complete += late  # a member that moved comes after those that did not
        for key in waits if has_news else ():
            is_fresh = waiting[key] == BLANK if key in waiting else True
            if is_fresh and waits[key] != BLANK and self._is_settled(members[key]):
                complete.append(key)
        if has_inner:
            called = _next_count(called, inner_changed, movers, has_news, is_distinct)
        return Verdict(complete, waits, called)

    def _is_settled(self, value: object) -> bool:
        """Rules 1 and 8: return True for atoms that are complete. By rule 8 numbers may still get more digits."""
        return not is_growable(value) and not (self._rules.empty_waits and isinstance(value, Number))

    def _is_blank(self, value: object) -> bool:
        """Rule 8: return True for values that may be the default of a value that is not written yet."""
        if not self._rules.empty_waits:
            return False
        if isinstance(value, (dict, list)):
            if id(value) not in self._blanks:
                note_blanks(value, self._blanks)
            return self._blanks[id(value)]
        return value is None or value is False or value == "" or (isinstance(value, Number) and is_zero(value.text))

    def _open_deeper(self) -> None:
        """Rule 3: open a container that waited as it was, then grow it. This decides about its contents as well."""
        self._is_checked = True
        while self._next is not None:
            following, self._next = self._next, None
            old, value = following.old, following.value
            if type(old) is not type(value):
                old = value
            self._open(following.path, old, following.called)
            if old is value:
                continue
            try:
                self._is_trial = True
                self._grow(following.spine_length, value)
            except SnapshotError:
                # It was rewritten while it waited. The output does not contain it yet, so it is opened as it is now.
                del self.events[following.event_count :]
                del self.spine[following.spine_length :]
                self._next = None
                self._open(following.path, value, following.called)
            finally:
                self._is_trial = False

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
                self._contradict([Contradiction(before.path, reason, before.value, value)])
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
                    self._contradict([Contradiction(Path(before.path, key), Reason.VANISHED, written, MISSING)])
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
        written = len(old) - before.held
        closed = written if inner is None else written - 1
        if not same(old[:closed], items[:closed]):
            for index in range(min(closed, len(items))):
                if not same(old[index], items[index]):
                    self._contradict(contradictions(Path(before.path, index), old[index], items[index]))
                    items[index] = old[index]
        if len(items) < written:
            self._contradict([Contradiction(before.path, Reason.SHORTER, old, list(items))])
            items.extend(old[len(items) : written])
        for index in range(written, len(items)):
            if index < len(old):
                if same(old[index], items[index]):
                    items[index] = old[index]
                    continue
                put_in_order(old[index], items[index])
            self._check(Path(before.path, index), items[index], depth)
        return len(items) > len(old)

    def _check(self, path: Path, value: object, depth: int) -> None:
        if not self._is_checked:
            self._limits.check(path, value, depth, self._step)

    def _contradict(self, found: Iterable[Contradiction]) -> None:
        # Only new values are checked against the limits, and a contradicting value may never count as new.
        self._check(ROOT, self._snapshot, 0)
        self._is_checked = True
        keeps = None if self._is_trial else self._rules.keeps
        for contradiction in found:
            if keeps is None or not keeps(contradiction):
                raise SnapshotError(contradiction.path, contradiction.reason, self._step)
            self.contradictions.append(contradiction)

    # Opening, continuing, closing.

    def _open(self, path: Path, value: object, called: int = NOT_CALLED) -> None:
        """Open a new value: treat it as if it had been there before, empty."""
        while True:
            if isinstance(value, str):
                self.events.append(Event(START_STRING, path))
                self._continue(Open(path, "", NOTHING_WAITS, 0, called), value)
                return
            if isinstance(value, dict):
                self.events.append(Event(START_OBJECT, path))
                self._continue(Open(path, {}, NOTHING_WAITS, 0, called), value)
            elif isinstance(value, list):
                self.events.append(Event(START_ARRAY, path))
                self._continue(Open(path, [], NOTHING_WAITS, 0, called), value)
            else:
                append_whole(self.events, path, value)
                return
            inner, self._next = self._next, None
            if inner is None:
                return
            path, value, called = inner.path, inner.value, inner.called

    def _continue(self, before: Open, value: object) -> None:
        """Write what is new in the innermost value of the spine."""
        if isinstance(value, dict):
            if self._rules.is_careful:
                self._write_members(before, value, self._judge(before, value, False, False, NOT_CALLED, True))
            else:
                self._continue_object(before, value)
        elif isinstance(value, list):
            self._continue_array(before, value)
        else:
            text = cast("str", value)
            more = writable(text)[len(writable(cast("str", before.value))) :]
            if more:
                self.events.append(Event(PARTIAL_STRING, before.path, more))
            self.spine.append(Open(before.path, text, NOTHING_WAITS, 0, before.called))

    def _continue_array(self, before: Open, items: list[object]) -> None:
        """Rule 5: all new items but the last are complete. The last one is opened if it may grow.

        Rule 8: empty items at the end wait. A number waits if all items after it are empty.
        """
        path = before.path
        start = len(cast("list[object]", before.value)) - before.held
        last = len(items) - 1
        end = len(items)
        if self._rules.empty_waits:
            while last >= start and self._is_blank(items[last]):
                last -= 1
            end = last if last >= start and isinstance(items[last], Number) else last + 1
        self.spine.append(Open(path, items, NOTHING_WAITS, len(items) - end, before.called))
        for index in range(start, end):
            if index == last and is_growable(items[index]):
                self._open_next(Path(path, index), items[index], items[index], NOT_CALLED)
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
            self._open_next(Path(path, key), old.get(key, members[key]), members[key], NOT_CALLED)

    def _write_members(self, before: Open, members: dict[str, object], verdict: Verdict) -> None:
        """Rules 1 to 4 and 8, after the verdict: write the complete members, then open one, or let several wait."""
        path, old, waits = before.path, cast("dict[str, object]", before.value), verdict.waits
        for key in verdict.complete:
            append_whole(self.events, Path(path, key), members[key])
            del waits[key]
        candidates = [key for key, count in waits.items() if count != BLANK]
        if len(candidates) != 1 or not is_growable(members[candidates[0]]):
            self.spine.append(Open(path, members, waits, 0, before.called))
            return
        key = candidates[0]
        called = waits.pop(key)
        self.spine.append(Open(path, members, waits, 0, before.called))
        self._open_next(Path(path, key), old.get(key, members[key]), members[key], called)

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
        if len(moved) > 1:
            self.together.extend([Path(before.path, key) for key in moved])
        has_news = len(members) > len(present) + len(old) - len(before.waiting)
        # Several members that move at once contradict left-to-right writing. Waiting on loses nothing.
        is_over = len(moved) < 2 and has_news
        for key in present:
            is_called = is_over or (len(moved) == 1 and key not in moved)
            if is_called or not is_growable(members[key]):
                complete.append(key)
            else:
                waits[key] = NOT_CALLED
        complete.sort(key=moved.__contains__)  # a member that moved comes after those that did not
        return complete, waits

    def _open_next(self, path: Path, old: object, value: object, called: int) -> None:
        self._next = NextValue(path, old, value, called, len(self.events), len(self.spine))

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
            for index in range(len(cast("list[object]", one.value)) - one.held, len(value)):
                append_whole(self.events, Path(path, index), value[index])
            self.events.append(Event(END_ARRAY, path))
        else:
            self.events.append(Event(COMPLETE_STRING, path, value))


def _has_changed(before: Open, value: object) -> bool:
    """Return True if the contents of an open value that are not written or open differ from the last snapshot."""
    if isinstance(value, dict):
        old = cast("dict[str, object]", before.value)
        for key in before.waiting:
            if key not in value or old[key] is not value[key]:
                return True
        return len(value) != len(old)
    if isinstance(value, list):
        old_items = cast("list[object]", before.value)
        if len(value) != len(old_items):
            return True
        held = range(len(value) - before.held, len(value))
        return len([index for index in held if old_items[index] is not value[index]]) > 0
    return bool(value != before.value)


def _next_count(count: int, is_mover: bool, movers: int, has_news: bool, is_distinct: bool) -> int:
    """Rule 4: return for how many distinct snapshots a value has stayed the same since it was called complete.

    Several values that move at once contradict left-to-right writing. Waiting on loses nothing.
    """
    is_called = movers < 2 and (has_news or (movers == 1 and not is_mover))
    if is_mover or count == NOT_CALLED:
        return 0 if is_called else NOT_CALLED
    return count + 1 if is_distinct else count


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
