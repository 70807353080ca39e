"""The pure parser: ``(state, fragment) -> state``.

A state never changes, and nothing that it shows ever does. Keep it, go back to it, let two futures grow from it, on
any thread. It never raises on input: what is wrong is in the state.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, final

from ._grammar.dialect import Dialect
from ._grammar.modes import EXPECTED
from ._intake import Intake, as_bytes
from ._missing import MISSING
from ._options import chosen_options
from ._persist import dump, load
from ._tree.fold import SHOWING, TreeFold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._errors import JSONSyntaxError
    from ._events import Event
    from ._intake import Fragment
    from ._options import Options
    from ._path import Path
    from ._text.extract import Skipped
    from ._tree.nodes import Node

__all__ = ["ParserState", "create_state", "finalize", "parse_chunk"]


UNSEEN: Final = object()


@final
class ParserState:
    """Everything that is known after some text. `create_state` makes the first one, `parse_chunk` the next."""

    __slots__ = ("_before", "_events", "_fold", "_fragment", "_intake", "_root", "_value")

    def __init__(self, intake: Intake, fold: TreeFold, before: Intake | None, fragment: Fragment | None) -> None:
        self._intake = intake
        self._fold = fold
        self._before = before  # with the fragment (None: the end), all that is needed to tell the events again
        self._fragment = fragment
        self._value: object = UNSEEN
        self._root: object = UNSEEN
        self._events: tuple[Event, ...] | None = None

    @property
    def value(self) -> Any:
        """The value as it stands; `MISSING` before there is any."""
        value = self._value
        if value is UNSEEN:
            with SHOWING:
                value = self._value = self._fold.show_value(0)
        return value

    @property
    def root(self) -> Node | None:
        """The tree as it stands; None before there is any."""
        root = self._root
        if root is UNSEEN:
            with SHOWING:
                root = self._root = self._fold.show_root()
        return cast("Node | None", root)

    @property
    def result(self) -> Any:
        """The value if it is complete and nothing is wrong, otherwise `MISSING`: the one to act upon."""
        return self.value if self.is_complete and self.error is None else MISSING

    @property
    def finished(self) -> tuple[Any, ...]:
        """The values that the last fragment closed: with ``Options(multiple=True)`` there may be several."""
        return tuple([node.value for node in self._fold.finished or ()])

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
        return self._fold.errors

    @property
    def index(self) -> int:
        """How many characters were read."""
        return self._intake.reader.offset

    @property
    def line(self) -> int:
        """The line of the next character, from 1."""
        return self._intake.reader.line

    @property
    def column(self) -> int:
        """The column of the next character, from 1."""
        return self._intake.reader.column

    @property
    def expecting(self) -> str:
        """What may come next, in words."""
        return EXPECTED[self._intake.reader.mode]

    @property
    def open_path(self) -> Path:
        """Of the value that is being read or expected; between values, of the container."""
        return self._intake.reader.path

    @property
    def options(self) -> Options:
        """How the text is read."""
        return self._intake.reader.dialect.options

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """With ``extract=True``: what was not JSON, where, and why."""
        return self._intake.skipped

    @property
    def events(self) -> tuple[Event, ...]:
        """What the last fragment brought."""
        events = self._events
        if events is None:
            events = self._events = self._tell_again()
        return events

    def node(self, id: int) -> Node | None:
        """The node with this id; None if there is none (yet)."""
        root = self.root
        return None if root is None else root.find(id)

    def walk(self) -> Iterator[Node]:
        """All nodes, in document order."""
        root = self.root
        return iter(()) if root is None else root.walk()

    def dump(self) -> dict[str, Any]:
        """The state as plain JSON data, the same however the text was cut."""
        return dump(self._intake, self._fold.hidden, self.root, self.errors)

    @staticmethod
    def load(data: object) -> ParserState:
        """The state that was dumped, in this or another process. Raises `StateError` if the data is not a dump."""
        intake, fold = load(data)
        return ParserState(intake, fold, None, None)

    def __copy__(self) -> ParserState:
        return self

    def __deepcopy__(self, memo: object) -> ParserState:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _loaded, (self.dump(),)

    def __repr__(self) -> str:
        state = "error" if self.error else "complete" if self.is_complete else "open"
        return f"ParserState({state}, index={self.index}, expecting {self.expecting})"

    def _tell_again(self) -> tuple[Event, ...]:
        if self._before is None:
            return ()
        intake = self._before.fork()
        sink = intake.reader.resume_events()
        if self._fragment is None:
            intake.finish(sink)
        else:
            intake.feed(self._fragment, sink)
        return tuple(sink.take())

    def _next(self, fragment: Fragment | None) -> ParserState:
        intake = self._intake.fork()
        fold = self._fold.fork(intake.reader)
        if fold.in_string:
            intake.reader.compact(fold.shown_text)
        if fragment is None:
            intake.finish(fold)
        else:
            intake.feed(fragment, fold)
        fold.settle()
        return ParserState(intake, fold, self._intake, fragment)


def _loaded(data: object) -> ParserState:
    """What a pickle names: it has to be a function of the module."""
    return ParserState.load(data)


def create_state(options: Options | None = None, *, extract: bool = False) -> ParserState:
    """The state before any text. With `extract` the JSON may stand in other text."""
    intake = Intake(Dialect(chosen_options(options)), extract)
    return ParserState(intake, TreeFold(intake.reader), None, None)


def parse_chunk(state: ParserState, fragment: Fragment) -> ParserState:
    """The state after one more fragment, cut anywhere. After an error, and for an empty fragment, the same state."""
    if not isinstance(fragment, str):
        fragment = as_bytes(fragment)  # whoever owns the buffer may change it
    if not fragment or state._intake.reader.is_stopped:
        return state
    return state._next(fragment)


def finalize(state: ParserState) -> ParserState:
    """The state if the text ended here: a root number is complete, and what is open is an `IncompleteJSONError`."""
    return state if state._intake.reader.is_stopped else state._next(None)
