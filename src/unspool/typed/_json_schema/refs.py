"""A JSON Schema as it is written: every place in it that is a schema, checked, and what its references lead to.

A schema is copied and walked once, before anything is made of it. What is malformed, too deep, of another draft or
somewhere else is refused here, with its place; behind this module a schema is known to be sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final
from urllib.parse import quote, unquote, urldefrag, urljoin

from ..._errors import OptionsError
from .keywords import (
    CHECKS,
    DRAFT_7,
    DRAFT_2020,
    DRAFTS,
    LISTED,
    MOST_NESTED,
    NAMED,
    ONE,
    copied,
    escaped,
    is_texts,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Document", "Place"]

META: Final = ("http://json-schema.org/draft-07/schema", DRAFT_2020, "https://json-schema.org/draft/2020-12/meta/")
NAMELESS: Final = "https://unspool.invalid/schema"  # of a schema without an $id; nothing is ever fetched
NAMES: Final = frozenset({"$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor"})

Steps: TypeAlias = "tuple[str | int, ...]"


@final
class Place:
    """A schema inside of a schema: its keywords, as far as its draft knows them, and the schemas inside of it."""

    __slots__ = ("base", "is_alone", "keywords", "listed", "named", "one", "schema", "steps", "targets")

    def __init__(self, schema: Any, steps: Steps, base: str) -> None:
        self.schema = schema
        self.steps = steps
        self.base = base
        self.keywords: dict[str, Any] = {}
        self.one: dict[str, Place] = {}
        self.listed: dict[str, list[Place]] = {}
        self.named: dict[str, dict[str, Place]] = {}
        # By $ref and $dynamicRef; None for one of the schemas that describe the drafts themselves.
        self.targets: dict[str, Place | None] = {}
        self.is_alone = True  # it means the same wherever it stands: there is no reference and no name in it

    @property
    def members(self) -> dict[str, Any]:
        """All that is written in it, known or not."""
        return cast("dict[str, Any]", self.schema) if isinstance(self.schema, dict) else {}

    def inner(self) -> Iterator[Place]:
        """The schemas directly inside."""
        yield from self.one.values()
        for listed in self.listed.values():
            yield from listed
        for named in self.named.values():
            yield from named.values()


@final
class Document:
    """A schema, read: `root` and all `places`. `is_dynamic` tells that what a $dynamicRef means depends on the way."""

    def __init__(self, schema: object) -> None:
        if not isinstance(schema, (dict, bool)):
            raise OptionsError("a JSON Schema is a dict or a boolean")
        self.schema = copied(cast("object", schema))
        self.root = Place(self.schema, (), NAMELESS)
        self.draft = self._draft(self.root)
        self.places: dict[Steps, Place] = {}
        self.is_dynamic = False
        self._resources: dict[str, Place] = {}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._dynamic_anchors: dict[str, list[Place]] = {}
        self._to_resolve: list[Place] = []
        self._read(self.root)
        self.uri = self.root.base
        self._resources.setdefault(self.uri, self.root)
        while self._to_resolve:
            place = self._to_resolve.pop()
            for keyword in ("$ref", "$dynamicRef"):
                if keyword in place.keywords:
                    self._resolve(place, keyword)
        for place in reversed(self.places.values()):  # what is inside comes after what it is in
            place.is_alone = place.keywords.keys().isdisjoint(NAMES) and all(one.is_alone for one in place.inner())

    def target(self, place: Place, keyword: str) -> Place | None:
        """What a reference leads to; None for a schema of the drafts themselves."""
        if keyword not in place.targets:
            raise OptionsError(f"{shown((*place.steps, keyword))}: there is nothing that this reference leads to")
        return place.targets[keyword]

    def uri_of(self, place: Place) -> str:
        """An absolute reference to a place."""
        return self.uri + "#" + "".join(["/" + quote(escaped(step), safe="~") for step in place.steps])

    # Reading

    def _draft(self, place: Place) -> str:
        name = place.members.get("$schema", DRAFT_2020)
        draft = DRAFTS.get(name.removesuffix("#")) if isinstance(name, str) else None
        if draft is None:
            raise OptionsError(f"{shown((*place.steps, '$schema'))}: expected Draft 2020-12 or Draft 7")
        return draft

    def _read(self, root: Place) -> Place:
        """Put a place, and all that are inside of it, where they are found."""
        to_read = [(root, 1)]
        while to_read:
            place, depth = to_read.pop()
            if depth > MOST_NESTED:
                raise OptionsError(f"{shown(place.steps)}: schemas nested deeper than {MOST_NESTED}")
            if not isinstance(place.schema, (dict, bool)):
                raise OptionsError(f"{shown(place.steps)}: expected a schema: an object or a boolean")
            self.places.pop(place.steps, None)  # so that it comes after what it is in
            self.places[place.steps] = place
            self._check(place)
            self._place_inner(place)
            to_read.extend([(inner, depth + 1) for inner in place.inner()])
            if not place.keywords.keys().isdisjoint({"$ref", "$dynamicRef"}):
                self._to_resolve.append(place)
                if self.draft == DRAFT_7:  # what stands beside a reference means nothing
                    place.keywords = {"$ref": place.keywords["$ref"]}
                    place.one, place.listed, place.named = {}, {}, {}
        return root

    def _check(self, place: Place) -> None:
        checks = CHECKS[self.draft]
        for keyword, value in place.members.items():
            check = checks.get(keyword)
            if check is not None:
                if not check[0](value):
                    raise OptionsError(f"{shown((*place.steps, keyword))}: expected {check[1]}")
                place.keywords[keyword] = value
        if not (self.draft == DRAFT_7 and "$ref" in place.keywords):
            self._name(place)

    def _name(self, place: Place) -> None:
        """The names under which a place can be referred to."""
        keywords = place.keywords
        if "$id" in keywords:
            if "$schema" in keywords and self._draft(place) != self.draft:
                raise OptionsError(f"{shown((*place.steps, '$schema'))}: another draft than that of the whole schema")
            uri, fragment = _split(keywords["$id"])
            if uri:
                place.base = _split(urljoin(place.base, uri))[0]
            if fragment:
                self._anchors[place.base, fragment] = place
            else:
                self._resources[place.base] = place
        for keyword in ("$anchor", "$dynamicAnchor"):
            if keyword in keywords:
                self._anchors[place.base, keywords[keyword]] = place
        if "$dynamicAnchor" in keywords:
            self._dynamic_anchors.setdefault(keywords["$dynamicAnchor"], []).append(place)

    def _place_inner(self, place: Place) -> None:
        draft = self.draft
        for keyword, value in place.members.items():
            steps = (*place.steps, keyword)
            if keyword in LISTED[draft] or (keyword == "items" and draft == DRAFT_7 and isinstance(value, list)):
                if not (isinstance(value, list) and value):
                    raise OptionsError(f"{shown(steps)}: expected an array of schemas, not empty")
                items = cast("list[object]", value)
                place.listed[keyword] = [Place(item, (*steps, at), place.base) for at, item in enumerate(items)]
            elif keyword in ONE[draft]:
                place.one[keyword] = Place(value, steps, place.base)
            elif keyword in NAMED[draft]:
                if not isinstance(value, dict):
                    raise OptionsError(f"{shown(steps)}: expected an object of schemas")
                place.named[keyword] = {
                    name: Place(item, (*steps, name), place.base)
                    for name, item in cast("dict[str, object]", value).items()
                    if not (keyword == "dependencies" and is_texts(item))
                }
            else:
                continue
            place.keywords[keyword] = value

    # References

    def _resolve(self, place: Place, keyword: str) -> None:
        uri, fragment = _split(place.keywords[keyword])
        uri = _split(urljoin(place.base, uri))[0] if uri else place.base
        fragment = unquote(fragment)
        resource = self._resources.get(uri)
        if resource is not None:
            target = self._at(resource, fragment)
            if target is not None:
                place.targets[keyword] = target
                if keyword == "$dynamicRef" and target.keywords.get("$dynamicAnchor") == fragment:
                    self.is_dynamic |= len(self._dynamic_anchors[fragment]) > 1
        elif uri in META or uri.startswith(META[-1]):
            place.targets[keyword] = None
        else:
            where = shown((*place.steps, keyword))
            raise OptionsError(f"{where}: a reference to another document; put it into this one, under $defs")

    def _at(self, resource: Place, fragment: str) -> Place | None:
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((resource.base, fragment))
        steps, base = resource.steps, resource.base
        schema: object = resource.schema
        for text in fragment.split("/")[1:]:
            step: str | int = text.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list):
                items = cast("list[object]", schema)
                step = int(text) if text.isdecimal() and text.isascii() else len(items)
                if step >= len(items):
                    return None
                schema = items[step]
            else:
                members = cast("dict[str | int, object]", schema if isinstance(schema, dict) else {})
                if step not in members:
                    return None
                schema = members[step]
            steps = (*steps, step)
            if steps in self.places:
                base = self.places[steps].base
        # If it is not known yet, it is somewhere that no keyword leads to.
        return self.places[steps] if steps in self.places else self._read(Place(schema, steps, base))


def _split(reference: str) -> tuple[str, str]:
    uri, fragment = urldefrag(reference)
    return uri, fragment
