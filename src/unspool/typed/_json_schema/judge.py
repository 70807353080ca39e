"""The verdict of `jsonschema_rs` on closed values. This is the only module that knows the library.

Shapes judge most keywords while a value is being written. `LeftOver` collects the others, per kind of value, into a
schema of their own. A schema inside of them is copied if it means the same everywhere; otherwise an absolute reference
leads to its place in the document.

`jsonschema_rs` is imported for the first judge, and a judge is made only for keywords that shapes cannot tell. Each
judge compiles its schema on first use, because many branches of a schema never meet a value. A judge asks the library
only whether a value fits; `problems` finds the reasons.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast, final

from ..._errors import OptionsError
from .._shape import ShapeError
from .document import DRAFT_7, shown
from .merge import UNIONS, types_of
from .problems import UNEXPLAINED, Asked, Explainer, everything

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from ..._tree.nodes import Node
    from .document import SchemaDocument, Subschema
    from .merge import Conjunction, Merger, SchemaPart

__all__ = ["LeftOver", "SchemaJudge", "wants_integer"]

MAX_REASON_LENGTH: Final = 200


@final
class SchemaJudge:
    """A schema that judges closed values. `asked` are the keywords that it was made of."""

    __slots__ = ("_asked", "_judges", "_needs_document", "_schema", "_validator")

    def __init__(self, judges: SchemaJudges, schema: Any, needs_document: bool, asked: Sequence[Asked]) -> None:
        self._judges = judges
        self._schema = schema
        self._needs_document = needs_document
        self._asked = asked
        self._validator: Any = None

    def accepts(self, value: object) -> bool:
        """Return whether a plain value fits. Text with lone surrogates never does."""
        try:
            return self.fits(value)
        except UnicodeEncodeError:
            return False

    def checked(self, value: Any) -> Any:
        """Return the plain value if it fits; otherwise raise `ShapeError`."""
        try:
            if self.fits(value):
                return value
        except UnicodeEncodeError:
            raise ShapeError.of("lone_surrogate", "text without halves of surrogate pairs") from None
        problems = self._judges.explainer.problems
        raise ShapeError([UNEXPLAINED], explain=lambda before: problems(self._asked, value, before))

    def fits(self, value: object) -> bool:
        """Return whether a plain value fits. Raise `UnicodeEncodeError` for text with lone surrogates."""
        validator = self._validator
        if validator is None:
            validator = self._validator = self._judges.compiled(self._schema, self._needs_document)
        return bool(validator.is_valid(value))

    def checked_node(self, node: Node) -> object:
        """Return the plain value of a node if it fits; otherwise raise `ShapeError`."""
        return self.checked(node.value)


@final
class SchemaJudges:
    """All judges of one schema, each made once."""

    def __init__(self, document: SchemaDocument, explainer: Explainer) -> None:
        self.explainer = explainer
        self._document = document
        self._made: dict[str, SchemaJudge] = {}
        self._library: ModuleType | None = None
        self._registry: Any = None

    def judge(self, schema: Any, needs_document: bool, asked: Sequence[Asked]) -> SchemaJudge:
        """Return the judge for a schema, which may refer to places of the document by absolute references."""
        if self._library is None:
            self._import()
        key = json.dumps(schema, sort_keys=True)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = SchemaJudge(self, schema, needs_document, asked)
        return found

    def compiled(self, schema: Any, needs_document: bool) -> Any:
        """Return a validator for a schema."""
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
            raise OptionsError(f"{shown(error.instance_path)}: {error.message[:MAX_REASON_LENGTH]}") from error


# Keywords without a shape

AT_THE_CLOSE: Final[dict[str, tuple[str, ...]]] = {
    "object": ("minProperties", "dependentRequired", "dependentSchemas", "dependencies"),
    "array": ("minItems", "contains", "minContains", "maxContains", "uniqueItems"),
    "string": ("minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "boolean": (),
    "null": (),
}
OF_ANY_KIND: Final = ("anyOf", "oneOf", "not", "if", "then", "else")
MEANS_NOTHING_WITHOUT: Final = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
UNEVALUATED: Final = {"object": "unevaluatedProperties", "array": "unevaluatedItems"}


@final
class LeftOver:
    """Makes the judges for a document."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._judges = SchemaJudges(
            document,
            Explainer(
                document,
                lambda asked, value: self._question(asked).accepts(value),
                lambda pattern, key: self.pattern(pattern).accepts(key),
            ),
        )
        self._questions: dict[Asked, SchemaJudge] = {}

    def judge(self, conjunction: Conjunction, kind: str, merger: Merger) -> SchemaJudge | None:
        """Return the judge for the keywords that no shape covers, for values of this kind; None if there are none."""
        pieces: list[Any] = []
        asked: list[Asked] = []
        needs_document = False
        unevaluated = UNEVALUATED.get(kind, "")
        for part in conjunction.parts:
            if unevaluated in part.place.one and merger.cone(part.place, unevaluated) is None:
                piece, needs = self._reference(part.place)
                asked.append(everything(part.place))
            else:
                piece, needs = self._piece(part, kind, merger)
                asked.append(Asked(part.place, frozenset(piece)))
            if piece:
                pieces.append(piece)
                needs_document |= needs
        if pieces and kind == "number" and any(map(wants_integer, conjunction.places)):
            pieces.append({"type": "integer"})
            asked += [Asked(place, frozenset({"type"})) for place in conjunction.places if wants_integer(place)]
        return self._judges.judge(_together(pieces), needs_document, asked) if pieces else None

    def judge_of(self, places: Iterable[Subschema]) -> SchemaJudge | None:
        """Return the judge for whole schemas; None if they accept everything."""
        places = list(places)
        referred = [self._reference(place) for place in places]
        pieces = [piece for piece, _ in referred if piece is not True and piece != {}]
        needs_document = any(needs for _, needs in referred)
        return self._judges.judge(_together(pieces), needs_document, list(map(everything, places))) if pieces else None

    def whole(self) -> SchemaJudge:
        """Return the judge for the document."""
        return self._judges.judge(self._document.schema, False, [everything(self._document.root)])

    def pattern(self, pattern: str) -> SchemaJudge:
        """Return the judge for keys that match a pattern."""
        return self._judges.judge({"pattern": pattern}, False, [])

    def _question(self, asked: Asked) -> SchemaJudge:
        """Return the judge for some keywords of a schema."""
        judge = self._questions.get(asked)
        if judge is None:
            place, keywords = asked
            if keywords == place.keywords.keys():
                schema, needs_document = self._reference(place)
            else:
                written = {keyword: self._written(place, keyword) for keyword in keywords}
                schema = {keyword: value for keyword, (value, _) in written.items()}
                needs_document = any(needs for _, needs in written.values())
            judge = self._questions[asked] = self._judges.judge(schema, needs_document, [asked])
        return judge

    def _piece(self, part: SchemaPart, kind: str, merger: Merger) -> tuple[dict[str, Any], bool]:
        keywords = part.place.keywords
        piece: dict[str, Any] = {}
        needs_document = False
        for keyword in (*AT_THE_CLOSE[kind], *OF_ANY_KIND):
            if not part.has(keyword) or MEANS_NOTHING_WITHOUT.get(keyword, keyword) not in keywords:
                continue
            if kind == "string" and keyword in UNIONS and merger.lists_texts(part, keyword):
                continue
            piece[keyword], needs = self._written(part.place, keyword)
            needs_document |= needs
        if piece.get("uniqueItems") is False:
            del piece["uniqueItems"]
        if kind == "string" and "format" in keywords and self._document.draft == DRAFT_7:
            piece["format"] = keywords["format"]
        for keyword in ("enum", "const"):  # shapes compare strings themselves, and there is only one null
            if keyword in keywords and kind not in {"string", "null"}:
                piece[keyword] = keywords[keyword]
        for keyword, target in part.place.targets.items():
            if target is None:  # a meta-schema
                piece["$ref"] = keywords[keyword]
        return piece, needs_document

    def _written(self, place: Subschema, keyword: str) -> tuple[Any, bool]:
        """Return the value of a keyword, and whether it contains references to the document."""
        value = place.keywords[keyword]
        if place.targets.get(keyword) is not None:
            return self._document.uri_of(cast("Subschema", place.targets[keyword])), True
        if keyword in place.one:
            return self._reference(place.one[keyword])
        if keyword in place.listed:
            referred = [self._reference(inner) for inner in place.listed[keyword]]
            return [piece for piece, _ in referred], any(needs for _, needs in referred)
        if keyword in place.named:
            by_name = {name: self._reference(inner) for name, inner in place.named[keyword].items()}
            pieces = {name: piece for name, (piece, _) in by_name.items()}
            return {**value, **pieces}, any(needs for _, needs in by_name.values())
        return value, False

    def _reference(self, place: Subschema) -> tuple[Any, bool]:
        if place.is_alone:
            return place.schema, False
        return {"$ref": self._document.uri_of(place)}, True


def wants_integer(place: Subschema) -> bool:
    """Return whether only whole numbers fit, of all numbers."""
    names = types_of(place)
    return "integer" in names and "number" not in names


def _together(pieces: list[Any]) -> Any:
    return pieces[0] if len(pieces) == 1 else {"allOf": pieces}
