"""What `jsonschema_rs` says about a value that is closed: the only module that knows it.

It is imported with the first judge that is made, and a judge is made only for what our own shapes cannot tell. Each
compiles its schema when it is asked for the first time: many a branch of a schema never meets a value.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, final

from ..._errors import OptionsError
from ..._path import Path
from .._shape import Problem, ShapeError
from .keywords import shown

if TYPE_CHECKING:
    from types import ModuleType

    from ..._tree.nodes import Node
    from .refs import Document

__all__ = ["Judge", "Judges"]

MOST_PROBLEMS: Final = 8
LONGEST_REASON: Final = 200

EXPECTED: Final = {
    "anyOf": "a value that fits at least one of several schemas",
    "const": "the one value that the schema names",
    "contains": "an array that contains what the schema asks for",
    "contentEncoding": "text in the encoding that the schema names",
    "contentMediaType": "text of the media type that the schema names",
    "enum": "one of the values that the schema lists",
    "exclusiveMaximum": "a smaller number",
    "exclusiveMinimum": "a larger number",
    "falseSchema": "nothing",
    "format": "text of the format that the schema names",
    "maxItems": "fewer items",
    "maxLength": "a shorter string",
    "maxProperties": "fewer keys",
    "maximum": "a smaller number",
    "minItems": "more items",
    "minLength": "a longer string",
    "minProperties": "more keys",
    "minimum": "a larger number",
    "missing": "a required key",
    "multipleOf": "a multiple of the number that the schema names",
    "not": "a value that does not fit a schema",
    "oneOf": "a value that fits exactly one of several schemas",
    "pattern": "text that matches the pattern of the schema",
    "propertyNames": "keys that the schema allows",
    "type": "a value of another type",
    "unevaluatedItems": "no such items",
    "unevaluatedProperties": "no such keys",
    "uniqueItems": "items that all differ",
}


@final
class Judge:
    """A schema to judge closed values by."""

    __slots__ = ("_judges", "_needs_document", "_schema", "_validator")

    def __init__(self, judges: Judges, schema: Any, needs_document: bool) -> None:
        self._judges = judges
        self._schema = schema
        self._needs_document = needs_document
        self._validator: Any = None

    def accepts(self, value: object) -> bool:
        """Whether a plain value fits. Text that is no Unicode never does: nobody could tell its characters."""
        validator = self._validator
        if validator is None:
            validator = self._validator = self._judges.compiled(self._schema, self._needs_document)
        try:
            return bool(validator.is_valid(value))
        except UnicodeEncodeError:
            return False

    def checked(self, value: Any) -> Any:
        """The plain value, if it fits; otherwise raises `ShapeError`."""
        if self.accepts(value):
            return value
        raise ShapeError(self._problems(value))

    def checked_node(self, node: Node) -> object:
        """The plain value of a node, if it fits; otherwise raises `ShapeError`."""
        return self.checked(node.value)

    def _problems(self, value: object) -> list[Problem]:
        problems: list[Problem] = []
        try:
            for error in self._validator.iter_errors(value):
                code, steps = error.kind.name, error.instance_path
                if code == "required":
                    code, steps = "missing", [*steps, error.kind.property]
                problems.append(Problem(Path.of(*steps), code, EXPECTED.get(code, "a value that fits the schema")))
                if len(problems) == MOST_PROBLEMS:
                    break
        except UnicodeEncodeError:
            problems.append(Problem(Path.of(), "lone_surrogate", "text without halves of surrogate pairs"))
        return problems


@final
class Judges:
    """All judges of one schema, each made once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._made: dict[str, Judge] = {}
        self._library: ModuleType | None = None
        self._registry: Any = None

    def judge(self, schema: Any, needs_document: bool) -> Judge:
        """The judge for a schema, which may refer to places of the document by absolute references."""
        if self._library is None:
            self._import()
        key = json.dumps(schema, sort_keys=True)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Judge(self, schema, needs_document)
        return found

    def compiled(self, schema: Any, needs_document: bool) -> Any:
        """A validator."""
        library: Any = self._library
        if not needs_document:
            return library.validator_for(self._of_draft(schema), offline=True)
        if self._registry is None:
            self._registry = library.Registry([(self._document.uri, self._of_draft(self._document.schema))])
        return library.validator_for(self._of_draft(schema), registry=self._registry, offline=True)

    def _of_draft(self, schema: Any) -> Any:
        return schema if isinstance(schema, bool) else {"$schema": self._document.draft, **schema}

    def _import(self) -> None:
        try:
            import jsonschema_rs
        except ImportError:
            raise ImportError('this JSON Schema needs jsonschema-rs: pip install "unspool[jsonschema]"') from None
        self._library = jsonschema_rs
        try:
            jsonschema_rs.validator_for(self._document.schema, offline=True)
        except jsonschema_rs.ValidationError as error:
            raise OptionsError(f"{shown(error.instance_path)}: {error.message[:LONGEST_REASON]}") from error
