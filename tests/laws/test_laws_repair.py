"""The laws of repair, numbered as in docs/laws.md: random documents and random mishaps, cut anywhere."""

from __future__ import annotations

import json
import random as randomness
import re
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from tests.support.broken import broken, cut, document, long_broken, placed, randoms, reading
from tests.support.oracle import MISSING as NOTHING
from tests.support.oracle import is_prefix_value
from tests.support.shared import shared_data
from tests.support.steps import steps
from unspool import (
    COMPILED,
    MISSING,
    Code,
    FragmentParser,
    JSONSyntaxError,
    Options,
    ParserState,
    RepairCode,
    ValueParser,
    create_state,
    finalize,
    parse_chunk,
)
from unspool._text.ends import FARTHEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

EXAMPLES = min(6 * settings().max_examples, max(settings().max_examples, 600))
many = settings(max_examples=EXAMPLES)

LEVELS: tuple[Any, ...] = ("spelling", "guess")
OPTIONS: list[dict[str, Any]] = [
    *({}, {}, {}, {}, {"multiple": True}, {"trailing": "ignore"}, {"truncated": "close"}, {"latex": True}),
    *({"max_repairs": 2}, {"max_chars": 12}, {"max_string": 3}, {"max_key": 2}, {"max_number": 2}),
    *({"surrogates": "error"}, {"duplicate_keys": "error"}, {"trailing_commas": True}, {"max_depth": 2}),
]
REWRITTEN = {
    *(RepairCode.COMMENT, RepairCode.ELLIPSIS, RepairCode.LITERAL_SPELLING, RepairCode.NUMBER_SPELLING),
    *(RepairCode.NOT_A_NUMBER, RepairCode.INVALID_ESCAPE),
}
"""The repairs that may leave out letters or digits of the text."""


def chosen(random: Random) -> dict[str, Any]:
    """Options with one of the two levels."""
    return {"repair": random.choice(["guess", "guess", "spelling"]), **random.choice(OPTIONS)}


def without_trailing_commas(repairs: Any) -> list[RepairCode]:
    return [repair.code for repair in repairs if repair.code is not RepairCode.TRAILING_COMMA]


# ---- 44: JSON is never changed -----------------------------------------------------------------------


def check_json(text: str, random: Random) -> None:
    strict = reading([text])
    assert strict.error is None
    for level in LEVELS:
        for fragments in ([text], cut(text, random)):
            found = reading(fragments, repair=level)
            assert found.events == strict.events
            assert found.is_complete == strict.is_complete
            assert (found.error, found.repairs) == (None, ())
            assert found.source == found.target == text


@many
@given(randoms)
def test_law_44_json_is_never_changed(random: Random) -> None:
    """For JSON the stage passes the text on as it is: same events, same offsets, no repair, however it is cut."""
    check_json(document(random), random)


@pytest.mark.long
def test_law_44_holds_for_200_000_documents() -> None:
    """The same for many documents."""
    random = randomness.Random(44)
    for _ in range(200_000):
        check_json(document(random), random)


# ---- 45: cutting is not observable -------------------------------------------------------------------


def check_cutting(text: str, random: Random, options: dict[str, Any]) -> None:
    whole = reading([text], **options)
    for fragments in (list(text), cut(text, random)):
        assert reading(fragments, **options).seen == whole.seen


@many
@given(randoms)
def test_law_45_cutting_is_not_observable(random: Random) -> None:
    """Events, repairs, errors, the texts passed on and the dump of the stage are the same for every cutting."""
    check_cutting(broken(random), random, chosen(random))


@settings(max_examples=max(settings().max_examples // 2, 10))
@given(randoms)
def test_law_45_holds_for_long_runs(random: Random) -> None:
    """The same where looking ahead has an end."""
    check_cutting(long_broken(random), random, {"repair": "guess"})


WRAPPERS = [
    *("```json\n", "```\n", "\n```\n", "```", "Here is: ", "\n", "Text.\n", "~~~\n", "[1] note ", "`x`", "{name} "),
]


def wrapped(random: Random) -> str:
    """Documents, broken or not, inside other text."""
    parts = [random.choice(WRAPPERS) + random.choice([document, broken])(random) for _ in range(random.randrange(1, 4))]
    return "".join([*parts, random.choice(["", *WRAPPERS])])


@many
@given(randoms)
def test_law_45_holds_inside_other_text(random: Random) -> None:
    """The same with `extract`: also the skipped text and the dump of the whole state."""
    text = wrapped(random)
    options = Options(repair=random.choice(LEVELS), multiple=random.randrange(3) == 0)
    seen: list[Any] = []
    for fragments in ([text], list(text), cut(text, random)):
        state = create_state(options, extract=True)
        for fragment in fragments:
            state = parse_chunk(state, fragment)
        assert ParserState.load(state.dump()).dump() == state.dump()
        end = finalize(state)
        seen.append((state.dump(), end.dump(), end.skipped, end.repairs))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.long
def test_law_45_holds_for_100_000_texts() -> None:
    """The same for many broken texts."""
    random = randomness.Random(45)
    for _ in range(100_000):
        check_cutting(broken(random), random, chosen(random))


def cases() -> list[str]:
    folder = shared_data()
    if folder is None or not (folder / "repair").is_dir():
        pytest.skip("the corpus ../shared/data/repair is not here")
    lines = (folder / "repair" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["input"] for line in lines]


@pytest.mark.long
def test_law_45_holds_for_every_cut_of_the_cases() -> None:
    """Every cut into two, and single characters, of every broken text that other projects test."""
    for text in cases():
        whole = reading([text], repair="guess").seen
        places = range(1, len(text)) if len(text) < 2000 else range(1, len(text), 97)
        for at in places:
            assert reading([text[:at], text[at:]], repair="guess").seen == whole
        assert reading(list(text), repair="guess").seen == whole


# ---- 46 to 51: what is passed on ---------------------------------------------------------------------


def check_pieces(text: str, options: dict[str, Any]) -> None:
    found = reading([text], **options)
    is_truncated = any(repair.code is RepairCode.TRUNCATED for repair in found.repairs)
    # 48: offsets.
    for repair in found.repairs:
        assert 0 <= repair.position.offset <= repair.position.offset + repair.length <= len(text)
        before = text[: repair.position.offset]
        assert repair.position.line == 1 + before.count("\n")
        assert repair.position.column == len(before) - before.rfind("\n")
    if found.error is not None:
        return
    if "trailing" not in options:
        assert found.source == text
    # 50: every change is logged.
    is_changed = found.source != found.target
    assert is_changed == bool(without_trailing_commas(found.repairs)) or is_truncated
    if is_truncated:
        return
    # 46: mended.
    strict = {name: value for name, value in options.items() if name not in ("repair", "truncated", "latex")}
    strict.update(max_chars=None, trailing_commas=True)
    again = reading([found.target], **strict)
    assert again.error is None
    assert [event[:3] for event in again.events] == [event[:3] for event in found.events]
    # 49: idempotent.
    if "latex" not in options:
        twice = reading([found.target], **{**options, "max_chars": None})
        assert twice.error is None
        assert without_trailing_commas(twice.repairs) == []
        assert twice.target == found.target
    # 51: nothing is lost.
    rewritten = {
        offset
        for repair in found.repairs
        if repair.code in REWRITTEN
        for offset in range(repair.position.offset, repair.position.offset + max(repair.length, 2))
    }
    for offset, source, target in placed(found.pieces):
        letters = Counter(c for at, c in enumerate(source, offset) if c.isalnum() and at not in rewritten)
        assert letters <= Counter(target), "each letter as often as in the text"


@many
@given(randoms)
def test_law_46_to_51_what_is_passed_on(random: Random) -> None:
    """46: it is JSON. 48: its sources are the text. 49: repaired once. 50: changes are logged. 51: nothing is lost."""
    check_pieces(broken(random), chosen(random))


@pytest.mark.long
def test_law_46_to_51_hold_for_100_000_texts() -> None:
    """The same for many broken texts."""
    random = randomness.Random(46)
    for _ in range(100_000):
        check_pieces(broken(random), chosen(random))


@many
@given(randoms)
def test_law_46_what_is_refused_is_wrong_where_the_reader_says(random: Random) -> None:
    """A refused text is an error of the reader: its offset lies in the text, and the log ends before it."""
    text = broken(random)
    found = reading([text], repair="guess")
    if found.error is not None:
        assert 0 <= found.error.offset <= len(text)
        assert all(repair.position.offset <= found.error.offset for repair in found.repairs)


@many
@given(randoms)
def test_law_47_what_is_held_back_is_bounded(random: Random) -> None:
    """The stage never holds back more than it may look ahead, whatever comes."""
    text = long_broken(random)
    for fragments in (list(text), [text]):
        assert reading(fragments, repair="guess").longest_held <= FARTHEST


# ---- 52: values only grow ----------------------------------------------------------------------------


def check_growth(text: str, options: Options) -> None:
    parser = ValueParser(options)
    shown: list[Any] = [NOTHING]
    repairs = [parser.repairs]
    try:
        for character in text:
            parser.feed(character)
            shown.append(NOTHING if parser.value is MISSING else parser.value)
            repairs.append(parser.repairs)
        shown.append(parser.close())
    except JSONSyntaxError:
        pass
    for before, after in pairwise(shown):
        assert is_prefix_value(before, after)
    for earlier, later in pairwise(repairs):
        assert later[: max(len(earlier) - 1, 0)] == earlier[:-1], "only the last repair may still change"


@many
@given(randoms)
def test_law_52_values_only_grow(random: Random) -> None:
    """Each value is a beginning of the next one, as in law 3: nothing that was shown is taken back."""
    truncated: Any = random.choice(["error", "close"])
    check_growth(broken(random), Options(repair="guess", truncated=truncated, duplicate_keys="error"))


@pytest.mark.long
def test_law_52_holds_for_the_cases() -> None:
    """The same for the broken texts that other projects test."""
    for text in cases():
        if len(text) < 2000:
            check_growth(text, Options(repair="guess", truncated="close", duplicate_keys="error"))


# ---- 53 and 54: levels, and the first character that decides ------------------------------------------


CURLY_END = re.compile("[\u201c\u201d]\\s*\n\\s*[]}\uff3d\uff5d]")
"""The one exception: with guesses, a curly quote in this place ends a string; a raw line break may also be its text."""


@many
@given(randoms)
def test_law_53_tolerance_only_adds(random: Random) -> None:
    """What is accepted without guesses is accepted with them, with the same value and the same log."""
    text = broken(random)
    if CURLY_END.search(text) is not None:
        return
    strict, spelling, guess = (reading([text], repair=level) for level in ("none", *LEVELS))
    if strict.error is None:
        assert spelling.events == strict.events
        assert spelling.repairs == ()
    if spelling.error is None:
        assert guess.error is None
        assert guess.events == spelling.events
        assert guess.repairs == spelling.repairs
        assert not any(repair.is_guess for repair in guess.repairs)


DECIDED = [
    ("[1 //", "comment"),
    ("[1 #", "comment"),
    ("[1,]", "trailing_comma"),
    ("{,", "extra_comma"),
    ("['", "single_quotes"),
    ("[\u201c", "odd_quotes"),
    ('["""', "triple_quotes"),
    ("{a:", "unquoted_key"),
    ("[True,", "literal_spelling"),
    ("[+1,", "number_spelling"),
    ('["\n', "control_character"),
    (r'["\d', "invalid_escape"),
    (r'["\u12g', "invalid_escape"),
    ("[\u00a0", "odd_space"),
    ("[1\uff0c", "odd_punctuation"),
    ('{"a" =>', "colon_spelling"),
    ('["a "b', "unescaped_quote"),
    ('{"a": "b, "c":', "missing_quote"),
    ('{"a:"b', "missing_quote"),
    ("[p", "unquoted_string"),
    ('["a" "b', "missing_comma"),
    ('{"a" "b"}', "missing_colon"),
    ('{"a":,', "missing_value"),
    ('{"a":}', "missing_value"),
    ('[{"i":1, {', "missing_close"),
    ('{"a": [{}, "k":', "missing_close"),
    ('{"a": ["x"}, "k":', "wrong_close"),
    ("{}}", "extra_close"),
    ("[1, ...]", "ellipsis"),
    ("[NaN,", "not_a_number"),
    ('["a" + "', "concatenation"),
]


@pytest.mark.parametrize(("text", "code"), DECIDED, ids=[row[0] for row in DECIDED])
def test_law_54_a_repair_is_told_at_the_character_that_decides_it(text: str, code: str) -> None:
    """Each repair is in the log after the character that decides it, and not before."""
    parser = FragmentParser(Options(repair="guess"))
    parser.feed(text[:-1])
    assert code not in [repair.code.value for repair in parser.repairs]
    parser.feed(text[-1])
    assert code in [repair.code.value for repair in parser.repairs]


PLACES = {
    "value": '{"a": ',
    "item": "[",
    "key": "{",
    "colon": '{"a" ',
    "member": '{"a": [] ',
    "after": "[[] ",
    "end": "{} ",
}
TOKENS = ["'", '"', "1", "x", "{", "[", "}", "]", ",", ":", "=", "+", "(", "\\", "\u00a0", "\u2026", "/", "#", ";"]
# One column per token: the code, at once or (with ?) when the text is over; - for JSON, ! for an error, . if it waits.
OUTCOMES = {
    "value": """single_quotes - . unquoted_string - - missing_value missing_value missing_value
                ! ! . ! ! odd_space unquoted_string . ?comment !""",
    "item": """single_quotes - . unquoted_string - - ?wrong_close - missing_value
               ! ! . ! ! odd_space ?ellipsis . comment !""",
    "key": """single_quotes - . . ! ! - ?wrong_close extra_comma
              ! ! ! ! ! odd_space ?ellipsis . comment !""",
    "colon": """?missing_colon ?missing_colon ?missing_colon ?missing_colon missing_colon missing_colon ! ! !
                - ?colon_spelling . . . ?odd_space . . comment .""",
    "member": """?missing_comma ?missing_comma ! ! ! ! - ?wrong_close -
                 ! ! ! ! ! odd_space ?ellipsis . comment !""",
    "after": """missing_comma missing_comma ! ! missing_comma missing_comma ?wrong_close - -
                ! ! ! ! ! odd_space ?ellipsis . comment !""",
    "end": """! ! ! ! ! ! extra_close extra_close extra_comma
              ! ! ! ! ! odd_space ! . comment extra_comma""",
}


@pytest.mark.parametrize("place", PLACES)
def test_law_54_every_token_at_every_place(place: str) -> None:
    """The table of the stage: what each kind of token means where the reader expects something else."""
    outcomes = OUTCOMES[place].split()
    assert len(outcomes) == len(TOKENS)
    for token, expected in zip(TOKENS, outcomes, strict=True):
        parser = FragmentParser(Options(repair="guess"))
        parser.feed(PLACES[place])
        parser.feed(token)
        found = [repair.code.value for repair in parser.repairs]
        if expected in ("-", ".", "!"):
            assert found == [], (place, token)
            assert (parser.error is not None) == (expected == "!"), (place, token)
            continue
        if expected.startswith("?"):
            assert found == [], (place, token)
            parser.close()
            found = [repair.code.value for repair in parser.repairs]
        assert found[:1] == [expected.removeprefix("?")], (place, token)


# ---- 55: persistence, limits, work -------------------------------------------------------------------


@many
@given(randoms)
def test_law_55_states_go_on_after_a_dump_and_forks_never_meet(random: Random) -> None:
    """A loaded state goes on equal; two futures of a state are the same as two texts."""
    text, other = broken(random), broken(random)
    options = Options(**chosen(random))
    at = random.randrange(len(text) + 1)
    state = parse_chunk(create_state(options), text[:at])
    before = state.dump()
    loaded = ParserState.load(json.loads(json.dumps(before)))
    assert loaded.dump() == before
    left = finalize(parse_chunk(state, text[at:]))
    right = finalize(parse_chunk(state, other))
    assert finalize(parse_chunk(loaded, text[at:])).dump() == left.dump()
    assert finalize(parse_chunk(create_state(options), text)).dump() == left.dump()
    assert finalize(parse_chunk(create_state(options), text[:at] + other)).dump() == right.dump()
    assert state.dump() == before
    assert left.repairs == ParserState.load(left.dump()).repairs


@many
@given(randoms)
def test_law_55_limits_are_met_at_one_offset(random: Random) -> None:
    """A limit trips at one offset, with one log, however the text is cut."""
    text = broken(random)
    name = random.choice(["max_repairs", "max_chars", "max_string", "max_key", "max_number", "max_depth"])
    check_cutting(text, random, {"repair": "guess", name: random.randrange(12)})


SHAPES: dict[str, Callable[[int], str]] = {
    "clean": lambda n: "[" + '{"a": "b, c", "d": 1},' * (n // 22) + "0]",
    "single quotes": lambda n: "[" + "{'a': 'it's'}," * (n // 14) + "0]",
    "quotes in a string": lambda n: '{"a": "' + 'x "y" ' * (n // 6) + '", "b": 1}',
    "only quotes": lambda n: '"' * n,
    "quotes in an array": lambda n: '["' + '"' * n,
    "only brackets": lambda n: "[" * (n // 2) + "}" * (n // 2),
    "only backslashes": lambda n: '["' + "\\" * n + "q",
    "commas in a string": lambda n: '{"a": "' + ', "b' * (n // 4),
    "one long word": lambda n: "[" + "x" * n + "]",
    "prose without quotes": lambda n: '{"a": ' + "word, " * (n // 6) + '"b": 1}',
    "one long comment": lambda n: "[1 /* " + "* " * (n // 2) + "*/]",
    "many comments": lambda n: "[1" + " // c\n" * (n // 6) + "]",
    "bare keys": lambda n: "{" + "a: True," * (n // 8) + "}",
    "deep and not closed": lambda n: "[" * n + "1 ",
    "wrong brackets": lambda n: '{"a":[' * (n // 6) + "]}" * 3 + "]" * (n // 6),
}
UNLIMITED: dict[str, Any] = {"max_depth": None, "max_repairs": None, "max_key": None, "max_number": None}


def read_all(fragments: list[str]) -> None:
    parser = ValueParser(Options(repair="guess", truncated="close", **UNLIMITED))
    with suppress(JSONSyntaxError):
        for fragment in fragments:
            parser.feed(fragment)
        parser.close()


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("shape", SHAPES)
def test_law_55_twice_the_text_is_twice_the_work(shape: str) -> None:
    """For clean and for hostile text, twice the text takes at most 2.3 times the work."""

    def count(n: int) -> int:
        text = SHAPES[shape](n)
        fragments = [text[i : i + 4] for i in range(0, len(text), 4)]
        return steps(lambda: read_all(fragments))

    assert count(1200) <= 2.3 * count(600) + 2000


# ---- 56: what is not JSON ----------------------------------------------------------------------------

NOT_JSON = [
    *("", " ", "I am sorry, I cannot do that.", "Sure! Here is the JSON:", "hello", "undefined behaviour", "not found"),
    *("404: Not Found", "<html><body></body></html>", "a, b, c", "- item", "* item", "# Title", "key: value", "(1, 2)"),
    *(
        "```",
        "```json\n[1]\n```",
        "\u2018quoted\u2019",
        "“quoted”",
        "1,234",
        "12 apples",
        "x = 1",
        "True story",
        "{",
        "{}{}",
        "...",
    ),
]


@pytest.mark.parametrize("text", NOT_JSON)
@pytest.mark.parametrize("level", LEVELS)
def test_law_56_what_is_not_json_stays_an_error(text: str, level: Any) -> None:
    """Prose, nothing at all, a refusal of the model: none of them becomes a value."""
    parser = FragmentParser(Options(repair=level))
    parser.feed(text)
    parser.close()
    assert parser.error is not None
    if text in ("", " "):
        assert parser.error.code is Code.INCOMPLETE
