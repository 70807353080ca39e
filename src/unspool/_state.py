"""The pure parser: ``(state, fragment) -> state``, and its dumps.

A state never changes, and neither does anything that it shows. Keep it, go back to it, or continue from it more than
once, on any thread. Invalid text raises nothing: errors are in the state.

A dump is plain JSON data: no pickle, no eval. The tree is flat, with one short list per node, in document order::

    ["{", id, key]   ["[", id, key]   ["]"]               a container opens; the innermost one closes
    ["s", id, key, text]   ["n", id, key, raw]   ["l", id, key, true]

The dump leaves out everything that follows from the tree, so that it cannot be wrong: depth, counts, and the stack of
the reader. Loading checks the rest: changed data raises `StateError`, or gives a state that goes on without another
exception.
"""

# Compiled with mypyc.
from __future__ import annotations

from ._dumps import check, check_position, natural, raw_text
from ._dumps import text as checked_text
from ._errors import Code, OptionsError, Position, StateError, UnspoolError
from ._grammar.reader import MODE_WORDS, Dialect, Reader, make_error
from ._missing import MISSING
from ._native import TYPE_CHECKING, cast, expect, final, mypyc_attr
from ._options import Options, chosen_options, loaded_options
from ._parser import Intake, as_bytes
from ._path import Path
from ._text.utf8 import decode
from ._tree.fold import SHOWING, TreeFold
from ._tree.nodes import ContainerNode, NumberNode, ObjectNode, StringNode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

    from ._errors import JSONSyntaxError
    from ._events import Event
    from ._grammar.reader import Mode
    from ._parser import Fragment
    from ._repairs import Repair
    from ._text.extract import Skipped
    from ._tree.nodes import Node

__all__ = ["ParserState", "create_state", "finalize", "parse_chunk"]

UNSEEN: Final = object()
VERSION: Final = 2
FIRST_VERSION: Final = 1  # without repairs
FIELDS: Final = {
    *("version", "options", "mode", "position", "next_id", "roots", "errors"),
    *("tree", "string", "key", "text", "carry", "nested", "rest", "extract", "repair"),
}


@final
@mypyc_attr(free_list_len=1)
class ParserState:
    """Everything known after some text. `create_state` returns the first state, `parse_chunk` the next."""

    __slots__ = ("_events", "_fold", "_fold_before", "_fragment", "_intake", "_intake_before", "_root", "_value")

    def __init__(
        self,
        intake: Intake,
        fold: TreeFold,
        intake_before: Intake | None,
        fold_before: TreeFold | None,
        fragment: Fragment | None,
    ) -> None:
        self._intake = intake
        self._fold = fold
        # With the fragment (None for the end of the text), these two give the events again.
        self._intake_before = intake_before
        self._fold_before = fold_before
        self._fragment = fragment
        self._value: object = UNSEEN
        self._root: object = UNSEEN
        self._events: tuple[Event, ...] | None = None

    @property
    def value(self) -> Any:
        """The value so far; `MISSING` before there is one."""
        value = self._value
        if value is UNSEEN:
            with SHOWING:
                value = self._value = self._fold.show_value(0)
        return value

    @property
    def root(self) -> Node | None:
        """The tree so far; None before there is one."""
        root = self._root
        if root is UNSEEN:
            with SHOWING:
                root = self._root = self._fold.show_root()
        return cast("Node | None", root)

    @property
    def result(self) -> Any:
        """The value if it is complete and without errors, otherwise `MISSING`: the value to act on."""
        return self.value if self.is_complete and self.error is None else MISSING

    @property
    def finished(self) -> tuple[Any, ...]:
        """The values that the last fragment closed; with ``Options(multiple=True)`` there may be several.

        A loaded state has none: they belong to a fragment.
        """
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
        """The number of characters read."""
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
        """A description of the text that may come next."""
        return self._intake.reader.expecting

    @property
    def mode(self) -> Mode:
        """What the parser is reading, as one word of a closed set: a name for `expecting`."""
        return MODE_WORDS[self._intake.reader.mode]

    @property
    def next_id(self) -> int:
        """The id of the next node."""
        return self._intake.reader.next_id

    @property
    def open_path(self) -> Path:
        """The path of the value that is being read or expected; between values, of the container."""
        return self._intake.reader.path

    @property
    def options(self) -> Options:
        """The options of the parser."""
        return self._intake.reader.dialect.options

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """With ``extract=True``: the text that was not JSON, with its place and the reason."""
        return self._intake.skipped

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """With ``Options(repair=...)``: the changes that made the text readable, in the order they were made."""
        return self._intake.repairs

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the last fragment; a loaded state has none."""
        events = self._events
        if events is None:
            events = self._events = self._tell_again()
        return events

    def node(self, id: int) -> Node | None:
        """Return the node with this id, or None."""
        expect(id, int, "int")
        root = self.root
        return None if root is None else root.find(id)

    def walk(self) -> Iterator[Node]:
        """Iterate over all nodes, in document order."""
        root = self.root
        return iter(()) if root is None else root.walk()

    def dump(self) -> dict[str, Any]:
        """Return the state as plain JSON data, the same for every way of cutting the text."""
        return _dump(self._intake, self._fold.hidden, self.root, self.errors)

    @staticmethod
    def load(data: object, *, max: Options | None = None) -> ParserState:
        """Restore a state from its dump, in this or another process. Raises `StateError` for anything else.

        A dump brings its own options. With `max`, reject a dump whose limits are larger than those of `max`.
        """
        try:
            return _load(data, None if max is None else chosen_options(max))
        except (StateError, OptionsError):
            raise
        except (UnspoolError, ValueError, TypeError, KeyError, IndexError, ArithmeticError) as error:
            raise StateError(f"invalid state dump: {type(error).__name__}") from None

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
        if self._intake_before is None or self._fold_before is None:
            return ()
        intake = self._intake_before.fork()
        with SHOWING:
            sink = intake.reader.resume_events(self._fold_before.show_text())
        if self._fragment is None:
            intake.finish(sink)
        else:
            intake.feed(self._fragment, sink)
        return tuple(sink.take())

    def _next(self, fragment: Fragment | None) -> ParserState:
        intake = self._intake.fork()
        fold = self._fold.fork()
        if fragment is None:
            intake.finish(fold)
        else:
            intake.feed(fragment, fold)
        fold.settle()
        return ParserState(intake, fold, self._intake, self._fold, fragment)


def _loaded(data: object) -> ParserState:
    """Restore a pickled state: pickle needs a function of the module."""
    return ParserState.load(data)


def create_state(options: Options | None = None, *, extract: bool = False) -> ParserState:
    """Return the state before any text. With `extract` the JSON may be inside other text."""
    expect(extract, bool, "bool")
    return ParserState(Intake.create(options, extract), TreeFold(), None, None, None)


def parse_chunk(state: ParserState, fragment: Fragment) -> ParserState:
    """Return the state after one more fragment, cut anywhere; after an error or an empty fragment, the same state."""
    if type(state) is not ParserState:
        expect(state, ParserState, "unspool._state.ParserState")
    if isinstance(fragment, str):
        if type(fragment) is not str:
            fragment = "".join([fragment])  # subclasses may override anything: use the plain text
    else:
        fragment = as_bytes(fragment)  # the owner of a buffer may change it later
    if not fragment or state._intake.reader.is_over:
        return state
    return state._next(fragment)


def finalize(state: ParserState) -> ParserState:
    """Return the state if the text ends here: a root number is complete, an open value is an `IncompleteJSONError`."""
    expect(state, ParserState, "unspool._state.ParserState")
    return state if state._intake.reader.is_over else state._next(None)


def _dump(
    intake: Intake, hidden: Node | None, root: Node | None, errors: tuple[JSONSyntaxError, ...]
) -> dict[str, Any]:
    tree, string = _flatten(root)
    if hidden is not None:
        tree, _ = _flatten(hidden)
    data: dict[str, Any] = {
        "version": VERSION,
        "options": intake.reader.dialect.options.as_dict(),
        **intake.reader.dump(),
        "tree": tree,
        "string": string,
        "rest": intake.rest.hex(),
        "extract": None if intake.extractor is None else intake.extractor.dump(),
        "repair": None if intake.repairer is None else intake.repairer.dump(),
        "errors": [[e.code.value, e.offset, e.line, e.column, list(e.path.steps), e.expected] for e in errors],
    }
    if string is not None and data["mode"] == "STRING":
        data["text"] = string[2]
    return data


def _flatten(root: Node | None) -> tuple[list[list[object]], list[object] | None]:
    """Return the tree, and apart from it the open string."""
    tree: list[list[object]] = []
    string: list[object] | None = None
    todo: list[tuple[str | None, Node | None]] = [] if root is None else [(None, root)]
    while todo:
        key, node = todo.pop()
        if node is None:
            tree.append(["]"])
        elif isinstance(node, ContainerNode):
            tree.append(["{" if isinstance(node, ObjectNode) else "[", node.id, key])
            if node.closed:
                todo.append((None, None))
            keys: tuple[str | None, ...] = node.keys if isinstance(node, ObjectNode) else (None,) * len(node)
            todo.extend(reversed(list(zip(keys, node.children, strict=True))))
        elif isinstance(node, NumberNode):
            tree.append(["n", node.id, key, node.raw])
        elif not isinstance(node, StringNode):
            tree.append(["l", node.id, key, node.value])
        elif node.closed:
            tree.append(["s", node.id, key, node.text])
        else:
            string = [node.id, key, node.text]
    return tree, string


def _load(dump: object, cap: Options | None) -> ParserState:
    check(type(dump) is dict, "not an object")
    data = cast("dict[str, Any]", dump)
    check(type(data.get("version")) is int, "wrong fields")
    if data["version"] == FIRST_VERSION:
        check("repair" not in data, "wrong fields")
        data = cast("dict[str, Any]", {**data, "version": VERSION, "repair": None})
    check(set(data) == FIELDS, "wrong fields")
    check(data["version"] == VERSION, "unknown version")
    options = loaded_options(data["options"], cap)
    reader = Reader(Dialect(options))
    intake = Intake(reader, False)
    if data["extract"] is not None:
        from ._text.extract import Extractor  # most states do not need it

        intake.extractor = Extractor.load(data["extract"], reader.dialect.mends)
        if intake.repairer is not None:
            intake.repairer.stops_at_root = True
        intake.is_plain = False
        ahead = data["extract"]["offset"] - natural(data["position"][0])  # a repairer may hold text back
        is_right = ahead == 0 if data["repair"] is None else ahead >= len(raw_text(data["repair"]["held"]))
        check(is_right, "the extractor is at another place")
        check(
            intake.extractor.multiple is reader.dialect.multiple and not reader.dialect.lines,
            "the extractor does not fit the options",
        )
    check((intake.repairer is None) == (data["repair"] is None), "the repairer does not fit the options")
    fold = TreeFold()
    before = 0
    for code_name, offset, line, column, steps, expected in data["errors"]:
        position = Position(natural(offset), natural(line), natural(column))
        check_position(offset, line, column)
        check(before <= offset <= natural(data["position"][0]), "an error beyond the text")
        before = offset
        check(all(isinstance(step, str) or natural(step) >= 0 for step in steps), "impossible path")
        code = Code(code_name)
        is_python_limit = code == Code.MAX_NUMBER and checked_text(expected) != ""
        error = make_error(code, position, Path.of(*steps), checked_text(expected), options, is_python_limit)
        reader.error = reader.error or error
        reader.error_count += 1
        fold.error(error, -1, False)
    reader.load(data, fold)
    _check_errors(fold.errors, reader)
    fold.finished = None  # they belong to a fragment, and a loaded state has none
    if intake.repairer is not None:
        intake.repairer.load(data["repair"])
    intake.rest = bytes.fromhex(data["rest"])
    intake.is_plain = intake.is_plain and not intake.rest
    check(decode(intake.rest) == ("", intake.rest, False), "bytes that cannot begin a character")
    return ParserState(intake, fold, None, None, None)


def _check_errors(errors: tuple[JSONSyntaxError, ...], reader: Reader) -> None:
    """Check that the last error, and only the last one, ended the reading of a failed reader."""
    skipped = errors
    if reader.is_failed:
        check(len(errors) > 0, "a failed parser without an error")
        last = errors[-1]
        is_here = (last.offset, last.line, last.column) == (reader.offset, reader.line, reader.column)
        check(is_here, "a failed parser that is not at its error")
        skipped = errors[:-1]
    for error in skipped:
        check(not reader.dialect.stops_at(error.code), "text after the last error")
    check(len(skipped) <= reader.dialect.max_errors, "more errors than the limit")
