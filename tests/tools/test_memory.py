"""The tools and memory: what they hold is a multiple of the input, although their output may be far larger."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
import typer

from tests.support.inputs import timeline_of
from unspool import Options
from unspool.patch import apply
from unspool.tools.cli.commands.check import check
from unspool.tools.cli.commands.profile import _json_lines as profile_lines
from unspool.tools.cli.commands.steps import events, patch, values
from unspool.tools.cli.lines import EventLines, PatchLines
from unspool.tools.studio.requests import Query, SessionOptions
from unspool.tools.studio.sessions import NoRoomError, Session, Sessions
from unspool.tools.studio.settings import Settings
from unspool.tools.viewer.timeline import FIRST_ROOM, PATCH_ROOM
from unspool.tools.viewer.waterfall import compare, layout

if TYPE_CHECKING:
    from collections.abc import Callable

MULTIPLE = 320
"""Bytes for each byte of input: the promise of docs/cli.md and docs/studio.md."""
CONSTANT = 32 * 1024 * 1024  # buffers, imports, and everything else that does not grow

FIELDS = 8 * 1024 * 1024  # of the waterfall, whose number is limited: each has a path

NASTY = {
    "one long key above many values": '{"' + "k" * 4000 + '":[' + "0," * 8000 + "0]}",
    "long keys in keys": ('{"' + "k" * 40 + '":') * 100 + "[" + "0," * 3000 + "0]" + "}" * 100,
    "eight keys of 60,000 characters": ('{"' + "k" * 60_000 + '":') * 8 + "1" + "}" * 8,
    "a long string": '["' + "x" * 20_000 + '"]',
    "many tiny values": "[" + "0," * 4_000 + "0]",
    "many empty objects": "[" + "{}," * 3_000 + "{}]",
}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *[(events, name) for name in NASTY],
        (values, "long keys in keys"),
        (patch, "one long key above many values"),
        (check, "eight keys of 60,000 characters"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_commands_hold_a_multiple_of_their_input(command: Callable[..., None], name: str, tmp_path: Path) -> None:
    """The output of `events` may be a thousand times as large as the input; it is written line by line."""
    check_command(command, NASTY[name], tmp_path)


def test_a_waterfall_does_not_keep_paths_as_text() -> None:
    """Each field has a path, and here the path is hundreds of times as long as the field."""
    members = ",".join([f'"{number}":{number}' for number in range(2000)])
    timeline = timeline_of(('{"' + "k" * 4000 + '":{' + members + "}}").encode(), cut=1000)
    tracemalloc.start()
    try:
        waterfall = layout(timeline, max_bars=10_000)
        assert sum([line["path"] == f"$.{'k' * 4000}" for line in profile_lines([waterfall])]) == 1
        assert compare(waterfall, waterfall)[-1].path == f'$.{"k" * 4000}["1999"]'
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(waterfall.bars) == 2002
    assert peak < 2 * 1024 * 1024


def check_command(command: Callable[..., None], text: str, folder: Path) -> None:
    file = folder / "input.json"
    file.write_text(text)
    with (
        Path(os.devnull).open("w") as nowhere,
        mock.patch.multiple(sys, stdout=nowhere, stderr=nowhere),
        suppress(typer.Exit),
    ):
        tracemalloc.start()
        try:
            command(file=file)
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert peak < CONSTANT + MULTIPLE * len(text)


def test_lines_of_events_are_made_one_by_one() -> None:
    """However many events a fragment has, one line is held at a time; and the fault is known before the first line."""
    stage = EventLines(Options(), None)
    tracemalloc.start()
    try:
        count = size = 0
        for line in stage.feed('{"' + "k" * 4000 + '":[' + "0," * 5000 + "x"):
            assert stage.fault is not None
            count += 1
            size += len(json.dumps(line))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (count, size > 20_000_000) == (5003, True)
    assert peak < 4_000_000


def loaded(text: str, cut: int | None = None) -> Session:
    session = Session("id", "title", SessionOptions(cut=cut), is_live=False)
    session.load(text.encode())
    return session


@pytest.mark.parametrize(
    ("name", "cut"),
    [("long keys in keys", None), ("one long key above many values", 5000), ("many empty objects", 50)],
)
def test_a_session_takes_a_multiple_of_its_text(name: str, cut: int | None) -> None:
    """Patches included; and the estimate that the budget counts with is near to what is taken."""
    text = NASTY[name]
    loaded("[1]")  # what is imported late
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        session = loaded(text, cut)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < CONSTANT + MULTIPLE * len(text)
    assert kept - before < 2 * session.kept + FIELDS
    assert session.timeline._patch_size <= FIRST_ROOM + PATCH_ROOM * len(text)


def test_patches_beyond_the_budget_are_counted_and_not_kept() -> None:
    """The view has the number and the size of all operations; it shows those that are kept."""
    session = loaded(NASTY["one long key above many values"], 40)
    last = session.timeline.last
    panels = [session.view(Query(step=step))["patches"] for step in (1, last // 2, last - 1)]
    assert all(panel["count"] for panel in panels[1:])
    assert panels[1]["bytes"] > 4000 * panels[1]["count"]
    assert not panels[2]["rows"]
    assert sum(change.patch.size for step in range(last) for change in session.timeline.changes(step)) > 30_000_000


def test_the_eight_keys_end_at_the_limit() -> None:
    """Half a megabyte of keys is refused at its first 4,096 characters; only the text is kept of the rest."""
    text = NASTY["eight keys of 60,000 characters"]
    session = loaded(text)
    assert "max_path" in session.timeline.problems()[0]
    assert session.timeline._patch_size < 1000


def test_the_budget_counts_what_sessions_keep() -> None:
    """Sessions that keep much are dropped before those that are many; one that cannot fit beside others is refused."""
    text = b"[" + b"0," * 500 + b"0]"

    async def crowd(is_followed: bool) -> tuple[int, bool]:
        sessions = Sessions(replace(Settings(), kept=5 * loaded(text.decode()).kept // 2))
        followers: list[object] = []
        for _ in range(3):
            entry = await sessions.load("one of many", text, SessionOptions())
            followers += [sessions.relay.follow(entry.session.id)] if is_followed else []
        return len(sessions), sessions.kept <= sessions._settings.kept

    assert asyncio.run(crowd(False)) == (2, True)
    with pytest.raises(NoRoomError):
        asyncio.run(crowd(True))


def test_long_patches_take_several_lines() -> None:
    """A fragment with thousands of operations is written in lines of a thousand; together they make the document."""
    stage = PatchLines(Options(), None)
    document: Any = None
    lengths = []
    for fragment in ('{"' + "k" * 4000 + '":[', "0," * 2500 + '"text', '", 1', "]}"):
        for line in stage.feed(fragment):
            lengths.append(len(line["patch"]))
            document = apply(document, line["patch"])
    assert lengths == [1, 1000, 1000, 501, 1]
    assert document == {"k" * 4000: [0] * 2500 + ["text", 1]}
