"""Events to one plain value that grows in place: no nodes, no copies. For those who only look at the newest state."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, cast, final

from .._grammar.sink import Sink
from .._missing import MISSING

if TYPE_CHECKING:
    from .._errors import JSONSyntaxError
    from .._grammar.reader import Reader
    from .._native import i64

__all__ = ["LiveFold"]


@final
class LiveFold(Sink):
    """Grows a plain value; with several documents, that of the newest, and `finished` has those that closed."""

    __slots__ = ("_hidden", "_key", "_open", "_reader", "_root", "errors", "finished", "in_string", "shown_text")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader  # keeps the text of the open string
        self.shown_text = ""  # of the open string, what was last shown
        self._root: object = MISSING
        self._open: list[object] = []  # the open containers, from the root
        self.in_string = False
        self._key: str | None = None  # of the open string
        self._hidden: object = MISSING  # what it took the place of: the document before, or a key that came before
        self.errors: list[JSONSyntaxError] = []
        self.finished: list[object] = []  # the roots that closed since it was last emptied

    def value(self) -> object:
        """The value as it stands."""
        if self.in_string:
            self.shown_text = self._reader.text()
            self._replace(self.shown_text)
        return self._root

    def start_container(self, is_object: bool, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        container: object = {} if is_object else []
        self._place(key, container)
        self._open.append(container)

    def end_container(self, is_object: bool, node_id: i64, offset: i64) -> None:
        self._open.pop()
        self._finish()

    def start_string(self, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        self.in_string = True
        self._key = key
        self._hidden = self._root
        if self._open:
            self._hidden = MISSING if key is None else cast("dict[str, object]", self._open[-1]).get(key, MISSING)
        self._place(key, "")

    def grow_string(self, text: str, offset: i64) -> None:
        pass  # the reader keeps the text; it is asked for when somebody wants to see it

    def end_string(self, text: str, offset: i64) -> None:
        self._replace(text)
        self.in_string = False
        self._finish()

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        self._place(key, text)
        self._finish()

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        self._place(key, value)
        self._finish()

    def literal(self, key: str | None, index: i64, value: bool | None, node_id: i64, offset: i64) -> None:
        self._place(key, value)
        self._finish()

    def error(self, error: JSONSyntaxError, node_id: i64, goes_on: bool) -> None:
        self.errors.append(error)
        if goes_on and self.in_string:
            self.in_string = False
            self._drop()

    def _place(self, key: str | None, value: object) -> None:
        if not self._open:
            self._root = value
        elif key is None:
            cast("list[object]", self._open[-1]).append(value)
        else:
            cast("dict[str, object]", self._open[-1])[key] = value

    def _replace(self, text: str) -> None:
        if not self._open:
            self._root = text
        elif self._key is None:
            cast("list[object]", self._open[-1])[-1] = text
        else:
            cast("dict[str, object]", self._open[-1])[self._key] = text

    def _drop(self) -> None:
        if not self._open:
            self._root = self._hidden
        elif self._key is None:
            cast("list[object]", self._open[-1]).pop()
        elif self._hidden is MISSING:
            del cast("dict[str, object]", self._open[-1])[self._key]
        else:
            cast("dict[str, object]", self._open[-1])[self._key] = self._hidden

    def _finish(self) -> None:
        if not self._open:
            self.finished.append(self._root)
