"""Helpers for tests of code that reads or writes JSON in pieces.

- `every_cut` and `random_cuts` cut a text into fragments
- `snapshots_of` returns the snapshots of a document that is being written
- `assert_cutting_is_not_observable` and `assert_only_grows` check laws of streaming code
- `assert_fragments_are` compares the output of a chunker with the last snapshot

They need no test framework. Random choices come from a seed, so they can be repeated, or drawn by hypothesis. Failures
raise AssertionError.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator
from itertools import pairwise
from random import Random
from reprlib import Repr
from typing import TYPE_CHECKING, Any, AnyStr, Final, NoReturn, TypeGuard, TypeVar, final

from ._chunker.differences import diff_snapshots
from ._chunker.values import copied, text_of
from ._errors import OptionsError, SnapshotError
from ._missing import MISSING
from ._options import UNLIMITED_OPTIONS
from ._path import ROOT, Path
from ._streams import iter_values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ._path import Step

__all__ = [
    "assert_cutting_is_not_observable",
    "assert_fragments_are",
    "assert_only_grows",
    "every_cut",
    "random_cuts",
    "snapshots_of",
]

T = TypeVar("T")

COARSENESSES: Final = (1, 2, 8, 64) * 5  # of the random cuts that the assertion tries
MAX_TRIES: Final = 200  # to find a simpler failing cut
MAX_DIFFERENCES: Final = 5  # in one message

SPELLED_OPTIONS: Final = UNLIMITED_OPTIONS.replace(floats="decimal", surrogates="keep")

SHORT: Final = Repr()
SHORT.maxstring = SHORT.maxother = 80


# ---- cutting a text ----------------------------------------------------------------------------------


def every_cut(text: AnyStr) -> Iterator[list[AnyStr]]:
    """Yield every way to cut `text` in two, at each index from 0 to its length.

    The first and the last way have an empty half. Bytes are cut inside characters too.
    """
    for place in range(len(text) + 1):
        yield [text[:place], text[place:]]


def random_cuts(text: AnyStr, seed: int, *, coarseness: float = 8) -> list[AnyStr]:
    """Return fragments that make up `text`, at least one of them empty. The same seed gives the same fragments.

    Fragments that are not empty have `coarseness` characters on average; most are shorter and a few much longer. With
    1, each has one character or byte.
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
    return Random(seed)  # noqa: S311 - repeatable, not secret


# ---- snapshots of a document -------------------------------------------------------------------------


def snapshots_of(
    value: object, *, coarseness: float = 1, shuffle: bool = False, repeats: bool = False, seed: int = 0
) -> list[Any]:
    """Return the snapshots of a source that writes `value` from left to right; the last one equals `value`.

    Successive snapshots are `coarseness` characters of the canonical text apart, on average; with 1, the source is
    observed after each character. Observations without news give no snapshot. With ``repeats=True`` some snapshots come
    several times, and with ``shuffle=True`` each snapshot has the keys of its objects in another random order. The same
    seed gives the same snapshots, and apart from repetitions and the order of keys also with other flags.

    The snapshots share no container with each other or with `value`. Raise `SnapshotError` for values that JSON cannot
    express.
    """
    source = _source(seed)
    shown = list(iter_values(_pieces(text_of(copied(value, None, 1)), coarseness, source), UNLIMITED_OPTIONS))
    if repeats:
        shown = [snapshot for snapshot in shown for _ in range(source.choice((1, 1, 2, 3)))]
    return [_copied(snapshot, source if shuffle else None) for snapshot in shown]


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
    """Assert that `fn`, which takes the fragments of a text, gives the same result however `text` is cut.

    `fn` is called with

    - the whole text, twice: if these two results differ, the cuts are not the reason
    - the text cut in two at every index, or at `most_cuts` random ones if there are more
    - single characters or bytes
    - random cuts, with empty fragments in between

    So `fn` reads the text a few hundred times, whatever its length. Results are compared with ``==``. Exceptions are
    results too, compared by type and message; but an AssertionError for the whole text is raised. Return the result for
    the whole text: the returned value, or the exception.
    """
    __tracebackhide__ = True
    whole = _result(fn, [text])
    if isinstance(whole, _Raised) and isinstance(whole.error, AssertionError):
        raise whole.error
    for fragments in _cuttings(text, most_cuts, _source(seed)):
        result = _result(fn, fragments)
        if result == whole:
            continue
        raise AssertionError(_report(whole, *_simplified(fn, fragments, result, whole)))
    return whole.error if isinstance(whole, _Raised) else whole


@final
class _Raised:
    """The result of a call that raised an exception."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Raised):
            return False
        return type(self.error) is type(other.error) and str(self.error) == str(other.error)

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


def _result(fn: Callable[[list[AnyStr]], T], fragments: list[AnyStr]) -> T | _Raised:
    try:
        result = fn(fragments.copy())
    except Exception as error:  # noqa: BLE001 - every exception must be the same for every cut
        return _Raised(error)
    if isinstance(result, (Iterator, AsyncIterator, Awaitable)):
        raise TypeError(f"fn returned {SHORT.repr(result)}, which equals only itself: return what it produces")
    return result


def _cuttings(text: AnyStr, most_cuts: int, source: Random) -> Iterator[list[AnyStr]]:
    yield [text]
    places = range(len(text) + 1)
    for place in places if len(places) <= most_cuts else source.sample(places, most_cuts):
        yield [text[:place], text[place:]]
    yield [text[place : place + 1] for place in range(len(text))]
    for coarseness in COARSENESSES:
        yield random_cuts(text, source.getrandbits(32), coarseness=coarseness)


def _simplified(fn: Any, fragments: list[Any], result: object, whole: object) -> tuple[list[Any], object]:
    """Join as many fragments as possible while the result still differs. Return the fragments and their result."""
    tries = MAX_TRIES
    joints = len(fragments) // 2
    while joints:
        at = 0
        while at + joints < len(fragments) and tries:
            tries -= 1
            end = at + joints + 1
            joined = [*fragments[:at], fragments[at][:0].join(fragments[at:end]), *fragments[end:]]
            result_when_joined = _result(fn, joined)
            if result_when_joined == whole:
                at += joints
            else:
                fragments, result = joined, result_when_joined
        joints //= 2
    return fragments, result


def _report(whole: object, fragments: list[Any], result: object) -> str:
    lines = [
        "cutting is observable" if len(fragments) != 1 else "the whole text gives a different result the second time",
        f"  fragments: {SHORT.repr(fragments)}",
        f"  whole: {SHORT.repr(whole)}",
        f"  cut: {SHORT.repr(result)}",
    ]
    place, one, other = _first_difference(whole, result)
    if place:
        lines.append(f"  first difference, at result{place}: {SHORT.repr(one)} is not {SHORT.repr(other)}")
    return "\n".join(lines)


def _first_difference(one: Any, other: Any) -> tuple[str, Any, Any]:
    """Return where two results begin to differ, and both values there; `MISSING` if one of them has none."""
    place = ""
    while type(one) is type(other) and issubclass(type(one), (dict, list, tuple)):
        ones, others = dict(_entries(one)), dict(_entries(other))
        differing = [step for step in {**ones, **others} if ones.get(step, MISSING) != others.get(step, MISSING)]
        if not differing:  # a subclass defines its own equality
            break
        one, other = ones.get(differing[0], MISSING), others.get(differing[0], MISSING)
        place += f"[{differing[0]!r}]"
    if isinstance(one, (str, bytes)) and type(one) is type(other):
        unequal = (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
        start = next(unequal, min(len(one), len(other)))
        one, other, place = one[start:], other[start:], f"{place}[{start}:]"
    return place, one, other


# ---- fragments and their snapshot --------------------------------------------------------------------


def assert_fragments_are(fragments: str | Iterable[str], snapshot: object) -> None:
    """Assert that fragments, joined, are the JSON text of `snapshot`. The order of keys does not matter.

    `snapshot` is JSON text or a parsed value, as for `SnapshotChunker.process`; numbers must be spelled the same. The
    message tells where the text stops being JSON, or which paths differ and how.
    """
    __tracebackhide__ = True
    text = fragments if isinstance(fragments, str) else "".join(fragments)
    try:
        diff = diff_snapshots(text, snapshot)
    except SnapshotError as error:
        if error.step != 1:
            raise
        end = "" if len(text) <= SHORT.maxstring else "the end of "
        shown = repr(text[-SHORT.maxstring :])
        raise AssertionError(
            f"the fragments are not JSON: {error.__cause__ or error}\n  {end}the text: {shown}"
        ) from None
    if not diff:
        return
    found = list(diff)
    lines = [f"the fragments differ from the snapshot in {len(found)} place{'s' if len(found) > 1 else ''}"]
    written, expected = _parsed(text), _parsed(snapshot)
    for name, path in found[:MAX_DIFFERENCES]:
        one, other = _at(written, path), _at(expected, path)
        if name == "new":
            lines.append(f"  {path}: missing; the snapshot has {SHORT.repr(other)}")
        elif name == "removed":
            lines.append(f"  {path}: the fragments have {SHORT.repr(one)}; the snapshot has no value")
        else:
            _, one, other = _first_difference(one, other) if name == "changed" else ("", one, other)
            lines.append(f"  {path}: {SHORT.repr(one)} is not {SHORT.repr(other)}")
    if len(found) > MAX_DIFFERENCES:
        lines.append(f"  and {len(found) - MAX_DIFFERENCES} more")
    raise AssertionError("\n".join(lines))


def _parsed(snapshot: object) -> Any:
    """Return a snapshot as a value whose numbers show how they are spelled."""
    text = snapshot if isinstance(snapshot, (str, bytes)) else text_of(copied(snapshot, None, 1))
    value: Any = MISSING
    for value in iter_values([text], SPELLED_OPTIONS):  # noqa: B007 - the last one counts
        pass
    return value


def _at(value: Any, path: Path) -> Any:
    for step in path.steps:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return MISSING
    return value


# ---- values only grow --------------------------------------------------------------------------------


def assert_only_grows(values: Iterable[object], *, key_order: bool = True) -> None:
    """Assert that each value can follow the value before, in a document that is written from left to right.

    Numbers, booleans and null keep their type and value. A string starts with the string before. In an array only the
    last item may grow, and new items follow it; the same holds for an object, by the order of its keys. `MISSING` may
    come first. With ``key_order=False`` the order of keys does not matter, as in snapshots: one member of an object may
    grow, but not after another member has grown or was added.

    Each value must be a separate object: a value that is changed in place is always equal to itself.
    """
    __tracebackhide__ = True
    growth = _Growth(key_order)
    for value in values:
        growth.follow(value)


@final
class _Growth:
    """The last value of a sequence, and the place in it that may still grow.

    That place is the outermost value that grew last, with the containers around it and the entries that were new in it.
    All other values were there before another one grew, so they are complete.
    """

    __slots__ = ("_index", "_key_order", "_new", "_place", "_value")

    def __init__(self, key_order: bool) -> None:
        self._key_order = key_order
        self._value: object = MISSING
        self._index = -1
        self._place: tuple[Step, ...] = ()
        self._new: Collection[Step] | None = None  # None: all entries

    def follow(self, value: object) -> None:
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
        """Return the paths of longer strings, and of containers with new entries; each with its new entries."""
        __tracebackhide__ = True
        grown: list[tuple[Path, Collection[Step]]] = []
        # Each pair comes with its depth if it is on the way to the place that grew last (otherwise None), and with
        # whether it may grow.
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
        """Return the new entries, () for a longer string, or None if nothing is new."""
        __tracebackhide__ = True
        if type(before) is not type(after):
            self._fail(path, "its type changed", before, after)
        if _is_object(before):
            for key in before:
                if key not in after:
                    self._fail(path / key, "it disappeared")
            if self._key_order and list(before) != list(after)[: len(before)]:
                self._fail(path, "the order of its keys changed", list(before), list(after))
            return after.keys() - before.keys() or None
        if _is_container(before):
            if len(after) < len(before):
                self._fail(path, "it became shorter", before, after)
            return range(len(before), len(after)) or None
        if isinstance(before, str):
            if not after.startswith(before):
                self._fail(path, "it does not start with the old text", before, after)
            return () if len(after) > len(before) else None
        if before != after or (isinstance(before, float) and str(before) != str(after)):  # 0.0 and -0.0
            self._fail(path, "it changed", before, after)
        return None

    def _fail(self, path: Path, why: str, *values: object) -> NoReturn:
        __tracebackhide__ = True
        became = ": " + " became ".join(map(SHORT.repr, values)) if values else ""
        raise AssertionError(f"value {self._index} (from 0) cannot follow the value before, at {path}: {why}{became}")
