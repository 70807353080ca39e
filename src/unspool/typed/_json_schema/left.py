"""What is left to judge when a value closes: the keywords that no shape of ours tells.

They are handed to `jsonschema_rs` as a schema of their own. A schema inside of them is taken along as it is if it means
the same everywhere; otherwise there is an absolute reference to its place in the document instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from .judge import Judges
from .keywords import DRAFT_7
from .merge import UNIONS, types_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .judge import Judge
    from .merge import Conjunction, Merger, Part
    from .refs import Document, Place

__all__ = ["LeftOver", "wants_integer"]

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

    def __init__(self, document: Document) -> None:
        self._document = document
        self._judges = Judges(document)

    def judge(self, conjunction: Conjunction, kind: str, merger: Merger) -> Judge | None:
        """For what no shape tells about a value of this kind; None if there is nothing."""
        pieces: list[Any] = []
        needs_document = False
        unevaluated = UNEVALUATED.get(kind, "")
        for part in conjunction.parts:
            if unevaluated in part.place.one and merger.cone(part.place, unevaluated) is None:
                piece, needs = self._reference(part.place)
            else:
                piece, needs = self._piece(part, kind, merger)
            if piece:
                pieces.append(piece)
                needs_document |= needs
        if pieces and kind == "number" and any(map(wants_integer, conjunction.places)):
            pieces.append({"type": "integer"})
        return self._judges.judge(_together(pieces), needs_document) if pieces else None

    def judge_of(self, places: Iterable[Place]) -> Judge | None:
        """For whole schemas; None if these say nothing."""
        referred = [self._reference(place) for place in places]
        pieces = [piece for piece, _ in referred if piece is not True and piece != {}]
        return self._judges.judge(_together(pieces), any(needs for _, needs in referred)) if pieces else None

    def whole(self) -> Judge:
        """For the document."""
        return self._judges.judge(self._document.schema, False)

    def pattern(self, pattern: str) -> Judge:
        """For keys."""
        return self._judges.judge({"pattern": pattern}, False)

    def _piece(self, part: Part, kind: str, merger: Merger) -> tuple[dict[str, Any], bool]:
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
        for keyword in ("enum", "const"):  # strings are told by their letters, and there is only one null
            if keyword in keywords and kind not in {"string", "null"}:
                piece[keyword] = keywords[keyword]
        for keyword, target in part.place.targets.items():
            if target is None:  # one of the schemas that describe the drafts themselves
                piece["$ref"] = keywords[keyword]
        return piece, needs_document

    def _written(self, place: Place, keyword: str) -> tuple[Any, bool]:
        """The value of a keyword, and whether there are references to the document in it."""
        value = place.keywords[keyword]
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

    def _reference(self, place: Place) -> tuple[Any, bool]:
        if place.is_alone:
            return place.schema, False
        return {"$ref": self._document.uri_of(place)}, True


def wants_integer(place: Place) -> bool:
    """Of the numbers only those that are whole fit."""
    names = types_of(place)
    return "integer" in names and "number" not in names


def _together(pieces: list[Any]) -> Any:
    return pieces[0] if len(pieces) == 1 else {"allOf": pieces}
