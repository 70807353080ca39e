"""The assistant's turn on its way into the next request: its parts, the results of its calls, and its losses.

A writer gets a `Turn` and returns what to append to the messages of the next request. It repeats native blocks if the
turn goes back in the format that it came in (`is_own`), and translates the neutral fields of the parts otherwise. It
reports everything that it leaves out or changes with `lose`.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, cast, final

from ..._errors import OptionsError, UnspoolError
from ..._missing import MISSING
from .._calls import ToolCall, plain_arguments
from .._parts import native_in

if TYPE_CHECKING:
    from .._deltas import FinishReason
    from .._parts import FilePart, Part

__all__ = [
    "CallResult",
    "Loss",
    "LossError",
    "Lost",
    "RequestWriter",
    "Turn",
    "base64_of",
    "call_results",
    "plain_copy",
    "record_in",
    "result_text",
    "string_in",
    "taken_record",
]

Lost = Literal[
    "reasoning",
    "unsigned_reasoning",
    "signature",
    "encrypted",
    "server_call",
    "server_result",
    "citation",
    "source",
    "file",
    "opaque",
    "custom_input",
    "broken_arguments",
    "id_changed",
    "incomplete_call",
    "incomplete_part",
    "empty_text",
    "refusal_as_text",
    "order",
    "replaced",
    "finish_reason",
    "usage",
]
"""What a request or an encoder leaves out or changes. A closed set."""


class Loss(NamedTuple):
    """Something of a message that a request or a target has no place for: its part, what it is, and why."""

    part: int | None
    what: Lost
    why: str


class LossError(UnspoolError, ValueError):
    """A request or a target has no place for something in the message. `losses` names it."""

    def __init__(self, losses: tuple[Loss, ...]) -> None:
        super().__init__(losses)
        self.losses = losses

    def _message(self) -> str:
        first = self.losses[0]
        place = "the message" if first.part is None else f"part {first.part}"
        more = f" (and {len(self.losses) - 1:,} more in losses)" if len(self.losses) > 1 else ""
        return f"{place} loses something: {first.what}: {first.why}{more}"


class CallResult(NamedTuple):
    """The result of a call that the application ran. `output` is text or plain JSON."""

    call: ToolCall
    output: Any
    is_error: bool = False


@final
class Turn:
    """The assistant's turn: its parts with their numbers, and the fields of the message that belong to no part."""

    __slots__ = ("_ids", "finish_reason", "format", "is_own", "losses", "native", "parts")

    def __init__(
        self,
        parts: list[tuple[int, Part]],
        format: str | None,
        *,
        is_own: bool,
        native: Mapping[str, object],
        ids: Mapping[int, str],
        finish_reason: FinishReason | None = None,
    ) -> None:
        self.parts: Final = parts
        self.format: Final = format
        """The format that the message came in; None if it is unknown."""
        self.is_own: Final = is_own
        """The turn goes back in the format that it came in."""
        self.native: Final = native
        self.finish_reason: Final = finish_reason
        """Why the model stopped; None if the message was cut off."""
        self.losses: Final[list[Loss]] = []
        self._ids: Final = ids

    def lose(self, part: int | None, what: Lost, why: str) -> None:
        """Report that the request leaves something out or changes it."""
        self.losses.append(Loss(part, what, why))

    def block(self, part: Part) -> dict[str, Any] | None:
        """Return a copy of the part's native block; None if it has none in the format that is written."""
        native = native_in(part)
        return plain_copy(native) if self.is_own and native is not None else None

    def id_of(self, call: ToolCall) -> str:
        """Return the id of a call. A call without an id gets one made from its index."""
        return call.id or self._ids.get(call.index, f"call_{call.index}")

    def text_of(self, number: int, call: ToolCall) -> str:
        """Return the text of the arguments as it came: as strict JSON if it was repaired, an empty object if empty."""
        text = call.arguments
        if not text.strip():
            return "{}"
        value = plain_arguments(call) if call.repairs else MISSING
        if value is MISSING:
            return text
        self.lose(number, "broken_arguments", "providers expect JSON, so the repaired value is written")
        return json.dumps(value, ensure_ascii=False, default=str)

    @staticmethod
    def arguments_of(call: ToolCall) -> Any:
        """Return the arguments of a call as a plain value: an empty object if there are none."""
        text = call.arguments
        if not text.strip():
            return {}
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):  # the options of the message may allow more than JSON
            value = MISSING
        if value is MISSING or isinstance(value, str):  # a string may hold the arguments
            value = plain_arguments(call)
        return {} if value is MISSING else copy.deepcopy(value)


class RequestWriter(Protocol):
    """The interface of a module that writes requests in one format."""

    def write_turn(self, turn: Turn, /) -> list[dict[str, Any]]:
        """Return the assistant's turn: messages, items or steps to append to the history."""
        ...

    def write_results(self, turn: Turn, results: list[CallResult], /) -> list[dict[str, Any]]:
        """Return the results of the calls, to append after the turn."""
        ...


def plain_copy(native: Mapping[str, object]) -> dict[str, Any]:
    """Return a deep copy of native fields."""
    return cast("dict[str, Any]", copy.deepcopy(dict(native)))


def string_in(native: Mapping[str, object] | None, name: str) -> str | None:
    """Return a native field that is a text; None if the provider sent something else, or nothing."""
    value = None if native is None else native.get(name)
    return value if isinstance(value, str) else None


def record_in(native: Mapping[str, object] | None, name: str) -> dict[str, Any]:
    """Return a native field that is an object; an empty one if the provider sent something else, or nothing."""
    value = None if native is None else native.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def taken_record(native: dict[str, Any], name: str) -> dict[str, Any]:
    """Remove a native field, and return it if it is an object; otherwise an empty one."""
    found = record_in(native, name)
    native.pop(name, None)
    return found


def result_text(output: object) -> str:
    """Return the output of a tool as text: a text as it is, another value as JSON."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)


def base64_of(part: FilePart) -> str | None:
    """Return the data of a file as base64 text."""
    data = part.data
    return base64.b64encode(data).decode("ascii") if isinstance(data, bytes) else data


def call_results(calls: tuple[ToolCall, ...], outputs: Mapping[Any, object]) -> list[CallResult]:
    """Return the results for outputs by call, index or id. Raise `OptionsError` for other keys and other outputs."""
    if not isinstance(cast("object", outputs), Mapping):
        raise OptionsError(f"outputs must be a mapping from calls to their outputs, not {type(outputs).__name__}")
    known: dict[object, ToolCall] = {call.id: call for call in calls if call.id is not None}
    known |= {call.index: call for call in calls}
    results: list[CallResult] = []
    for key, output in outputs.items():
        name = key.index if isinstance(key, ToolCall) else key
        if not isinstance(name, (int, str)) or isinstance(name, bool) or name not in known:
            raise OptionsError(f"outputs must have calls of this message, their indexes or ids as keys, not {key!r}")
        results.append(_result(known[name], output))
    return results


def _result(call: ToolCall, output: object) -> CallResult:
    if isinstance(output, BaseException):
        return CallResult(call, str(output) or type(output).__name__, True)
    if isinstance(output, str):
        return CallResult(call, output)
    try:
        text = json.dumps(output, ensure_ascii=False, allow_nan=False, default=str)
    except (ValueError, TypeError, RecursionError) as error:
        raise OptionsError(f"the output of call {call.index} ({call.name}) is not JSON: {error}") from None
    return CallResult(call, json.loads(text))
