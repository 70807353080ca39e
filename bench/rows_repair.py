"""The rows about repair: what it costs on text that needs none, and whether the work grows linearly with the text.

"strict" is unspool without repair, in the same run: the goal of a row is a multiple of it. json-repair reads the whole
prefix again for each fragment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from .documents import SHAPES, cut_ragged, file_in_a_tool_call, itinerary, table
from .doubling import doubling
from .peers import PREFIX_PARSERS, Growing
from .rows import DOUBLING, OURS, US_PER_FRAGMENT, Contender, Row, ours
from .rows_values import prefixes
from .timing import Effort, Measure, per_fragment

__all__ = ["rows"]

STRICT: Final = "strict"


def rows(effort: Effort) -> Iterator[Row]:
    for name, document in (
        ("itinerary 10 KB", partial(itinerary, 10_000)),
        ("itinerary 100 KB", partial(itinerary, 100_000)),
        ("50 KB string", partial(file_in_a_tool_call, 50_000)),
        ("2,000 rows", partial(table, 2_000)),
    ):
        yield _on_clean_text(name, document, effort)
    for name, shape in {**SHAPES, **BROKEN}.items():
        contender = Contender(OURS, partial(_doubled, shape, effort))
        yield Row(f"repair/doubling/{name}", f"repair, doubled: {name}", DOUBLING, [contender], turns=1)


def _on_clean_text(name: str, document: Callable[[], str], effort: Effort) -> Row:
    peer = PREFIX_PARSERS["json-repair"]
    contenders = [
        Contender(OURS, lambda: _measured("guess", document(), effort)),
        Contender(STRICT, lambda: _measured("none", document(), effort), "unspool without repair"),
        Contender("json-repair", lambda: prefixes(peer, document(), effort), peer.lacks, pure_python=True),
    ]
    return Row(f"repair/{name}", f"value with repair, text without faults, {name}", US_PER_FRAGMENT, contenders)


def _measured(level: str, text: str, effort: Effort) -> Measure:
    fragments = cut_ragged(text)
    run = _reading(level)
    run(fragments)
    return per_fragment(lambda: run(fragments), len(fragments), effort)


def _reading(level: str) -> Growing:
    """Read fragments with repair, and ask for the value after each of them."""
    options_class, parser_class = ours("Options", "ValueParser")
    options = options_class(repair=level, max_repairs=None, max_depth=None, max_number=None)

    def run(fragments: Sequence[str]) -> object:
        parser = parser_class(options)
        feed = parser.feed
        value: object = None
        for fragment in fragments:
            feed(fragment)
            value = parser.value
        return value

    return run


def _unasked() -> Growing:
    """Read fragments with repair, without asking for the value: copying it would hide the cost of the repairer."""
    options_class, parser_class = ours("Options", "FragmentParser")
    options = options_class(repair="guess", max_repairs=None, max_depth=None, max_number=None)

    def run(fragments: Sequence[str]) -> object:
        parser = parser_class(options)
        feed = parser.feed
        for fragment in fragments:
            feed(fragment)
        return parser

    return run


def _doubled(shape: Callable[[int], str], effort: Effort) -> Measure:
    return doubling(shape, _unasked(), effort, {4: 20_000, 4096: 100_000})


def _repeated(head: str, piece: str, tail: str) -> Callable[[int], str]:
    return lambda n: head + piece * (n // len(piece)) + tail


BROKEN: Final = {
    "broken rows": _repeated("[", '{\'a\': True, b: "the "best" day",}, // one\n', "]"),
    "only quotes": _repeated("", '"', ""),
    "only brackets": _repeated("", "[", ""),
    "inner quotes": _repeated('{"a": "', 'x "y" ', '"}'),
    "words": _repeated('{"a": ', "some words, ", "}"),
}
"""Texts that are not JSON, also hostile ones."""
