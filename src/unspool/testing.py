"""For tests of code that reads or writes JSON in pieces: ways to cut a text, snapshots of a document, two assertions.

It stands on top of everything, and nothing stands on it. It needs no test framework: what is random comes from a seed,
so that it can be repeated, and drawn by hypothesis; what fails is an AssertionError.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator
from itertools import pairwise
from random import Random
from reprlib import Repr
from typing import TYPE_CHECKING, Any, AnyStr, Final, NoReturn, TypeGuard, TypeVar, final

from ._chunker.values import append_whole, copied
from ._errors import OptionsError
from ._grammar.writer import Writer
from ._missing import MISSING
from ._options import UNLIMITED_OPTIONS
from ._path import ROOT, Path
from ._streams import iter_values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ._events import Event
    from ._path import Step

__all__ = ["assert_cutting_is_not_observable", "assert_only_grows", "every_cut", "random_cuts", "snapshots_of"]

T = TypeVar("T")

DEEPEST: Final = 100_000  # a value that holds itself ends here
COARSENESSES: Final = (1, 2, 8, 64) * 5  # of the random cuttings that the assertion tries
MOST_TRIES: Final = 200  # to make a cutting simpler, once there is one that fails

SHORT: Final = Repr()
SHORT.maxstring = SHORT.maxother = 80


# ---- cutting a text ----------------------------------------------------------------------------------


def every_cut(text: AnyStr) -> Iterator[list[AnyStr]]:
    """Every way to cut `text` in two, at each place from 0 to its length: the first and the last have an empty half.

    Bytes are cut inside characters too.
    """
    for place in range(len(text) + 1):
        yield [text[:place], text[place:]]


def random_cuts(text: AnyStr, seed: int, *, coarseness: float = 8) -> list[AnyStr]:
    """Fragments that make up `text`, the same for the same seed, with at least one that is empty.

    Those that are not are `coarseness` long on average, most of them shorter and a few much longer. With 1, each is
    one character, or byte.
    """
    source = _source(seed)
    fragments: list[AnyStr] = []
    for piece in _pieces(text, coarseness, source):
        fragments += [text[:0], piece] if source.random() < 1 / 8 else [piece]
    fragments.insert(source.randrange(len(fragments) + 1), text[:0])
    return fragments


def _pieces(text: AnyStr, coarseness: float, source: Random) -> list[AnyStr]:
    if not coarseness >= 1:
        raise OptionsError("coarseness must be 1 or more")
    pieces: list[AnyStr] = []
    start = 0
    while start < len(text):
        end = start + 1 + round((coarseness - 1) * source.expovariate(1))
        pieces.append(text[start:end])
        start = end
    return pieces


def _source(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - to be repeated, not to be secret


# ---- snapshots of a document -------------------------------------------------------------------------


def snapshots_of(
    value: object, *, coarseness: float = 1, shuffle: bool = False, repeats: bool = False, seed: int = 0
) -> list[Any]:
    """What a source shows that writes `value` from left to right: growing values, the last of which equals `value`.

    Between two looks at it `coarseness` characters of the canonical text pass on average; with 1, it is looked at after
    each. A look that shows nothing new gives no snapshot. With `repeats` some snapshots come several times, and with
    `shuffle` every object has its keys in random order, in each snapshot anew; without them the same seed gives the
    same values.

    The snapshots share nothing with each other, nor with `value`. Raises `SnapshotError` for what JSON does not have.
    """
    source = _source(seed)
    shown = list(iter_values(_pieces(_canonical(value), coarseness, source), UNLIMITED_OPTIONS))
    if repeats:
        shown = [snapshot for snapshot in shown for _ in range(source.choice((1, 1, 2, 3)))]
    return [_copied(snapshot, source if shuffle else None) for snapshot in shown]


def _canonical(value: object) -> str:
    """The text of a value, without white space."""
    events: list[Event] = []
    append_whole(events, ROOT, copied(value, DEEPEST, 1))
    return Writer().write(events)


def _copied(value: Any, shuffler: Random | None) -> Any:
    holder = [value]
    to_copy: list[Any] = [holder]
    while to_copy:
        container = to_copy.pop()
        for step, child in _entries(container):
            if _is_container(child):
                entries = _entries(child)
                if _is_object(child) and shuffler is not None:
                    shuffler.shuffle(entries)
                container[step] = dict(entries) if _is_object(child) else [item for _, item in entries]
                to_copy.append(container[step])
    return holder[0]


def _is_object(value: object) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def _is_container(value: object) -> bool:
    return isinstance(value, (dict, list))


def _entries(container: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> list[tuple[Any, Any]]:
    return list(container.items() if isinstance(container, dict) else enumerate(container))


# ---- cutting is not observable -----------------------------------------------------------------------


def assert_cutting_is_not_observable(
    fn: Callable[[list[AnyStr]], T], text: AnyStr, *, most_cuts: int = 200, seed: int = 0
) -> T | Exception:
    """Assert that `fn`, which takes the fragments of a text, makes the same of `text` however it is cut.

    `fn` gets the text whole; whole again, because what differs then is not the cutting; cut in two at every place, or
    at `most_cuts` of them if there are more; one character, or byte, at a time; and cut at random, with empty fragments
    in between. So it reads the text a few hundred times, whatever its length.

    What it returns is compared with ``==``. An exception is an outcome too, compared by its type and its message; but
    an assertion that fails in `fn` for the whole text is raised. Returns the outcome for the whole text: what `fn`
    returned, or the exception that it raised.
    """
    __tracebackhide__ = True
    whole = _outcome(fn, [text])
    if isinstance(whole, _Raised) and isinstance(whole.error, AssertionError):
        raise whole.error
    for fragments in _cuttings(text, most_cuts, _source(seed)):
        outcome = _outcome(fn, fragments)
        if outcome == whole:
            continue
        raise AssertionError(_report(whole, *_simplified(fn, fragments, outcome, whole)))
    return whole.error if isinstance(whole, _Raised) else whole


@final
class _Raised:
    """The outcome of a call that raised."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Raised):
            return False
        return type(self.error) is type(other.error) and str(self.error) == str(other.error)

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


def _outcome(fn: Callable[[list[AnyStr]], T], fragments: list[AnyStr]) -> T | _Raised:
    try:
        result = fn(fragments.copy())
    except Exception as error:  # noqa: BLE001 - whatever it is, it has to be the same for every cutting
        return _Raised(error)
    if isinstance(result, (Iterator, AsyncIterator, Awaitable)):
        raise TypeError(f"fn returned {SHORT.repr(result)}, which equals nothing else: return what comes out of it")
    return result


def _cuttings(text: AnyStr, most_cuts: int, source: Random) -> Iterator[list[AnyStr]]:
    yield [text]
    places = range(len(text) + 1)
    for place in places if len(places) <= most_cuts else source.sample(places, most_cuts):
        yield [text[:place], text[place:]]
    yield [text[place : place + 1] for place in range(len(text))]
    for coarseness in COARSENESSES:
        yield random_cuts(text, source.getrandbits(32), coarseness=coarseness)


def _simplified(fn: Any, fragments: list[Any], outcome: object, whole: object) -> tuple[list[Any], object]:
    """Fewer fragments that still make a difference, and what came of them: joined are as many as can be."""
    tries = MOST_TRIES
    joints = len(fragments) // 2
    while joints:
        at = 0
        while at + joints < len(fragments) and tries:
            tries -= 1
            end = at + joints + 1
            joined = [*fragments[:at], fragments[at][:0].join(fragments[at:end]), *fragments[end:]]
            outcome_when_joined = _outcome(fn, joined)
            if outcome_when_joined == whole:
                at += joints
            else:
                fragments, outcome = joined, outcome_when_joined
        joints //= 2
    return fragments, outcome


def _report(whole: object, fragments: list[Any], outcome: object) -> str:
    lines = [
        "cutting is observable" if len(fragments) != 1 else "the whole text gives another outcome the second time",
        f"  fragments: {SHORT.repr(fragments)}",
        f"  whole: {SHORT.repr(whole)}",
        f"  cut: {SHORT.repr(outcome)}",
    ]
    place, one, other = _first_difference(whole, outcome)
    if place:
        lines.append(f"  first difference, at outcome{place}: {SHORT.repr(one)} is not {SHORT.repr(other)}")
    return "\n".join(lines)


def _first_difference(one: Any, other: Any) -> tuple[str, Any, Any]:
    """Where two outcomes begin to differ, and what is there; `MISSING` where one of them has nothing."""
    place = ""
    while type(one) is type(other) and issubclass(type(one), (dict, list, tuple)):
        ones, others = dict(_entries(one)), dict(_entries(other))
        differing = [step for step in {**ones, **others} if ones.get(step, MISSING) != others.get(step, MISSING)]
        if not differing:  # they have their own idea of being equal
            break
        one, other = ones.get(differing[0], MISSING), others.get(differing[0], MISSING)
        place += f"[{differing[0]!r}]"
    if isinstance(one, (str, bytes)) and type(one) is type(other):
        unequal = (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
        start = next(unequal, min(len(one), len(other)))
        one, other, place = one[start:], other[start:], f"{place}[{start}:]"
    return place, one, other


# ---- values only grow --------------------------------------------------------------------------------


def assert_only_grows(values: Iterable[object], *, key_order: bool = True) -> None:
    """Assert that each of these values can follow the one before it, where a document is written from left to right.

    Numbers, booleans and null stay, in type and value; a string begins with the one before; of an array only the last
    item may have grown, and new ones follow; of an object likewise, by the order of its keys. `MISSING` may come first.
    With ``key_order=False`` the order of keys means nothing, as in snapshots: one entry of an object may have grown,
    but none that is complete because another one has grown, or was added, since it was there.

    Each value must be one of its own: a value that is changed in place is always equal to itself.
    """
    __tracebackhide__ = True
    growth = _Growth(key_order)
    for value in values:
        growth.go_on(value)


@final
class _Growth:
    """The last value of a sequence, and what in it may still grow.

    That is the outermost thing that grew last, whatever it stands in, and the entries that were new in it. All the rest
    was there before something else grew, so it is complete.
    """

    __slots__ = ("_index", "_key_order", "_new", "_place", "_value")

    def __init__(self, key_order: bool) -> None:
        self._key_order = key_order
        self._value: object = MISSING
        self._index = -1
        self._place: tuple[Step, ...] = ()
        self._new: Collection[Step] | None = None  # None: whatever is there

    def go_on(self, value: object) -> None:
        __tracebackhide__ = True
        before, self._value = self._value, value
        self._index += 1
        grown = [] if before is MISSING else self._compare(before, value)
        grown.sort(key=lambda place: len(place[0]))
        for (outer, _), (inner, _) in pairwise(grown):
            if inner.steps[: len(outer)] != outer.steps:
                self._fail(inner, f"it grew, and so did {outer}")
        if grown:
            self._place, self._new = grown[0][0].steps, grown[0][1]

    def _compare(self, before: Any, after: Any) -> list[tuple[Path, Collection[Step]]]:
        """What has grown: the strings that are longer, the containers that have new entries, and which these are."""
        __tracebackhide__ = True
        grown: list[tuple[Path, Collection[Step]]] = []
        # With the depth if it is on the way to what grew last, otherwise None; and whether it may grow.
        pairs: list[tuple[Path, Any, Any, int | None, bool]] = [(ROOT, before, after, 0, True)]
        while pairs:
            path, before, after, depth, may_grow = pairs.pop()
            new = self._new_in(path, before, after)
            if new is not None:
                if not may_grow:
                    self._fail(path, "it grew after it was complete", before, after)
                grown.append((path, new))
            entries = _entries(before) if _is_container(before) else []
            only_last = self._key_order or not _is_object(before)
            growing: Collection[Step] | None = None
            if depth is not None and depth < len(self._place):
                growing, depth = (self._place[depth],), depth + 1
            elif depth is not None:
                growing, depth = self._new, None
            for step, child in reversed(entries):
                if child is not after[step]:
                    is_open = (growing is None or step in growing) and (not only_last or step == entries[-1][0])
                    pairs.append((path / step, child, after[step], depth, may_grow and is_open))
        return grown

    def _new_in(self, path: Path, before: Any, after: Any) -> Collection[Step] | None:
        """The new entries, () for a string that is longer, or None if nothing is new."""
        __tracebackhide__ = True
        if type(before) is not type(after):
            self._fail(path, "it is of another kind", before, after)
        if _is_object(before):
            for key in before:
                if key not in after:
                    self._fail(path / key, "it is gone")
            if self._key_order and list(before) != list(after)[: len(before)]:
                self._fail(path, "its keys are in another order", list(before), list(after))
            return after.keys() - before.keys() or None
        if _is_container(before):
            if len(after) < len(before):
                self._fail(path, "it is shorter", before, after)
            return range(len(before), len(after)) or None
        if isinstance(before, str):
            if not after.startswith(before):
                self._fail(path, "it does not begin as before", before, after)
            return () if len(after) > len(before) else None
        if before != after or (isinstance(before, float) and str(before) != str(after)):  # zero has a sign
            self._fail(path, "it is another one", before, after)
        return None

    def _fail(self, path: Path, why: str, *values: object) -> NoReturn:
        __tracebackhide__ = True
        became = ": " + " became ".join(map(SHORT.repr, values)) if values else ""
        raise AssertionError(f"value {self._index} (from 0) cannot follow the one before, at {path}: {why}{became}")
