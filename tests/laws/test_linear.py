"""Law 13: nothing is quadratic. Work is counted in steps of the interpreter, so this is for the plain sources.

The time, of both builds, is measured by the benchmarks, which hold it to the same bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.steps import steps
from unspool import COMPILED, FragmentParser, Options, ValueParser, create_state, parse_chunk

if TYPE_CHECKING:
    from collections.abc import Callable

SHAPES: dict[str, Callable[[int], str]] = {
    "one long string": lambda n: '"' + "x" * n + '"',
    "many escapes": lambda n: '"' + "\\n\\u00e9\\ud83d\\ude00" * (n // 20) + '"',
    "wide array": lambda n: "[" + "[]," * (n // 3) + "[]]",
    "wide object": lambda n: "{" + ",".join(f'"k{i}":{{}}' for i in range(n // 9)) + "}",
    "deep": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "many numbers": lambda n: "[" + "-1.5e2," * (n // 7) + "0]",
    "one long number": lambda n: "[" + "1" * n + "]",
    "many literals": lambda n: "[" + "true,null," * (n // 10) + "false]",
    "one key many times": lambda n: "{" + '"k":"v",' * (n // 8) + '"k":1}',
    "white space": lambda n: " \n" * (n // 4) + "[" + "\r\n\t " * (n // 8) + "]",
}

UNLIMITED = Options(max_depth=None, max_number=None)


def events(fragments: list[str]) -> None:
    parser = FragmentParser(UNLIMITED)
    for fragment in fragments:
        parser.feed(fragment)


def value_at_the_end(fragments: list[str]) -> None:
    parser = ValueParser(UNLIMITED)
    for fragment in fragments:
        parser.feed(fragment)
    assert parser.value is not None


def every_state_kept(fragments: list[str]) -> None:
    states = [create_state(UNLIMITED)]
    for fragment in fragments:
        states.append(parse_chunk(states[-1], fragment))
    assert states[-1].value is not None


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("size", [1, 4, 64, 4096])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("work", [events, value_at_the_end, every_state_kept])
def test_law_13_twice_the_text_is_twice_the_work(work: Callable[[list[str]], None], shape: str, size: int) -> None:
    """For ten shapes of document and four sizes of fragment, twice the text takes at most 2.3 times the work."""

    def count(n: int) -> int:
        text = SHAPES[shape](n)
        return steps(lambda: work([text[i : i + size] for i in range(0, len(text), size)]))

    assert count(2 * 200) <= 2.3 * count(200) + 100
