"""The handles: objects that are fed fragments, and hold what became of them."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, final

from ._errors import StateError
from ._grammar.dialect import Dialect
from ._grammar.sink import EventList
from ._intake import Intake
from ._options import chosen_options
from ._state import ParserState
from ._tree.fold import TreeFold
from ._tree.live import LiveFold

if TYPE_CHECKING:
    from ._errors import JSONSyntaxError
    from ._events import Event
    from ._intake import Fragment
    from ._options import Options
    from ._text.extract import Skipped
    from ._tree.nodes import Node

__all__ = ["FragmentParser", "ValueParser"]

CLOSED = "the parser is closed; reset() starts it anew"
NOT_COPIED = "a parser cannot be copied or pickled; a ParserState can"


@final
class FragmentParser:
    """Fragments in, events out. Its memory is O(depth + the open token), whatever the length of the text.

    >>> parser = FragmentParser()
    >>> for event in parser.feed('{"name": "Ma'):
    ...     print(event.kind, event.path, event.value)
    start_object $ None
    start_string $.name None
    partial_string $.name Ma

    Errors are events too: the last event that a broken text gives is the error, and whatever follows gives none. With
    ``extract=True`` the JSON may stand in other text, such as a Markdown block with prose around it.
    """

    __slots__ = ("_intake", "_is_closed", "_sink")

    def __init__(self, options: Options | None = None, *, extract: bool = False) -> None:
        self._intake = Intake(Dialect(chosen_options(options)), extract)
        self._sink = EventList()
        self._is_closed = False

    def feed(self, fragment: Fragment) -> list[Event]:
        """Read one fragment, cut anywhere, and tell what became known with it."""
        if self._is_closed:
            raise StateError(CLOSED)
        sink = self._sink
        intake = self._intake
        if intake.is_plain and type(fragment) is str:
            intake.reader.feed(fragment, sink)
        else:
            intake.feed(fragment, sink)
        events = sink.events
        sink.events = []
        return events

    def close(self) -> list[Event]:
        """The text has ended: tell what became known by that, a number at the root, or that it is incomplete."""
        if not self._is_closed:
            self._intake.finish(self._sink)
            self._is_closed = True
        return self._sink.take()

    def reset(self) -> None:
        """Start anew with the same options."""
        self._intake = self._intake.fresh()
        self._sink = EventList()
        self._is_closed = False

    @property
    def is_complete(self) -> bool:
        """The root value is closed, no token is in flight, and no error ended the reading."""
        return self._intake.is_complete

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_COPIED)

    @property
    def is_stopped(self) -> bool:
        """An error ended the reading: nothing more will come."""
        return self._intake.reader.is_failed

    @property
    def error(self) -> JSONSyntaxError | None:
        """The first error, if there was one."""
        return self._intake.reader.error

    @property
    def errors(self) -> tuple[JSONSyntaxError, ...]:
        """All errors so far: more than one only with ``Options(on_error="skip")``."""
        return tuple(self._sink.errors)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """With ``extract=True``: what was not JSON, where, and why."""
        return self._intake.skipped


@final
class ValueParser:
    """Fragments in, the value so far at any moment.

    >>> parser = ValueParser()
    >>> parser.feed('{"days": [{"title": "Arri')
    >>> parser.value
    {'days': [{'title': 'Arri'}]}
    >>> parser.feed('val"}')
    >>> parser.value, parser.is_complete
    ({'days': [{'title': 'Arrival'}]}, False)

    A value that was handed out never changes; the next one shares with it whatever did not change, by identity. With
    ``live=True`` there is one value that grows in place instead: cheaper, but what was handed out changes. With
    ``extract=True`` the JSON may stand in other text, such as a Markdown block with prose around it.
    """

    __slots__ = ("_intake", "_is_closed", "_live", "_tree")

    def __init__(self, options: Options | None = None, *, live: bool = False, extract: bool = False) -> None:
        self._intake = Intake(Dialect(chosen_options(options)), extract)
        self._live = LiveFold(self._intake.reader) if live else None
        self._tree = TreeFold(self._intake.reader)
        self._is_closed = False

    def feed(self, fragment: Fragment) -> None:
        """Read one fragment, cut anywhere. Raises the `JSONSyntaxError` of a broken text, now and ever after."""
        if self._is_closed:
            raise StateError(CLOSED)
        live = self._live
        if live is None:
            tree = self._tree
            tree.finished = None
            if self._intake.is_plain and type(fragment) is str:
                self._intake.reader.feed(fragment, tree)
            else:
                self._intake.feed(fragment, tree)
        else:
            if live.finished:
                live.finished = []
            self._intake.feed(fragment, live)
        self._raise_fault()

    def close(self) -> Any:
        """The text has ended: the final value. Raises if it is broken or incomplete."""
        if not self._is_closed:
            self._tree.finished = None
            if self._live is not None:
                self._live.finished = []
            self._intake.finish(self._tree if self._live is None else self._live)
            self._is_closed = True
        self._raise_fault()
        return self.value

    def reset(self) -> None:
        """Start anew with the same options."""
        self._intake = self._intake.fresh()
        self._live = None if self._live is None else LiveFold(self._intake.reader)
        self._tree = TreeFold(self._intake.reader)
        self._is_closed = False

    def __enter__(self) -> ValueParser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            self.close()

    @property
    def value(self) -> Any:
        """The value as it stands; `MISSING` before there is any."""
        reader = self._intake.reader
        live = self._live
        if live is not None:
            value = live.value()
            if live.in_string:
                reader.compact(live.shown_text)
            return value
        tree = self._tree
        value = tree.value()
        if tree.in_string:
            reader.compact(tree.shown_text)
        return value

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_COPIED)

    @property
    def root(self) -> Node | None:
        """The tree as it stands; None before there is any."""
        return self.state.root

    def glance(self, *, with_values: bool = True) -> Node | None:
        """The tree as it stands, made for one look: cheaper than `root`, but each time another object.

        Without values, objects and arrays that are open have no plain value in it, for those who make their own.
        """
        tree = self._kept_tree()
        root = tree.glance(with_values)
        if tree.in_string:
            self._intake.reader.compact(tree.shown_text)
        return root

    @property
    def state(self) -> ParserState:
        """The state of the pure parser that has read the same: to keep, to fork, to dump."""
        tree = self._kept_tree()
        tree.settle()
        intake = self._intake
        self._intake = intake.fork()
        self._tree = tree.go_on(self._intake.reader)
        return ParserState(intake, tree, None, None)

    @property
    def finished(self) -> tuple[Any, ...]:
        """The values that the last fragment closed: with ``Options(multiple=True)`` there may be several."""
        if self._live is not None:
            return tuple(self._live.finished)
        return tuple([node.value for node in self._tree.finished or ()])

    @property
    def is_complete(self) -> bool:
        """The root value is closed, no token is in flight, and no error ended the reading."""
        return self._intake.is_complete

    @property
    def error(self) -> JSONSyntaxError | None:
        """The first error, if there was one."""
        return self._intake.reader.error

    @property
    def errors(self) -> tuple[JSONSyntaxError, ...]:
        """All errors so far: more than one only with ``Options(on_error="skip")``."""
        return self._tree.errors if self._live is None else tuple(self._live.errors)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """With ``extract=True``: what was not JSON, where, and why."""
        return self._intake.skipped

    def _kept_tree(self) -> TreeFold:
        if self._live is not None:
            raise StateError("a live parser keeps no tree")
        return self._tree

    def _raise_fault(self) -> None:
        reader = self._intake.reader
        if reader.is_failed:
            # A new one each time: who keeps the parser does not keep the frames of those who called it.
            error = self.errors[-1]
            raise type(error)(*error.args)
