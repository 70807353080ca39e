"""The reasons why a value does not fit a schema, found with yes-or-no questions.

`jsonschema_rs` answers quickly whether a value fits. Its lists of errors are another matter: the library collects the
errors of all branches of all unions before it returns the first one, and a recursive union has very many of them. So
`Explainer` asks about one keyword at a time and goes down only where the answer is no. For one value, it asks at most
`MAX_QUESTIONS` questions about the whole value and stops after `MAX_PROBLEMS` problems.

A text may have many invalid values. `MAX_EXPLAINED` bounds the number of explanations, and `MAX_STEPS` the walk through
the children: the more problems the text has before a value, the shorter the walk. Both depend only on the text before
the value, so every way of cutting the text into fragments leads to the same problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final

from ..._path import ROOT, Path
from .._shape import Problem
from .document import DRAFT_7, is_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..._path import Step
    from .document import SchemaDocument, Subschema

__all__ = ["UNEXPLAINED", "Asked", "Explainer", "everything"]

MAX_EXPLAINED: Final = 100  # problems in a text; the values after them are not explained
MAX_PROBLEMS: Final = 8
MAX_QUESTIONS: Final = 32
MAX_STEPS: Final = 100_000  # children, patterns for their keys, and questions about them
MAX_HOPS: Final = 32  # from a schema to one inside it, or to the target of a reference

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

MEMBERS: Final = ("properties", "patternProperties", "additionalProperties")
ITEMS: Final = ("prefixItems", "items", "additionalItems")
CONDITION: Final = ("if", "then", "else")
# The cheapest questions come first. The last group that is left needs no question at all.
GROUPS: Final = (
    *[(flat,) for flat in ("type", "enum", "const", "required", "dependentRequired")],
    *[(f"{limit}{end}",) for limit in ("min", "max") for end in ("Items", "Length", "Properties", "imum")],
    *[(flat,) for flat in ("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format")],
    *[(flat,) for flat in ("contentEncoding", "contentMediaType", "uniqueItems", "propertyNames")],
    *[("contains", "minContains", "maxContains"), MEMBERS, ITEMS],
    *[("$ref",), ("$dynamicRef",), ("allOf",), CONDITION, ("dependentSchemas",), ("dependencies",)],
    *[("not",), ("anyOf",), ("oneOf",), ("unevaluatedItems",), ("unevaluatedProperties",)],
)
UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
UNEXPLAINED: Final = Problem(ROOT, "invalid", "a value that fits the schema")


class Asked(NamedTuple):
    """Some keywords of a schema."""

    place: Subschema
    keywords: frozenset[str]


@final
class Explainer:
    """Explains why values do not fit the schemas of one document.

    `accepts` answers a question about some keywords; `matches` tells whether a key matches a pattern.
    """

    def __init__(
        self,
        document: SchemaDocument,
        accepts: Callable[[Asked, object], bool],
        matches: Callable[[str, str], bool],
    ) -> None:
        self._document = document
        self._accepts = accepts
        self._matches = matches

    def problems(self, asked: Sequence[Asked], value: object, before: int) -> list[Problem]:
        """Return some problems of a value that does not fit these schemas: at least one, not more than `MAX_PROBLEMS`.

        The only problem is the whole value if the text has `MAX_EXPLAINED` problems before it, or if a $dynamicRef has
        several targets: then the questions would depend on the way to them.
        """
        if before >= MAX_EXPLAINED or self._document.is_dynamic:
            return [UNEXPLAINED]
        explanation = Explanation(self._document, self._accepts, self._matches, MAX_STEPS // (before + 1))
        explanation.explain(asked, value, (), 0)
        return explanation.found or [UNEXPLAINED]


@final
class Explanation:
    """The walk for one value."""

    def __init__(
        self,
        document: SchemaDocument,
        accepts: Callable[[Asked, object], bool],
        matches: Callable[[str, str], bool],
        steps: int,
    ) -> None:
        self.found: list[Problem] = []
        self._document = document
        self._accepts = accepts
        self._matches = matches
        self._questions = 0
        self._steps_left = steps

    def explain(self, asked: Sequence[Asked], value: object, steps: tuple[Step, ...], hops: int) -> None:
        """Find the keywords that a value does not fit: it is known to fit not all of them."""
        groups = [group for one in asked for group in _groups(one, self._document.draft)]
        any_failed = False
        for index, group in enumerate(groups):
            is_last_left = not any_failed and index == len(groups) - 1
            if not is_last_left and (group.keywords <= UNEVALUATED or self._fits(group, value)):
                continue
            any_failed = True
            if hops < MAX_HOPS:
                self._explain_group(group, value, steps, hops + 1)
            else:
                self._add("invalid", steps)
            if len(self.found) >= MAX_PROBLEMS:
                return

    def _fits(self, asked: Asked, value: object) -> bool:
        """Ask a question about a whole value. Without any questions left, the answer is that nothing is wrong."""
        self._questions += 1
        return self._questions > MAX_QUESTIONS or self._accepts(asked, value)

    def _add(self, code: str, steps: tuple[Step, ...]) -> None:
        problem = Problem(Path.of(*steps), code, EXPECTED.get(code, "a value that fits the schema"))
        if len(self.found) < MAX_PROBLEMS and problem not in self.found:
            self.found.append(problem)

    def _go_into(self, inner: Subschema, value: object, steps: tuple[Step, ...], hops: int) -> None:
        if inner.schema is False:
            self._add("falseSchema", steps)
        else:
            self.explain([everything(inner)], value, steps, hops)

    def _explain_group(self, group: Asked, value: Any, steps: tuple[Step, ...], hops: int) -> None:
        place = group.place
        first = next(keyword for keyword in (*MEMBERS, *ITEMS, *sorted(group.keywords)) if keyword in group.keywords)
        if first in MEMBERS or first in ITEMS:
            self._explain_children(group, value, steps, hops)
        elif first in ("$ref", "$dynamicRef"):
            target = self._document.target(place, first)
            if target is None:  # a meta-schema
                self._add("invalid", steps)
            else:
                self._go_into(target, value, steps, hops)
        elif first == "required":
            self._add_missing(place.keywords[first], value, steps)
        elif first == "dependentRequired":
            self._add_missing(_required_by(place.keywords[first], value), value, steps)
        elif first in ("allOf", "dependentSchemas", "dependencies", "else", "if", "then"):
            if first == "dependencies":
                lists = {name: names for name, names in place.keywords[first].items() if is_texts(names)}
                self._add_missing(_required_by(lists, value), value, steps)
            inner = list(self._inner(group, value))
            for index, one in enumerate(inner):
                is_last_left = index == len(inner) - 1 and not self.found
                if is_last_left or not self._fits(everything(one), value):
                    self._go_into(one, value, steps, hops)
        else:
            self._add("contains" if first in ("maxContains", "minContains") else first, steps)

    def _inner(self, group: Asked, value: Any) -> Iterator[Subschema]:
        """Yield the schemas for the same value, of which at least one does not fit."""
        place = group.place
        if "allOf" in group.keywords:
            yield from place.listed["allOf"]
        elif "if" in group.keywords:
            condition = place.one["if"]
            branch = "then" if condition.schema is True or self._fits(everything(condition), value) else "else"
            if branch in place.one:
                yield place.one[branch]
        else:
            (keyword,) = group.keywords
            yield from (inner for name, inner in place.named[keyword].items() if name in value)

    def _add_missing(self, names: list[str], value: Any, steps: tuple[Step, ...]) -> None:
        for name in dict.fromkeys(names):
            if name not in value:
                self._add("missing", (*steps, name))

    def _explain_children(self, group: Asked, value: Any, steps: tuple[Step, ...], hops: int) -> None:
        before = len(self.found)
        children = _members(value) if isinstance(value, dict) else enumerate(cast("list[object]", value))
        for step, child in children:
            if self._steps_left <= 0 or len(self.found) >= MAX_PROBLEMS:
                break
            self._steps_left -= 1
            for keyword, inner in self._schemas_of_child(group, step):
                self._steps_left -= 1
                if self._steps_left < 0 or self._accepts(everything(inner), child):
                    continue
                if inner.schema is False and keyword.startswith("additional"):
                    self._add(keyword, steps)
                else:
                    self._go_into(inner, child, (*steps, step), hops)
        if len(self.found) == before:
            self._add("invalid", steps)

    def _schemas_of_child(self, group: Asked, step: Step) -> Iterator[tuple[str, Subschema]]:
        place, keywords = group.place, group.keywords
        if isinstance(step, int):
            prefix = place.listed.get("prefixItems") or place.listed.get("items") or []
            rest = "additionalItems" if "items" in place.listed else "items"
            if step < len(prefix):
                yield "prefixItems", prefix[step]
            elif rest in keywords and rest in place.one:
                yield rest, place.one[rest]
            return
        found = False
        properties = place.named.get("properties", {})
        if step in properties:
            found = True
            yield "properties", properties[step]
        for pattern, inner in place.named.get("patternProperties", {}).items():
            self._steps_left -= 1
            if self._matches(pattern, step):
                found = True
                yield "patternProperties", inner
        if not found and "additionalProperties" in place.one:
            yield "additionalProperties", place.one["additionalProperties"]


def everything(place: Subschema) -> Asked:
    """Return all keywords of a schema."""
    return Asked(place, frozenset(place.keywords))


def _groups(asked: Asked, draft: str) -> Iterator[Asked]:
    """Yield the keywords that can be asked about separately."""
    for group in GROUPS:
        keywords = asked.keywords.intersection(group)
        if keywords and not (group == ("format",) and draft != DRAFT_7):
            yield Asked(asked.place, keywords)


def _required_by(lists: dict[str, list[str]], value: Any) -> list[str]:
    return [name for key, names in lists.items() if key in value for name in names]


def _members(value: Any) -> Iterator[tuple[str, object]]:
    return iter(cast("dict[str, object]", value).items())
