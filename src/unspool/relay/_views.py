"""Views: the document that a page shows of a state, and the operations that lead from one state to the next.

    JSONText    the value so far
    Messages    the parts of the message, with the values of arguments and of structured output while they grow
    Document    the document itself

A view is immutable and a function of its state: every process makes the same document, and every process that starts
from there makes the same operations. The cost of an operation grows with the text that it adds. Signatures, encrypted
reasoning and the native fields of a provider are not for pages, so no view has them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from .._events import Event, Kind
from .._missing import MISSING
from .._state import ParserState, create_state, finalize, parse_chunk
from .._tree.nodes import ContainerNode, StringNode
from ..llm._calls import HIDDEN, ToolCall, arguments_in
from ..llm._encoders.fields import data_url
from ..llm._message import MessageState, vector_of
from ..llm._parts import FilePart, OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart, WrittenPart, text_in
from ..patch import Patcher
from ._folds import JSONTextState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..llm._config import Config
    from ..llm._parts import Citation, Part
    from ..llm._texts import TextVersion
    from ..patch import Operation

__all__ = ["View", "view_of"]

Document = dict[str, Any]

HEAD: Final = ("role", "id", "model", "finish_reason", "usage", "error", "is_complete")
"""The fields of a message besides its parts."""
COUNTS: Final = ("input_tokens", "output_tokens", "total_tokens")


class View(Protocol):
    """The document that a page shows of a state."""

    @property
    def document(self) -> Any:
        """The document, as plain JSON data."""
        ...

    def after(self, state: Any, items: Sequence[Any], is_end: bool) -> tuple[list[Operation], View]:
        """Return the operations that lead to the next state, and its view.

        `items` are those of the entry between the two states; `is_end` tells that the entry is the end.
        """
        ...


def view_of(state: object) -> View:
    """Return the view of a state."""
    if isinstance(state, MessageState):
        return MessageView.of(state)
    if isinstance(state, JSONTextState):
        return TextView.of(state.parser)
    return PlainView(state)


# ---- JSON text -----------------------------------------------------------------------------------------


@final
class TextView:
    """The value of JSON text; null before there is any."""

    __slots__ = ("_patcher", "_state")

    def __init__(self, state: ParserState, patcher: Patcher) -> None:
        self._state: Final = state
        self._patcher: Final = patcher

    @staticmethod
    def of(state: ParserState) -> TextView:
        """Return the view of a state."""
        patcher = Patcher(append=True)
        string = _open_string(state)
        if string is not None:  # the patcher goes on in the middle of this string
            path = state.open_path
            begun = Event(Kind.START_STRING, path, None, string.id)
            patcher.ops([begun, Event(Kind.PARTIAL_STRING, path, string.text, string.id)])
        return TextView(state, patcher)

    @property
    def value(self) -> Any:
        """The value, or `MISSING`."""
        return self._state.value

    @property
    def document(self) -> Any:
        """The value."""
        value = self.value
        return None if value is MISSING else value

    def after(self, state: Any, items: Sequence[Any], is_end: bool) -> tuple[list[Operation], TextView]:
        """Return the operations of the fragments, and the view of the next state."""
        operations, view = self.grown("".join(items))
        if not is_end:
            return operations, view
        last, view = view._moved(finalize(view._state))
        return operations + last, view

    def grown(self, text: str) -> tuple[list[Operation], TextView]:
        """Return the operations of more text, and the view with it."""
        return self._moved(parse_chunk(self._state, text))

    def _moved(self, state: ParserState) -> tuple[list[Operation], TextView]:
        if state is self._state:
            return [], self
        patcher = self._patcher.fork()
        return patcher.ops(state.events), TextView(state, patcher)


def _open_string(state: ParserState) -> StringNode | None:
    node = state.root
    while isinstance(node, ContainerNode) and not node.closed and len(node) > 0:
        node = node.child(len(node) - 1)
    return node if isinstance(node, StringNode) and not node.closed else None


# ---- documents -----------------------------------------------------------------------------------------


@final
class PlainView:
    """A document that is plain JSON data: the items of its entries are the operations."""

    __slots__ = ("document",)

    def __init__(self, document: Any) -> None:
        self.document: Final = None if document is MISSING else document

    def after(self, state: Any, items: Sequence[Any], is_end: bool) -> tuple[list[Operation], PlainView]:
        """Return the items, and the view of the next document."""
        return list(items), PlainView(state)


# ---- messages ------------------------------------------------------------------------------------------


@final
class MessageView:
    """A message: what is known of it, and its parts in order."""

    __slots__ = ("_head", "_state", "_values")

    def __init__(self, state: MessageState, head: Document, values: dict[int, TextView]) -> None:
        self._state: Final = state
        self._head: Final = head
        self._values: Final = values
        """The JSON in parts that still grow, by the number of the part."""

    @staticmethod
    def of(state: MessageState) -> MessageView:
        """Return the view of a state."""
        values: dict[int, TextView] = {}
        for number, part in enumerate(state.parts):
            if not _has_ended(part):
                value = _value_of(part, state.config)
                if value is not None:
                    values[number] = value
        return MessageView(state, _head(state), values)

    @property
    def document(self) -> Document:
        """The message as plain JSON data."""
        config = self._state.config
        parts: list[Document] = []
        for number, part in enumerate(self._state.parts):
            value = self._values.get(number)
            parts.append(_part(part, _value_of(part, config) if value is None else value))
        return {**self._head, "parts": parts}

    def after(
        self, state: MessageState, items: Sequence[Any] = (), is_end: bool = False
    ) -> tuple[list[Operation], MessageView]:
        """Return the operations that lead to the next state, and its view."""
        if state is self._state:
            return [], self
        operations: list[Operation] = []
        known, parts, values = vector_of(self._state), vector_of(state), self._values.copy()
        for number in parts.changed(known):
            part = parts.at(number)
            if number < known.size:
                old = known.at(number)
                if old.type == part.type:
                    _grow(number, old, part, state.config, values, operations)
                    continue
                operations.append({"op": "remove", "path": f"/parts/{number}"})
            value = _value_of(part, state.config)
            operations.append({"op": "add", "path": f"/parts/{number}", "value": _part(part, value)})
            values.pop(number, None)
            if value is not None and not _has_ended(part):
                values[number] = value
        head = _head(state)
        others = [name for name in HEAD if head[name] != self._head[name]]
        operations += [{"op": "replace", "path": f"/{name}", "value": head[name]} for name in others]
        return operations, MessageView(state, head, values)


def _head(state: MessageState) -> Document:
    usage, error = state.usage, state.error
    counts = None if usage is None else {name: getattr(usage, name) for name in COUNTS}
    return {
        "role": state.role,
        "id": state.id,
        "model": state.model,
        "finish_reason": state.finish_reason,
        "usage": counts,
        "error": None if error is None or not state.is_finished else error.fault.value,
        "is_complete": state.is_complete,
    }


def _has_ended(part: Part) -> bool:
    return part.is_complete or (isinstance(part, ToolCall) and part.error is not None)


def _text_of(part: Part) -> tuple[str, TextVersion] | None:
    """Return the text of a part that grows, and the name of its field."""
    if isinstance(part, ToolCall):
        return "arguments", arguments_in(part).text
    return ("text", text_in(part)) if isinstance(part, WrittenPart) else None


def _value_of(part: Part, config: Config) -> TextView | None:
    """Return the JSON in a part, read from its beginning; None if it holds none."""
    if isinstance(part, ToolCall):
        is_json, extract = part.kind != "custom", False
    else:
        is_json, extract = isinstance(part, TextPart) and config.answer is not None, config.extract
    found = _text_of(part)
    if not is_json or found is None:
        return None
    view = TextView.of(create_state(config.options, extract=extract))
    return view.grown(str(found[1]))[1]


def _grow(
    number: int, old: Part, part: Part, config: Config, values: dict[int, TextView], operations: list[Operation]
) -> None:
    """Add the operations of one part that has changed."""
    place = f"/parts/{number}"
    before, after = _text_of(old), _text_of(part)
    if before is not None and after is not None:
        _grow_text(number, before[1], after[1], part, config, values, operations)
    if isinstance(old, TextPart) and isinstance(part, TextPart) and old.citations is not part.citations:
        known = len(old.citations) if part.citations[: len(old.citations)] == old.citations else 0
        if known < len(old.citations):
            operations.append({"op": "replace", "path": f"{place}/citations", "value": []})
        operations += [
            {"op": "add", "path": f"{place}/citations/-", "value": _citation(one)} for one in part.citations[known:]
        ]
    fields, others = _fields(old), _fields(part)
    for name, value in others.items():
        if fields[name] != value:
            operations.append({"op": "replace", "path": f"{place}/{name}", "value": value})


def _grow_text(
    number: int,
    before: TextVersion,
    after: TextVersion,
    part: Part,
    config: Config,
    values: dict[int, TextView],
    operations: list[Operation],
) -> None:
    place = f"/parts/{number}"
    name = "arguments" if isinstance(part, ToolCall) else "text"
    is_more = before.length == 0 or (after.origin is before.origin and after.length >= before.length)
    if is_more and after.length > before.length:
        text = after.since(before.length)
        operations.append({"op": "append", "path": f"{place}/{name}", "value": text})
        value = values.get(number)
        if value is not None:
            grown, values[number] = value.grown(text)
            operations += [{**operation, "path": f"{place}/value{operation['path']}"} for operation in grown]
    elif not is_more:
        operations.append({"op": "replace", "path": f"{place}/{name}", "value": str(after)})
        again = _value_of(part, config)
        values.pop(number, None)
        if again is not None:
            values[number] = again
            operations.append({"op": "add", "path": f"{place}/value", "value": again.document})
    if _has_ended(part):
        values.pop(number, None)


def _part(part: Part, value: TextView | None) -> Document:
    """Return a part as plain JSON data."""
    document = {"type": "text" if _is_output(part) else part.type, **_fields(part)}
    text = _text_of(part)
    if text is not None:
        document[text[0]] = str(text[1])
    if isinstance(part, TextPart):
        document["citations"] = [_citation(one) for one in part.citations]
    if value is not None and value.value is not MISSING:
        document["value"] = value.value
    return document


def _fields(part: Part) -> Document:
    """Return the fields of a part that are small."""
    match part:
        case ToolCall():
            status = "complete" if part.is_complete else "open" if part.error is None else "failed"
            return {"id": part.id, "name": part.name, "kind": part.kind, "status": status}
        case ReasoningPart():
            return {"is_complete": part.is_complete, "is_summary": part.is_summary}
        case ToolResultPart():
            return {
                "is_complete": part.is_complete,
                "call_id": part.call_id,
                "name": part.name,
                "output": _plain(part.output),
                "is_error": part.is_error,
            }
        case SourcePart():
            return {"is_complete": part.is_complete, "url": part.url, "title": part.title}
        case FilePart():
            url = data_url(part) if part.is_complete else part.url
            return {"is_complete": part.is_complete, "media_type": part.media_type, "name": part.name, "url": url}
        case OpaquePart():
            return {"is_complete": part.is_complete, "kind": part.kind}
        case _:
            return {"is_complete": part.is_complete}


def _is_output(part: Part) -> bool:
    return isinstance(part, ToolCall) and part.index == HIDDEN


def _citation(citation: Citation) -> Document:
    return {
        "url": citation.url,
        "title": citation.title,
        "cited_text": citation.cited_text,
        "start": citation.start,
        "end": citation.end,
    }


def _plain(value: Any) -> Any:
    """Return a value if it is plain JSON data, and otherwise its description."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return f"({type(value).__name__})"
    return value
