"""Stand-ins for the objects that providers' libraries hand out instead of dicts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

# Some fields of chunks. A library has an attribute for each one that it knows, whether it came or not.
FIELDS = (
    *("id", "index", "name", "type", "object", "model", "role", "content", "refusal", "text", "thinking", "thought"),
    *("delta", "message", "choices", "candidates", "tool_calls", "function_call", "function", "custom", "arguments"),
    *("input", "args", "usage", "error", "finish_reason", "stop_reason", "status", "will_continue", "partial_args"),
    *("chunk", "item", "response", "event_type", "done", "messageStart", "metadata", "usage_metadata"),
)


class Model:
    """Like a model of pydantic: a field that did not come is None, one that nobody declared is an attribute too."""

    __slots__ = ("__dict__", "__pydantic_extra__", "model_fields_set")

    def __init__(self, values: dict[str, Any]) -> None:
        declared = {name: value for name, value in values.items() if name in FIELDS}
        self.__dict__.update({**dict.fromkeys(FIELDS), **declared})
        self.__pydantic_extra__ = {name: value for name, value in values.items() if name not in FIELDS}
        self.model_fields_set = set(declared)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__pydantic_extra__[name]
        except KeyError:
            raise AttributeError(name) from None


def as_object(value: Any) -> Any:
    """The same value with attributes instead of keys."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: as_object(item) for name, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value


def as_model(value: Any) -> Any:
    """The same value with models instead of dicts."""
    if isinstance(value, dict):
        return Model({name: as_model(item) for name, item in value.items()})
    return [as_model(item) for item in value] if isinstance(value, list) else value
