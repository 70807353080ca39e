"""quoting.py: the one spelling of a string in JSON text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool._quoting import escape, quote

any_text = st.text(st.characters() | st.sampled_from('"\\/\b\f\n\r\t\x00\x1f\x7f\u2028\ud83d\ude00'), max_size=20)
"""With lone surrogates among it."""


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("plain", '"plain"'),
        ('say "no"', r'"say \"no\""'),
        ("back\\slash", r'"back\\slash"'),
        ("a/b", '"a/b"'),
        ("\b\f\n\r\t", r'"\b\f\n\r\t"'),
        ("\x00\x1f", r'"\u0000\u001f"'),
        ("\x7f", '"\x7f"'),
        ("Zoë 日本 😀", '"Zoë 日本 😀"'),
        ("\u2028", '"\u2028"'),
        ("\ud83d", r'"\ud83d"'),
        ("é\udfff\n", r'"é\udfff\n"'),
    ],
    ids=ascii,
)
def test_spelling(text: str, quoted: str) -> None:
    """Only what must be escaped is; half a surrogate pair must."""
    assert quote(text) == quoted
    assert escape(text) == quoted[1:-1]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_spelling_is_that_of_json(text: str) -> None:
    """Without halves of surrogate pairs, the spelling is that of json."""
    assert quote(text) == json.dumps(text, ensure_ascii=False)


@given(any_text)
def test_what_is_quoted_can_be_read_and_encoded(text: str) -> None:
    """Whatever the text, what is written can be encoded, and json reads the same text from it.

    The one exception is in Unicode itself: two halves side by side, escaped, read as the pair.
    """
    quoted = quote(text)
    quoted.encode()
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    assert json.loads(quoted) == joined


@given(any_text, any_text)
def test_pieces_are_escaped_one_by_one(first: str, second: str) -> None:
    """Escaping two pieces gives the escaped whole."""
    assert escape(first) + escape(second) == escape(first + second)
