"""studio/views.py: every panel is a function of the timeline and the step, and agrees with the parser itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unspool import MISSING, FragmentParser, OptionsError, Path, SnapshotChunker, create_state, parse_chunk
from unspool.patch import apply
from unspool.select import compile as pattern
from unspool.tools.studio.requests import Query, SessionOptions, query_of
from unspool.tools.studio.sessions import Session
from unspool.tools.viewer.inputs import Guess, InputKind
from unspool.tools.viewer.recordings import read_sample
from unspool.tools.viewer.timeline import Timeline
from unspool.tools.viewer.tracks import Item, TrackPiece
from unspool.typed import partial

TRIP = '{"title": "Trip to Fuji", "days": [{"subtitle": "Day 1", "n": 1}, {"subtitle": "Day 2", "n": 2}], "ok": true}'
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)


def loaded(data: bytes | str, **options: Any) -> Session:
    session = Session("id", "title", SessionOptions(**options), is_live=False)
    session.load(data.encode() if isinstance(data, str) else data)
    return session


def seen(session: Session, step: int | None = None, **query: Any) -> Any:
    """A view, as it goes over the wire."""
    return json.loads(json.dumps(session.view(Query(step=step, **query))))


@given(VALUES, st.integers(1, 9), st.booleans())
@example({"\x85": "\u2028\x1c"}, 1, False)
def test_every_step_agrees_with_the_parser(value: Any, cut: int, is_broken: bool) -> None:
    """Text, tree, events, patches and state, at each step: what the parser says of the text up to there."""
    data = (json.dumps(value, ensure_ascii=False) + ("}" if is_broken else "")).encode()
    session = loaded(data, kind=InputKind.JSON, cut=cut)
    parser, state, document, text = FragmentParser(), create_state(), None, ""
    last = -(-len(data) // cut)
    for step in range(1, last + 1):
        fragment = data[(step - 1) * cut : step * cut]
        state, events = parse_chunk(state, fragment), parser.feed(fragment)
        view = seen(session, step)
        assert text == view["text"]["chars"][: view["text"]["new_from"]]
        text = view["text"]["chars"]
        assert data[: step * cut].decode(errors="ignore").startswith(text)
        assert [(row["kind"], row["path"]) for row in view["events"]["rows"]] == [
            (event.kind.value, str(event.path)) for event in events
        ]
        document = apply(document, [json.loads(row) for row in view["patches"]["rows"]])
        if state.value is not MISSING:
            assert document == state.value
        assert view["tree"]["total"] == len(list(state.walk()))
        assert view["open_path"] == str(state.open_path)
        assert view["expecting"] == state.expecting
        assert (view["error"] is None) is (state.error is None)
        if state.error is not None:
            assert view["text"]["error_at"] == view["error"]["offset"] == state.error.offset
        assert view["state"]["offset"] == state.index
        assert view["characters"] == len(text)
    assert seen(session, 10**9)["step"] == seen(session)["step"] == last + 1


@given(st.integers(0, 120), st.integers(0, 60), st.integers(0, 60))
def test_windows_are_parts_of_the_whole(step: int, start: int, count: int) -> None:
    """The same rows and the same characters, whatever is asked for; also where the window lies beyond the end."""
    session = loaded(json.dumps([json.loads(TRIP)] * 4, indent=2))
    whole = seen(session, step, count=500)
    part = seen(session, step, start=start, count=count, text_start=start, text_count=count)
    tree = part["tree"]
    assert tree["rows"] == whole["tree"]["rows"][tree["start"] : tree["start"] + count]
    text = part["text"]
    assert text["chars"] == whole["text"]["chars"][text["start"] : text["start"] + count]
    assert text["length"] == len(whole["text"]["chars"])
    follow = seen(session, step, count=count, follow=True)["tree"]
    assert follow["rows"] == whole["tree"]["rows"][max(tree["total"] - count, 0) :][:count]


def test_rows_tell_what_is_new_and_what_is_open() -> None:
    """As the tree of the step before and this one have it; what is folded hides what is inside it."""
    session = loaded(TRIP, cut=10)
    assert seen(session, 5)["text"]["chars"].endswith('"subtitle": "D')
    rows = {row["path"]: row for row in seen(session, 5)["tree"]["rows"]}
    assert rows["$"] | {"mark": "grown", "is_open": True, "key": None, "depth": 0} == rows["$"]
    assert rows["$.title"] | {"mark": "", "is_open": False, "text": '"Trip to Fuji"', "size": 12} == rows["$.title"]
    assert rows["$.days[0].subtitle"]["mark"] == "new"
    assert rows["$.days[0]"]["key"] == 0
    folded = seen(session, None, folded=(rows["$.days"]["id"],))["tree"]
    assert [row["path"] for row in folded["rows"]] == ["$", "$.title", "$.days", "$.ok"]
    assert [row["is_folded"] for row in folded["rows"]] == [False, False, True, False]


def test_a_filter_shows_what_matches() -> None:
    """In document order, whatever the window is, and only what is there at the step."""
    session = loaded(TRIP, cut=12)
    subtitles = seen(session, None, filter=pattern("$.days[*].subtitle"), start=1, count=0)["tree"]
    assert [(row["path"], row["text"]) for row in subtitles["rows"]] == [
        ("$.days[0].subtitle", '"Day 1"'),
        ("$.days[1].subtitle", '"Day 2"'),
    ]
    assert [row["key"] for row in seen(session, 5, filter=pattern("$..subtitle"))["tree"]["rows"]] == ["subtitle"]
    assert len(seen(session, None, filter=pattern("$..*"))["tree"]["rows"]) == 9
    assert seen(session, 0, filter=pattern("$"))["tree"]["rows"] == []
    half = json.loads(json.dumps(session.view(query_of({"filter": "$.days["}))))
    assert half["filter_problem"].startswith("expected")
    assert half["tree"] == seen(session)["tree"]  # half of a pattern filters nothing
    assert seen(session)["filter_problem"] is None
    many = loaded(json.dumps(list(range(3000))), cut=4000)
    assert len(seen(many, None, filter=pattern("$[*]"))["tree"]["rows"]) == 2000


def test_completions_lead_from_one_field_to_the_next() -> None:
    """Back and forth between the steps at which something became complete."""
    session = loaded(TRIP, cut=12)
    steps = session.timeline.completions()
    there = [0]
    while (after := seen(session, there[-1])["next_completion"]) is not None:
        there.append(after)
    assert there[1:] == steps
    back = [session.timeline.last + 1]
    while (before := seen(session, back[-1])["previous_completion"]) is not None:
        back.append(before)
    assert back[1:] == steps[::-1]


def test_a_time_is_the_last_step_before_it() -> None:
    """From the first to the last."""
    lines = [{"unspool_recording": 1}, *[{"t": time, "text": "1,"} for time in (0.5, 0.75, 0.75, 2)]]
    session = loaded("".join([json.dumps(line) + "\n" for line in lines]))
    assert session.timeline.times == [0.0, 0.5, 0.75, 0.75, 2.0, 2.0]
    steps = [seen(session, time=time)["step"] for time in (0.0, 0.4, 0.5, 0.6, 0.75, 1.9, 2.0, 1e9)]
    assert steps == [0, 0, 1, 1, 3, 3, 5, 5]


def test_a_message_has_its_facts_and_its_tracks() -> None:
    """Who speaks, why it ended, what it calls; each track by its name, and JSON first unless one is asked for."""
    session = loaded(read_sample("weather-tools"))
    view = seen(session)
    assert view["track"] == "call 0"
    assert (
        view["state"] | {"role": "assistant", "finish_reason": "tool_calls", "call 0": "forecast: complete"}
        == view["state"]
    )
    prose = seen(session, track="content")
    assert prose["text"]["chars"] == session.timeline.tracks["content"].text()
    assert (prose["tree"]["rows"], prose["events"]["total"], prose["error"]) == ([], 0, None)
    assert seen(session, 4)["track"] == "reasoning"


def test_what_stands_around_the_json_is_told() -> None:
    """With extraction: how much was skipped, where, and why."""
    session = loaded("Here it is:\n```json\n[1]\n```\n", extract=True, kind=InputKind.JSON)
    view = seen(session)
    assert view["state"]["is_complete"]
    assert any("prose" in one["text"] for one in view["diagnostics"])


def test_repairs_are_shown_in_text_and_tree() -> None:
    """Each repair has its place in the text, its row in the tree, and a remark; in older steps only what was known."""
    session = loaded('{a: "the "best" day", "b": [1, 2,', cut=4, repair="guess")
    view = seen(session)
    repairs = view["text"]["repairs"]
    assert [(one["at"], one["length"], one["is_guess"]) for one in repairs[:3]] == [
        (1, 1, False),
        (9, 1, True),
        (14, 1, True),
    ]
    assert repairs[1]["text"] == "a quote inside a string was kept as text"
    levels = {row["path"]: row["repair"] for row in view["tree"]["rows"]}
    assert (levels["$"], levels["$.a"], levels["$.b[0]"]) == ("spelling", "guess", "")
    told = [one["text"] for one in view["diagnostics"]]
    assert any(text.startswith("guess: a quote inside a string was kept as text: line 1, column 10") for text in told)
    assert len(seen(session, 1)["text"]["repairs"]) == 1
    assert seen(loaded('{"a": 1}', cut=4, repair="guess"))["text"]["repairs"] == []


def test_broken_json_is_shown_where_it_breaks() -> None:
    """The character, the path, and what was expected there; before that step nothing is wrong."""
    session = loaded('{"a": [1, 2, }', cut=4)
    assert seen(session, 3)["error"] is None
    error = seen(session, 4)["error"]
    assert (error["offset"], error["line"], error["column"], error["path"]) == (13, 1, 14, "$.a[2]")
    assert error["expected"]
    assert seen(session, 4)["events"]["rows"][-1]["kind"] == "error"
    cut_off = loaded('{"a": [1, 2')
    assert "ended too early" in seen(cut_off)["error"]["text"]
    assert seen(cut_off)["diagnostics"][-1]["step"] == cut_off.timeline.last


def test_the_end_of_the_text_may_tell_something() -> None:
    """A number at the root ends with the text, and not before."""
    session = loaded("12", kind=InputKind.JSON)
    assert [seen(session, step)["events"]["total"] for step in (0, 1, 2)] == [0, 0, 1]
    assert seen(session)["events"]["rows"] == [{"kind": "complete_number", "path": "$", "value": "12"}]


def test_a_text_that_begins_anew_is_shown_without_what_was_taken_back() -> None:
    """Everything in it is new, and offsets count from where it begins."""
    timeline = Timeline(Guess(InputKind.CHUNKS), patches=True)
    timeline.add(0.0, Item((TrackPiece("call 0", '{"a": 1, '),)))
    timeline.add(0.1, Item((TrackPiece("call 0", '{"b": [', restarts=True),)))
    timeline.add(0.2, Item((TrackPiece("call 0", "}"),)))
    session = Session("id", "title", SessionOptions(), is_live=False)
    session.timeline = timeline
    view = seen(session, 2)
    text = {"start": 0, "length": 7, "new_from": 0, "chars": '{"b": [', "error_at": None}
    assert view["text"] == {**text, "repairs": [], "flaws": [], "found": []}
    assert [(row["path"], row["mark"]) for row in view["tree"]["rows"]] == [("$", "new"), ("$.b", "new")]
    assert [row["kind"] for row in view["events"]["rows"]] == ["start_object", "start_array"]
    assert seen(session, 1)["text"]["chars"] == '{"a": 1, '
    assert (seen(session, 3)["text"]["error_at"], seen(session, 3)["text"]["new_from"]) == (7, 7)


SNAPSHOTS: list[tuple[object, dict[str, Any]]] = [
    ({"days": [{"subtitle": "Day"}]}, {"open": "$.days[0].subtitle", "open_rule": 2, "waiting": [], "rule": None}),
    (
        {"days": [{"subtitle": "Day 1", "activities": []}]},
        {"open": "$.days[0].activities", "open_rule": 2, "added": ["$.days[0].subtitle", "$.days[0].activities"]},
    ),
    (
        {"days": [{"subtitle": "Day 1", "activities": [{"title": "", "type": "Walk"}]}]},
        {
            "open": "$.days[0].activities[0]",
            "open_rule": 5,
            "rule": 3,
            "waiting": ["$.days[0].activities[0].title", "$.days[0].activities[0].type"],
            "added": ["$.days[0].activities[0]"],
        },
    ),
    (
        {"days": [{"activities": [{"type": "Walk", "title": ""}], "subtitle": "Day 1"}]},
        {"rule": 3, "added": []},
    ),
    (
        {"days": [{"activities": [{"text": "We", "type": "Walk", "title": "Morning"}], "subtitle": "Day 1"}]},
        {"open": "$.days[0].activities[0].text", "open_rule": 2, "rule": None, "waiting": []},
    ),
    (
        {"days": [{"activities": [{"text": "We", "type": "Walk", "title": "Morning"}], "subtitle": "Day 1"}]},
        {"open_rule": 2, "rule": 6, "added": []},
    ),
]


def test_snapshots_are_shown_with_what_is_open_what_waits_and_why() -> None:
    """The rules have the numbers of the documentation; what is written is what the chunker writes."""
    session = loaded("".join([json.dumps(snapshot) + "\n" for snapshot, _ in SNAPSHOTS]), kind=InputKind.SNAPSHOTS)
    assert seen(session, 0)["snapshot"] is None
    chunker, written = SnapshotChunker(), ""
    for step, (snapshot, expected) in enumerate(SNAPSHOTS, 1):
        written += chunker.process(snapshot)
        panel = seen(session, step)["snapshot"]
        assert panel | expected == panel
        assert json.loads(panel["text"]) == snapshot
        assert panel["written"] == written
        for rule in (panel["rule"], panel["open_rule"]):
            assert rule is None or f"Rule {rule}: " in panel["why"]
    last = seen(session)["snapshot"]
    assert last["written"] == written + chunker.flush()
    assert last["why"].startswith("Rule 7: ")
    assert (last["open"], last["waiting"]) == (None, [])


def test_a_snapshot_that_contradicts_says_so() -> None:
    """And so does invalid JSON."""
    session = loaded('{"a": "Trip"}\n{"a": "Jour"}\n{"a": \n', kind=InputKind.SNAPSHOTS)
    assert "differs from the written text" in seen(session, 2)["snapshot"]["why"]
    assert "not a JSON value" in seen(session, 3)["snapshot"]["why"]
    assert seen(session, 3)["snapshot"]["text"] == '{"a": '


def test_long_things_are_clipped() -> None:
    """Views stay small for all inputs."""
    wide = json.dumps({"key": "x" * 100_000, "items": [[number] for number in range(2000)]})
    view = seen(loaded(wide, cut=10**6), 1)
    assert len(json.dumps(view)) < 120_000
    assert len(view["text"]["chars"]) == 20_000
    assert view["text"]["start"] == view["text"]["length"] - 20_000
    assert (len(view["events"]["rows"]), view["events"]["total"] > 200) == (200, True)
    assert len(view["patches"]["rows"][0]) <= 2_001
    assert view["patches"]["bytes"] > 100_000
    assert max(len(row["text"]) for row in view["tree"]["rows"]) < 500


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, Query()),
        ({"step": "7", "track": "call 0"}, Query(step=7, track="call 0")),
        ({"time": "1.5", "follow": "1"}, Query(time=1.5, follow=True)),
        ({"folded": "3,1,", "count": "9999", "start": "5"}, Query(folded=(3, 1), count=500, start=5)),
        ({"text_start": "10", "text_count": "99999999"}, Query(text_start=10, text_count=20_000)),
        ({"filter": " $.a "}, Query(filter=pattern("$.a"))),
    ],
    ids=str,
)
def test_a_query_is_read(query: dict[str, str], expected: Query) -> None:
    """Missing parameters have the defaults of the page; large ones are capped."""
    assert query_of(query) == expected


# What is wrong, where, and since when.


def test_flaws_have_the_step_that_shows_them() -> None:
    """An error of the text, a cut-off answer: the first step that knows of it; and the views from there on tell."""
    session = loaded(read_sample("broken"))
    (flaw,) = session.renew({}, with_waterfall=True).document["flaws"]
    assert (flaw["kind"], flaw["path"], flaw["at"]) == ("syntax", "$.lines[2]", 252)
    assert seen(session, flaw["step"] - 1)["error"] is None
    assert [one["is_flaw"] for one in seen(session, flaw["step"])["diagnostics"]] == [True]
    assert seen(session, flaw["step"] - 1)["flaws"] == []
    cut = loaded(read_sample("cut-off")).renew({}, with_waterfall=True).document["flaws"]
    assert [flaw["kind"] for flaw in cut] == ["message", "syntax"]
    assert "limit of tokens" in cut[1]["text"]


@given(st.lists(st.sampled_from([1, "x", None]), min_size=1, max_size=12), st.integers(1, 7))
def test_violations_are_known_at_the_first_step_that_can_know(values: list[Any], cut: int) -> None:
    """As a parser with the same type says, fragment by fragment."""
    pytest.importorskip("jsonschema_rs")
    schema = {"type": "array", "items": {"type": "integer"}}
    data = json.dumps(values).encode()
    session = loaded(data, cut=cut, schema=schema, kind=InputKind.JSON)
    told = {flaw["path"]: flaw["step"] for flaw in session.renew({}, with_waterfall=True).document["flaws"]}
    resolver, state, known = partial(schema), create_state(), dict[str, int]()
    for step in range(1, -(-len(data) // cut) + 1):
        state = parse_chunk(state, data[(step - 1) * cut : step * cut])
        for problem in resolver.resolve(state)[0].problems:
            known.setdefault(str(problem.path), step)
    assert told == known


def test_long_streams_are_judged_in_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two judged steps, a search finds the first step that knows of a problem."""
    pytest.importorskip("jsonschema_rs")
    data = json.dumps([1, 2, "x", 3, None, 4] * 10).encode()
    schema = {"type": "array", "items": {"type": "integer"}}

    def flaws() -> list[tuple[str, int]]:
        document = loaded(data, cut=1, schema=schema, kind=InputKind.JSON).renew({}, with_waterfall=True).document
        return [(flaw["path"], flaw["step"]) for flaw in document["flaws"]]

    whole = flaws()
    assert len(whole) == 20
    monkeypatch.setattr("unspool.tools.studio.judging.MAX_JUDGED", 7)
    assert sorted(flaws()) == sorted(whole)


@given(VALUES, st.integers(1, 9))
def test_a_chosen_value_has_its_characters(value: Any, cut: int) -> None:
    """The characters of each value in the text are those of the value itself."""
    text = json.dumps({"root": value}, ensure_ascii=False)
    session = loaded(text, kind=InputKind.JSON, cut=cut)
    for row in seen(session, None, count=100)["tree"]["rows"]:
        chosen = seen(session, None, chosen=Path.parse(row["path"]))["chosen"]
        assert json.loads(text[chosen["at"] : chosen["stop"]]) == json.loads(
            chosen["text"] if row["kind"] != "string" else json.dumps(chosen["text"])
        )
        assert chosen["complete_step"] >= chosen["first_step"]
        assert session.value(Query(chosen=Path.parse(row["path"]))) == chosen["text"]


def test_words_are_found_in_keys_values_and_text() -> None:
    """Whatever their case; places count characters, and a path pattern is no word."""
    session = loaded('{"Lake": "the LAKE\U0001f5fb", "b": ["a lake", 1]}', kind=InputKind.JSON)
    view = json.loads(json.dumps(session.view(query_of({"filter": "lake"}))))
    assert [row["path"] for row in view["tree"]["rows"]] == ["$.Lake", "$.b[0]"]
    assert view["text"]["found"] == [2, 14, 31]
    waterfall = session.waterfall(query_of({"filter": "lake"}))
    assert [bar["path"] for bar in waterfall["bars"]] == ["$.Lake", "$.b[0]"]
    assert seen(session, None, filter=pattern("$.b"))["text"]["found"] == []


def test_unfolded_arrays_show_their_items() -> None:
    """Up to the number that the page asks for; other arrays stay folded."""
    session = loaded(json.dumps({"a": list(range(50)), "b": list(range(50))}), kind=InputKind.JSON)
    bars = session.waterfall(query_of({}))["bars"]
    (folded, _) = [bar for bar in bars if bar["folded"]]
    asked = json.dumps([[folded["track"], folded["id"], 30]])
    bars = session.waterfall(query_of({"unfolded": asked}))["bars"]
    assert [bar["label"] for bar in bars if bar["folded"]] == ["20 more", "42 more"]
    with pytest.raises(OptionsError, match="unfolded"):
        query_of({"unfolded": '[["a"]]'})


def test_documents_of_json_lines_are_numbered() -> None:
    session = loaded('{"a": 1}\n{"b": 2}\n{"c": 3}\n', kind=InputKind.NDJSON, cut=3)
    assert seen(session)["document"] == {"number": 3, "total": 3}
    for number, key in enumerate("abc", 1):
        view = seen(session, None, document=number)
        assert view["document"]["number"] == number
        assert [row["path"] for row in view["tree"]["rows"]] == ["$", f"$.{key}"]


def test_messages_are_told_in_parts() -> None:
    view = seen(loaded(read_sample("weather-tools")))["message"]
    assert [part["type"] for part in view["parts"]] == ["reasoning", "text", "tool_call", "tool_call"]
    assert [part["track"] for part in view["parts"]] == ["reasoning", "content", "call 0", "call 1"]
    assert {part["status"] for part in view["parts"]} == {"complete"}
    assert seen(loaded("{}"))["message"] is None


def test_prose_around_json_is_offered_for_extraction() -> None:
    for text, offer in (('Look: {"a": 1}', "extract"), ("Just words", None), ('{"a": 1', None), ("[1] is prose", None)):
        assert loaded(text).renew({}, with_waterfall=True).document["offer"] == offer, text
