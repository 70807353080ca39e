"""chunker/text.py: whole texts in, what each of them adds out; and what contradicts what was handed out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import cut_at
from unspool._chunker.text import TextChunker
from unspool._errors import OptionsError, Reason, SnapshotError, StateError
from unspool._path import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

HIGH, LOW = chr(0xD83D), chr(0xDE00)  # the halves of U+1F600
FACE = chr(0x1F600)


def fragments(texts: Iterable[str], chunker: TextChunker | None = None) -> list[str]:
    """What each text adds, and the flush."""
    chunker = TextChunker() if chunker is None else chunker
    return [*(chunker.process(text) for text in texts), chunker.flush()]


def utf16(text: str) -> list[str]:
    """The text in units of UTF-16, as other languages count and cut it."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def joined(units: Iterable[str]) -> str:
    """The text that units of UTF-16 make."""
    return "".join(units).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], [""]),
        ([""], ["", ""]),
        (["Trip", "Trip", "Trip to Fuji"], ["Trip", "", " to Fuji", ""]),
        (["", "a", "ab\n", "ab\n"], ["", "a", "b\n", "", ""]),
        (["é", "é€", "é€" + FACE], ["é", "€", FACE, ""]),
        # A first half waits for the second, whether the two come as one character or as two.
        (["a" + HIGH, "a" + FACE, "a" + FACE + "b"], ["a", FACE, "b", ""]),
        (["a" + HIGH, "a" + HIGH + LOW, "a" + HIGH + LOW + "b"], ["a", FACE, "b", ""]),
        ([HIGH + LOW, FACE + "!"], [FACE, "!", ""]),
        # It waits no longer than it must, and what was not handed out may vanish.
        (["a" + HIGH, "a" + HIGH, "a" + HIGH + "b"], ["a", "", HIGH + "b", ""]),
        (["a" + HIGH, "a", "ab"], ["a", "", "b", ""]),
        (["a" + HIGH], ["a", HIGH]),
        # All first halves wait, U+D800 to U+DBFF; a second half, or what stands beside them, waits for nothing.
        ([chr(0xD800), chr(0x10000)], ["", chr(0x10000), ""]),
        ([chr(0xDBFF), chr(0x10FC00)], ["", chr(0x10FC00), ""]),
        ([chr(0xDC00)], [chr(0xDC00), ""]),
        ([chr(0xD7FF)], [chr(0xD7FF), ""]),
        (["a" + LOW, "a" + LOW + "b"], ["a" + LOW, "b", ""]),
    ],
)
def test_exact_fragments(texts: list[str], expected: list[str]) -> None:
    """Each text gives what it adds to the one before; half a character at the end waits."""
    assert fragments(texts) == expected


@given(st.text(st.sampled_from(["a", "é", FACE, FACE, HIGH, LOW])), st.lists(st.integers(0, 40)))
def test_fragments_add_up_to_the_last_text(text: str, places: list[int]) -> None:
    """However UTF-16 cut it, the fragments are the last text; what waits is one half at most."""
    units = utf16(text)
    texts = ["".join(units[:place]) for place in sorted(places)] + ["".join(units)]
    chunker, handed_out = TextChunker(), ""
    for snapshot in texts:
        handed_out += chunker.process(snapshot)
        waiting = joined(utf16(snapshot))[len(handed_out) :]
        assert waiting in {"", HIGH}
        assert handed_out + waiting == joined(utf16(snapshot))
    assert handed_out + chunker.flush() == joined(units)


@given(st.text(), st.lists(st.integers(0, 30)))
def test_what_can_be_encoded_stays_so(text: str, places: list[int]) -> None:
    """Where the whole text can be encoded, each fragment can, although the texts before it could not."""
    units = utf16(text)
    edges = sorted({min(place, len(units)) for place in places} | {len(units)})
    pieces = fragments("".join(units[:edge]) for edge in edges)
    assert "".join([piece.encode().decode() for piece in pieces]) == text


@pytest.mark.parametrize(
    ("written", "text", "reason"),
    [
        ("abc", "ab", Reason.SHRUNK),
        ("abc", "", Reason.SHRUNK),
        ("abc", "abd", Reason.REWRITTEN),
        ("abc", "xabc", Reason.REWRITTEN),
        ("abc", "ab" + HIGH, Reason.REWRITTEN),
        (FACE, HIGH, Reason.REWRITTEN),
    ],
)
def test_contradictions(written: str, text: str, reason: Reason) -> None:
    """A text that does not go on from what was handed out is refused, counts for nothing, and changes nothing."""
    chunker = TextChunker()
    assert chunker.process(written) + chunker.process(written) == written
    for _ in range(2):
        with pytest.raises(SnapshotError) as refused:
            chunker.process(text)
        assert refused.value == SnapshotError(ROOT, reason, 3)
    assert fragments([written + "!"], chunker) == ["!", ""]
    assert chunker.restarts == 0


def test_a_refused_text_leaves_what_waits() -> None:
    """The half that waits still waits after a text was refused."""
    chunker = TextChunker()
    assert chunker.process("a" + HIGH) == "a"
    with pytest.raises(SnapshotError):
        chunker.process("b")
    assert chunker.flush() == HIGH


def test_restart() -> None:
    """With on_conflict="restart" a text that does not go on is handed out whole, and counted."""
    chunker = TextChunker(on_conflict="restart")
    texts = ["abc", "abcd", "ab", "abx", "y" + HIGH, "y" + FACE, ""]
    assert fragments(texts, chunker) == ["abc", "d", "ab", "x", "y", FACE, "", ""]
    assert chunker.restarts == 3
    chunker.reset()
    assert chunker.restarts == 0


def test_flush_and_reset() -> None:
    """After the flush there is nothing more, until reset() starts anew; steps are counted from there."""
    chunker = TextChunker()
    assert chunker.process("a" + HIGH) == "a"
    assert (chunker.flush(), chunker.flush()) == (HIGH, "")
    with pytest.raises(StateError, match="reset"):
        chunker.process("a" + HIGH + "b")
    chunker.reset()
    assert fragments(["x", "xy"], chunker) == ["x", "y", ""]
    chunker.reset()
    chunker.process("left" + HIGH)
    chunker.reset()
    assert chunker.flush() == ""
    chunker.reset()
    assert chunker.process("other") == "other"
    with pytest.raises(SnapshotError) as refused:
        chunker.process("")
    assert refused.value.step == 2


def test_arguments() -> None:
    """Only known ways to treat a contradiction, and only text."""
    with pytest.raises(OptionsError, match="on_conflict"):
        TextChunker(on_conflict="keep")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not bytes"):
        TextChunker().process(b"a")  # type: ignore[arg-type]


@given(st.text(max_size=20), st.data())
def test_repeats_add_nothing(text: str, data: st.DataObject) -> None:
    """A text that comes again adds nothing."""
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=5))
    pieces = cut_at(text, places)
    texts = ["".join(pieces[: count + 1]) for count in range(len(pieces))]
    doubled = [text for text in texts for _ in range(2)]
    assert fragments(doubled)[:-1:2] == fragments(texts)[:-1] == pieces
    assert not any(fragments(doubled)[1::2])
