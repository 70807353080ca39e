"""The view of one step: every panel of the page is a function of the timeline, the step, and the visible window."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ... import Event, Kind, OptionsError, Path, create_state, finalize, parse_chunk
from ..._repairs import REPAIR_SENTENCES
from ...tree import StringNode
from ..viewer.inputs import InputKind
from ..viewer.rows import label_of, leaf_text, matching, searched, window
from ..viewer.timeline import MAX_OPERATIONS
from ..viewer.tracks import DOCUMENT, in_words
from .document import clipped, shown_path, spelled_out
from .parts import call_status, message_view

if TYPE_CHECKING:
    import re

    from ... import JSONSyntaxError, ParserState, Repair
    from ...llm import MessageState
    from ...tree import Node
    from ..viewer.rows import TreeRow
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import FieldTiming, Item, Track, TrackPiece
    from .flaws import Flaw
    from .judging import Judge
    from .requests import Query

__all__ = ["matching_ids", "step_of", "value_text", "view"]

MAX_MATCHES: Final = 2_000
MAX_EVENTS: Final = 200
MAX_NOTES: Final = 200
MAX_SKIPPED: Final = 100
MAX_REPAIRS: Final = 500  # in one window of the text
MAX_CALLS: Final = 100
MAX_PATHS: Final = 500
MAX_FOUND: Final = 1_000  # places of searched words in the text
MAX_VALUE: Final = 400  # characters, here and below
MAX_FACT: Final = 1_000
MAX_ERROR: Final = 2_000
MAX_DOCUMENT: Final = 20_000
PORTION: Final = 4_096  # characters or bytes that are parsed at once
SKIPPED: Final = {"bom": "a byte order mark", "prose": "prose", "fence": "a Markdown fence"}
NOTHING: Final = object()
ROOT: Final = Path.of()


def view(timeline: Timeline, query: Query, completions: list[int], judge: Judge, flaws: list[Flaw]) -> dict[str, Any]:
    """Return all panels. `completions` are the steps that completed a value."""
    step = step_of(timeline, query)
    track = _track(timeline, query, step)
    flaws = flaws[: bisect_right(flaws, step, key=lambda flaw: flaw.step)]
    here = [] if track is None else [flaw for flaw in flaws if flaw.track == track.name]
    # The older state first: the newer one is computed from it and shares its values.
    root_before = None if track is None or not step else _root_before(track, step)
    state = None if track is None or not track.is_json else track.state_at(step)
    before = bisect_left(completions, step) - 1
    after = bisect_right(completions, step)
    return {
        "step": step,
        "time": round(timeline.times[step], 6),
        "characters": timeline.sizes[step],
        "last": timeline.last,
        "duration": round(timeline.duration, 6),
        "track": None if track is None else track.name,
        "previous_completion": completions[before] if before >= 0 else None,
        "next_completion": completions[after] if after < len(completions) else None,
        "text": _text(track, state, step, query, here),
        "tree": _tree(timeline, track, state, root_before, query),
        "chosen": _chosen(timeline, track, state, query),
        "document": _document(timeline, step),
        "filter_problem": query.filter_problem,
        "open_path": "" if state is None else shown_path(state.open_path),
        "expecting": "" if state is None else state.expecting,
        "error": None if state is None or state.error is None else _error(state.error),
        "events": _events(timeline, track, step),
        "patches": _patches(timeline, track, step),
        "typed": None if state is None or track is None else judge.seen(track.name, step, state),
        "flaws": [flaw._asdict() for flaw in flaws[-MAX_NOTES:]],
        "diagnostics": _diagnostics(timeline, step, state, flaws),
        "state": _facts(timeline, step, state),
        "message": message_view(timeline.message(step)),
        "snapshot": _snapshot(timeline, step, query) if timeline.found.kind is InputKind.SNAPSHOTS else None,
    }


def step_of(timeline: Timeline, query: Query) -> int:
    """Return the step that the query asks for."""
    if query.step is not None:
        return min(query.step, timeline.last)
    if query.characters is not None:
        return max(bisect_right(timeline.sizes, query.characters) - 1, 0)
    roots = _documents(timeline)
    if query.document is not None and roots:
        complete = roots[max(min(query.document, len(roots)), 1) - 1].complete
        return timeline.last if complete is None else complete
    return timeline.last if query.time is None else max(timeline.step_at(query.time), 0)


def _track(timeline: Timeline, query: Query, step: int) -> Track | None:
    """Return the track in the query; by default the first JSON track that has begun, or the first track."""
    if query.track:
        track = timeline.tracks.get(query.track)
        if track is None and timeline.tracks:
            raise OptionsError("there is no such track")
        return track
    tracks = list(timeline.tracks.values())
    begun = [track for track in tracks if track.first_step <= step]
    shown = [track for track in begun if track.is_json] or begun or tracks
    return shown[0] if shown else None


def _text(track: Track | None, state: ParserState | None, step: int, query: Query, flaws: list[Flaw]) -> dict[str, Any]:
    """Return the text panel. Offsets count from the start of the current text, without replaced text."""
    begin = 0 if track is None else track.start_at(step)
    length = 0 if track is None else track.length_at(step) - begin
    old = track.length_at(step - 1) - begin if track is not None and step else 0
    count = query.text_count
    start = max(length - count, 0) if query.text_start is None else min(query.text_start, length)
    stop = min(start + count, length)
    error = None if state is None else state.error
    return {
        "start": start,
        "length": length,
        "new_from": min(max(old, 0), length),
        "chars": "" if track is None else track.text(begin + start, begin + stop),
        "error_at": None if error is None else error.offset,
        "repairs": [] if state is None else _repairs_in(state.repairs, start, stop),
        "flaws": [
            {"at": flaw.at, "length": min(flaw.length, length - flaw.at), "text": flaw.text}
            for flaw in flaws
            if flaw.kind == "type" and flaw.at is not None and flaw.at < stop and flaw.at + flaw.length > start
        ],
        "found": [] if track is None or query.words is None else _found(query.words, track.text(begin, begin + length)),
    }


def _found(words: re.Pattern[str], text: str) -> list[int]:
    """Return the first places of the words in the text."""
    return [match.start() for match in islice(words.finditer(text), MAX_FOUND)]


def _repairs_in(repairs: tuple[Repair, ...], start: int, stop: int) -> list[dict[str, Any]]:
    """Return the repairs in a window of the text, in the order of the text."""
    seen = [one for one in repairs if one.position.offset <= stop and one.position.offset + one.length >= start]
    return [
        {"at": one.position.offset, "length": one.length, "is_guess": one.is_guess, "text": REPAIR_SENTENCES[one.code]}
        for one in sorted(seen[:MAX_REPAIRS], key=lambda one: one.position.offset)
    ]


def _levels(state: ParserState | None) -> dict[tuple[str | int, ...], str]:
    """Return the paths at which something was repaired, each with "guess" or "spelling"."""
    levels: dict[tuple[str | int, ...], str] = {}
    for one in () if state is None else state.repairs:
        steps = one.path.steps
        if one.is_guess or steps not in levels:
            levels[steps] = "guess" if one.is_guess else "spelling"
    return levels


def _tree(
    timeline: Timeline, track: Track | None, state: ParserState | None, before: Node | None, query: Query
) -> dict[str, Any]:
    root = None if state is None else state.root
    levels = _levels(state)
    fields = None if track is None else timeline.fields[track.name]
    scale: list[float] | list[int] = timeline.times if timeline.is_timed else timeline.sizes

    def complete(row: TreeRow) -> float | None:
        """Return when the value was complete, in the unit of the waterfall."""
        timing = None if row.is_open or fields is None else fields.find(row.id)
        return None if timing is None or timing.complete is None else round(scale[timing.complete], 6)

    if query.filter is not None or query.words is not None:
        if query.filter is not None:
            rows = matching(root, before, query.filter, MAX_MATCHES)
        else:
            assert query.words is not None
            rows = searched(root, before, query.words, MAX_MATCHES)
        return {"start": 0, "total": len(rows), "rows": [_row(row, levels, complete(row)) for row in rows]}
    seen = window(root, before, query.start, query.count, query.folded)
    if query.follow:
        seen = window(root, before, max(seen.total - query.count, 0), query.count, query.folded)
    return {
        "start": seen.start,
        "total": seen.total,
        "rows": [_row(row, levels, complete(row)) for row in seen.rows],
    }


def matching_ids(timeline: Timeline, query: Query) -> dict[str, set[int]]:
    """Return the ids of the values in the whole stream that contain the words of the query, by track."""
    assert query.words is not None
    return {
        name: {row.id for row in searched(track.state.root, None, query.words, MAX_MATCHES)}
        for name, track in timeline.tracks.items()
        if track.is_json
    }


# The value that the user has selected, and the document around it.


def _chosen(timeline: Timeline, track: Track | None, state: ParserState | None, query: Query) -> dict[str, Any] | None:
    """Return the selected value: whole where it is short, with its characters and its times."""
    node = None if state is None or state.root is None or query.chosen is None else state.root.at(query.chosen)
    if node is None or track is None or query.chosen is None:
        return None
    text = _value_text(node, MAX_DOCUMENT)
    field = timeline.fields[track.name].find(node.id)
    scale: list[float] | list[int] = timeline.times if timeline.is_timed else timeline.sizes
    complete = None if field is None or field.complete is None or not node.closed else field.complete
    length = track.length_at(step_of(timeline, query)) - track.start_at(step_of(timeline, query))
    stop = length if field is None or complete is None else field.stop
    return {
        "path": shown_path(query.chosen),
        "pointer": clipped(query.chosen.pointer, MAX_FACT),
        "kind": node.kind,
        "is_open": not node.closed,
        "text": text,
        "at": None if field is None else field.at,
        "stop": None if field is None else stop,
        "first_step": None if field is None else field.first,
        "first": None if field is None else round(scale[field.first], 6),
        "complete_step": complete,
        "complete": None if complete is None else round(scale[complete], 6),
    }


def _value_text(node: Node, most: int | None) -> str:
    """Return a string as it is, and any other value as indented JSON."""
    if isinstance(node, StringNode):
        return node.text if most is None else clipped(node.text, most)
    value = node.value
    return json.dumps(value, indent=2, ensure_ascii=False) if most is None else spelled_out(value, most)


def value_text(timeline: Timeline, query: Query) -> str:
    """Return the selected value as a whole, to be copied. Raises `OptionsError` if there is none."""
    step = step_of(timeline, query)
    track = _track(timeline, query, step)
    root = None if track is None or not track.is_json else track.state_at(step).root
    node = None if root is None else root.at(query.chosen or ROOT)
    if node is None:
        raise OptionsError("there is no such value at this step")
    return _value_text(node, None)


def _documents(timeline: Timeline) -> list[FieldTiming]:
    fields = timeline.fields.get(DOCUMENT)
    return [] if fields is None else fields.roots


def _document(timeline: Timeline, step: int) -> dict[str, Any]:
    """Return the number of the document at this step, counted from 1, and the number of all documents."""
    roots = _documents(timeline)
    return {"number": bisect_right(roots, step, key=lambda root: root.first), "total": len(roots)}


def _root_before(track: Track, step: int) -> Node | None:
    """Return the tree before this step; None if the step replaced the text."""
    return track.state_at(step - 1).root if track.start_at(step) == track.start_at(step - 1) else None


def _row(row: TreeRow, levels: dict[tuple[str | int, ...], str], complete: float | None) -> dict[str, Any]:
    key = row.path.step
    key = clipped(key, MAX_VALUE) if isinstance(key, str) else key
    label = clipped(label_of(row.path), MAX_VALUE)
    repair = levels.get(row.path.steps, "")
    shown = {"key": key, "label": label, "path": shown_path(row.path), "repair": repair, "complete": complete}
    return {**row._asdict(), **shown}


def _error(error: JSONSyntaxError) -> dict[str, Any]:
    return {
        "text": clipped(in_words(error), MAX_ERROR),
        "offset": error.offset,
        "line": error.line,
        "column": error.column,
        "path": shown_path(error.path),
        "expected": error.expected,
    }


def _patches(timeline: Timeline, track: Track | None, step: int) -> dict[str, Any]:
    changes = [] if track is None else [one for one in timeline.changes(step) if one.track == track.name]
    # `str.splitlines` would also cut at U+0085 and U+2028, which JSON strings may hold as they are.
    rows = [row for one in changes if one.patch.rows for row in one.patch.rows.split("\n")]
    return {
        "count": sum([one.patch.operations for one in changes]),
        "bytes": sum([one.patch.size for one in changes]),
        "text_bytes": sum([_size(one.text) for one in changes]),
        "rows": rows[:MAX_OPERATIONS],
    }


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


# Events.


def _events(timeline: Timeline, track: Track | None, step: int) -> dict[str, Any]:
    """Return the first events of a step, and their number.

    Events are not stored: this parses the step again from the state before it. A step may be as long as a document, so
    parsing stops after the events that are shown.
    """
    events: list[Event] = []
    total = 0
    if track is not None and track.is_json and step:
        counts = [change.events for change in timeline.changes(step) if change.track == track.name]
        most = None if None in counts else MAX_EVENTS
        events = _first_events(timeline, track, step, most)
        total = len(events) if most is None or track.ended_at == step else sum([count or 0 for count in counts])
    rows = [
        {"kind": str(event.kind), "path": shown_path(event.path), "value": _event_value(event)}
        for event in events[:MAX_EVENTS]
    ]
    return {"total": total, "rows": rows}


def _first_events(timeline: Timeline, track: Track, step: int, most: int | None) -> list[Event]:
    """Return about `most` events of a step, or all of them."""
    state = track.state_at(step - 1)
    events: list[Event] = []
    for piece in timeline.item(step).pieces:
        if piece.track == track.name and (most is None or len(events) <= most):
            if piece.restarts:
                state = create_state(state.options, extract=track.extract)
            state = _read_piece(state, piece, most, events)
    if track.ended_at == step:
        _add_events(state, finalize(state), events)
    return events


def _read_piece(state: ParserState, piece: TrackPiece, most: int | None, events: list[Event]) -> ParserState:
    """Parse a piece in portions until there are more than `most` events; the last event may still grow."""
    fragment = piece.fragment
    begin = len(events)
    for start in range(0, len(fragment), PORTION):
        if most is not None and len(events) > most:
            break
        before, state = state, parse_chunk(state, fragment[start : start + PORTION])
        _add_events(before, state, events, can_go_on=len(events) > begin)
    return state


def _add_events(before: ParserState, after: ParserState, events: list[Event], *, can_go_on: bool = False) -> None:
    """Add the events between two states. Join the text of a string that is cut between two portions into one event."""
    new = () if after is before else after.events
    if can_go_on and new and new[0].kind is events[-1].kind is Kind.PARTIAL_STRING:
        last = events.pop()
        joined = Event(last.kind, last.path, f"{last.value}{new[0].value}", last.node_id, last.offset)
        new = (joined, *new[1:])
    events += new


def _event_value(event: Event) -> str:
    if event.kind is Kind.ERROR:
        return clipped(str(event.value), MAX_ERROR)
    if event.value is None and event.kind is not Kind.COMPLETE_NULL:
        return ""
    value = event.value[: MAX_VALUE + 1] if isinstance(event.value, str) else event.value
    return clipped(leaf_text(value, event.raw), MAX_VALUE)


# Diagnostics and state.


def _diagnostics(timeline: Timeline, step: int, state: ParserState | None, flaws: list[Flaw]) -> list[dict[str, Any]]:
    """Return the flaws and remarks up to this step: about the input, the message, and the text around the JSON."""
    found: list[dict[str, Any]] = [
        {
            "step": flaw.step,
            "path": flaw.path,
            "track": flaw.track,
            "text": clipped(flaw.text, MAX_ERROR),
            "is_flaw": True,
        }
        for flaw in flaws[-MAX_NOTES:]
    ]
    message = timeline.message(step)
    if message is not None:
        found += [{"text": clipped(str(one), MAX_FACT)} for one in message.diagnostics[:MAX_NOTES]]
    if state is not None:
        found += [
            {"text": f"skipped at offset {one.offset}: {SKIPPED.get(one.why, one.why)}, {one.length:,} characters"}
            for one in state.skipped[:MAX_SKIPPED]
        ]
        found += [
            {"text": clipped(f"{'guess' if one.is_guess else 'spelling'}: {one}", MAX_FACT)}
            for one in state.repairs[:MAX_NOTES]
        ]
    return found


def _facts(timeline: Timeline, step: int, state: ParserState | None) -> dict[str, Any]:
    """Return flat facts about the visible text and the message around it."""
    known: dict[str, Any] = {}
    if state is not None:
        known |= {
            "offset": state.index,
            "line": state.line,
            "column": state.column,
            "expecting": state.expecting,
            "is_complete": state.is_complete,
        }
    message = timeline.message(step)
    return known if message is None else known | _message(message)


def _message(message: MessageState) -> dict[str, Any]:
    usage = message.usage
    known: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "model": message.model,
        "finish_reason": message.finish_reason,
        "raw_finish_reason": message.raw_finish_reason,
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
        "message_is_complete": message.is_complete,
    }
    for call in message.tool_calls[:MAX_CALLS]:
        known[f"call {call.index}"] = f"{call.name or '(no name yet)'}: {call_status(call)}"
    return {
        name: clipped(value, MAX_FACT) if isinstance(value, str) else value
        for name, value in known.items()
        if value is not None
    }


# Snapshots.


def _snapshot(timeline: Timeline, step: int, query: Query) -> dict[str, Any] | None:
    """Return the snapshot panel; None before the first snapshot. docs/snapshots.md has the numbers of the rules."""
    now = _last_before(timeline, step)
    if now is None:
        return None
    item = timeline.item(now)
    before = _last_before(timeline, now - 1)
    new, old = _snapshot_value(item), NOTHING if before is None else _snapshot_value(timeline.item(before))
    is_flush = now != step
    added = [] if is_flush or new is NOTHING else _added(old, new)
    inmost = None if is_flush or item.open is None else Path.of(*item.open)
    waiting = [] if inmost is None else [shown_path(inmost / key) for key in item.waiting[:MAX_PATHS]]
    rule = 3 if waiting else 6 if not is_flush and new is not NOTHING and not added else None
    open_rule = None if inmost is None or inmost.step is None else 5 if isinstance(inmost.step, int) else 2
    return {
        "text": _pretty(new, item.raw),
        "added": added[:MAX_PATHS],
        "written": _written(timeline, step, query),
        "open": None if inmost is None else shown_path(inmost),
        "open_rule": open_rule,
        "waiting": waiting,
        "rule": rule,
        "why": _why(item, is_flush, rule, open_rule, inmost),
    }


def _last_before(timeline: Timeline, step: int) -> int | None:
    """Return the last step with a snapshot; the step that ends the stream has none."""
    while step > 0 and not timeline.item(step).raw:
        step -= 1
    return step if step > 0 else None


def _snapshot_value(item: Item) -> Any:
    try:
        return json.loads(item.raw)
    except (ValueError, RecursionError):
        return NOTHING


def _pretty(value: Any, raw: str) -> str:
    return clipped(raw, MAX_DOCUMENT) if value is NOTHING else spelled_out(value, MAX_DOCUMENT)


def _written(timeline: Timeline, step: int, query: Query) -> str:
    track = timeline.tracks.get(DOCUMENT)
    if track is None:
        return ""
    length = track.length_at(step)
    start = max(length - query.text_count, 0) if query.text_start is None else min(query.text_start, length)
    return track.text(start, min(start + query.text_count, length))


def _added(old: Any, new: Any) -> list[str]:
    """Return the paths of values that are new, grew or changed; children of a new value are not listed."""
    found: list[str] = []
    pairs: list[tuple[Any, Any, Path]] = [(old, new, ROOT)]
    while pairs and len(found) < MAX_PATHS:
        before, now, path = pairs.pop()
        if type(before) is not type(now) or not isinstance(now, (dict, list)):
            if type(before) is not type(now) or before != now:
                found.append(shown_path(path))
        else:
            known, inside = _steps(before), _steps(now)
            pairs += [
                (known.get(step, NOTHING), value, path / step)
                for step, value in reversed(inside.items())
                if not _is_same_leaf(known.get(step, NOTHING), value)  # as nearly all leaves of a large snapshot
            ]
    return found


def _is_same_leaf(before: Any, now: Any) -> bool:
    return type(before) is type(now) and not isinstance(now, (dict, list)) and before == now


def _steps(container: Any) -> dict[str | int, Any]:
    return dict(container.items() if isinstance(container, dict) else enumerate(container))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def _why(item: Item, is_flush: bool, rule: int | None, open_rule: int | None, inmost: Path | None) -> str:
    if is_flush:
        return "Rule 7: the stream has ended, so what was open or waiting is complete."
    if item.problem and inmost is None:
        return clipped(item.problem, MAX_DOCUMENT)
    words: list[str] = []
    if rule == 6:
        words.append("Rule 6: the snapshot is equal to the one before, and a pause is not an end: nothing is written.")
    if rule == 3:
        words.append(
            f"Rule 3: {len(item.waiting)} values may be the one that is being written, so none of them is written yet."
        )
    if inmost is not None and open_rule is not None:
        place = shown_path(inmost)
        words.append(
            f"Rule 2: only {place} may still be growing, so it stays open."
            if open_rule == 2
            else f"Rule 5: {place} is the last item of its array, so it stays open; the items before it are whole."
        )
    if item.problem:
        words.append(item.problem)
    return clipped(" ".join(words), MAX_DOCUMENT)
