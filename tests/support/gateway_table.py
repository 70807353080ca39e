"""The tables of docs/gateways.md: what a client of chat completions gets of recorded messages of Anthropic.

`python -m tests.support.gateway_table --write-docs` writes them into the page, between the markers.
tests/peers/test_gateways.py compares the page with what the libraries do, and with the tests of the mistakes.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
from typing import Any, Final

from tests.llm import test_gateway_mistakes
from tests.support.next_request_table import messages
from tests.support.next_requests import Payload
from tests.support.page_tables import GATEWAYS, table_in, write_table
from tests.support.peer_turns import LITELLM, installed
from tests.support.shared import PROJECT
from unspool.llm import encode

TABLE: Final = "gateways"
MISTAKES: Final = "mistakes"
OURS: Final = "unspool"
PEER: Final = "litellm"
CHECKS: Final = ("text", "reasoning", "calls", "no calls of the provider's tools", "finish reason", "tokens")
PATIENCE: Final = 240
REASONS: Final = {
    "end_turn": {"stop"},
    "stop_sequence": {"stop"},
    "tool_use": {"tool_calls"},
    "max_tokens": {"length"},
    "refusal": {"content_filter"},
    "pause_turn": {"length", "content_filter"},
    "compaction": {"length", "content_filter"},
}
"""The finish reasons that tell a client the truth: an answer that is not whole must not have a good end."""


def read_anthropic(chunks: tuple[Payload, ...]) -> Payload:
    """The message that the provider sent, by the words of its own protocol."""
    blocks: dict[int, Payload] = dict(enumerate(chunks[0]["message"]["content"]))
    usage, reason = dict(chunks[0]["message"]["usage"]), chunks[0]["message"].get("stop_reason")
    for chunk in chunks:
        if chunk["type"] == "content_block_start":
            blocks[chunk["index"]] = {**chunk["content_block"], "json": ""}
        elif chunk["type"] == "content_block_delta":
            delta, block = chunk["delta"], blocks[chunk["index"]]
            name = {"text_delta": "text", "thinking_delta": "thinking"}.get(delta["type"])
            if name is not None:
                block[name] += delta[name]
            elif delta["type"] == "input_json_delta":
                block["json"] += delta["partial_json"]
        elif chunk["type"] == "message_delta":
            reason = chunk["delta"].get("stop_reason") or reason
            usage |= {name: count for name, count in chunk.get("usage", {}).items() if count is not None}
    found = list(blocks.values())
    calls = [block for block in found if block["type"] == "tool_use"]
    read = sum(usage.get(name) or 0 for name in INPUT)
    return {
        "text": "".join(block["text"] for block in found if block["type"] == "text"),
        "reasoning": "".join(block["thinking"] for block in found if block["type"] == "thinking"),
        "calls": [(block["id"], block["name"], _arguments(block)) for block in calls],
        "server": {block["id"] for block in found if block["type"] in {"server_tool_use", "mcp_tool_use"}},
        "reason": reason,
        "tokens": (read, usage.get("output_tokens") or 0),
    }


INPUT: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _arguments(block: Payload) -> Any:
    return json.loads(block["json"]) if block.get("json") else block["input"]


def read_chat(chunks: list[Payload]) -> Payload:
    """What a client makes of chunks of chat completions: it adds what comes, calls by their index."""
    found: Payload = {"text": "", "reasoning": "", "reason": None, "tokens": (0, 0)}
    calls: dict[int, list[str]] = {}
    for chunk in chunks:
        usage = chunk.get("usage")
        if usage:
            found["tokens"] = (usage["prompt_tokens"], usage["completion_tokens"])
        for choice in chunk["choices"]:
            delta = choice["delta"]
            found["text"] += delta.get("content") or ""
            found["reasoning"] += delta.get("reasoning_content") or ""
            found["reason"] = choice.get("finish_reason") or found["reason"]
            for piece in delta.get("tool_calls") or ():
                call = calls.setdefault(piece["index"], ["", "", ""])
                call[0] += piece.get("id") or ""
                call[1] += piece["function"].get("name") or ""
                call[2] += piece["function"].get("arguments") or ""
    found["calls"] = list(calls.values())
    return found


def verdicts(sent: Payload, got: Payload) -> dict[str, bool]:
    """Which of the checks a translated message passes."""
    app = [call for call in got["calls"] if call[0] not in sent["server"]]
    try:
        calls = [(called, name, json.loads(text)) for called, name, text in app]
    except ValueError:
        calls = None
    return {
        "text": got["text"] == sent["text"],
        "reasoning": got["reasoning"] == sent["reasoning"],
        "calls": calls == sent["calls"],
        "no calls of the provider's tools": len(app) == len(got["calls"]),
        "finish reason": got["reason"] in REASONS[sent["reason"]],
        "tokens": got["tokens"] == sent["tokens"],
    }


def translated(library: str) -> list[list[Payload] | str]:
    """The chunks that a library makes of each message, or the name of the error that it raises."""
    if library == OURS:
        return [list(encode(chunks, "openai-chat", include_usage=True)) for chunks in messages()]
    paths = [str(LITELLM), str(PROJECT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-W", "ignore", "-m", "tests.support.litellm_gateway"]
    asked = json.dumps([list(chunks) for chunks in messages()])
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr
    found: list[list[Payload] | str] = json.loads(ran.stdout)
    return found


def row(library: str) -> tuple[str, ...]:
    """The row of a library: how many messages pass each check."""
    passed = dict.fromkeys(CHECKS, 0)
    for chunks, got in zip(messages(), translated(library), strict=True):
        if not isinstance(got, str):
            for check, is_right in verdicts(read_anthropic(chunks), read_chat(got)).items():
                passed[check] += is_right
    name = library if library == OURS else f"{library} {installed(library)}"
    return (name, *(f"{passed[check]} of {len(messages())}" for check in CHECKS))


def lines(rows: list[tuple[str, ...]], heading: tuple[str, ...] = ("library", *CHECKS)) -> list[str]:
    """The lines of a table."""
    return [f"| {' | '.join(cells)} |" for cells in (heading, ("---",) * len(heading), *rows)]


def page_rows(table: str = TABLE) -> list[tuple[str, ...]]:
    """The rows that the page has."""
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in table_in(GATEWAYS, table)[2:]]


# ---- the mistakes ------------------------------------------------------------------------------------

REPORT: Final = re.compile(r"([A-Za-z][\w.-]*)?(#\d+)?(,? ([A-Za-z][\w.-]*)?(#\d+)?)*: ")
"""Names of projects and numbers of their reports, and a colon."""


def mistakes() -> list[tuple[str, ...]]:
    """The mistakes with their reports, as the tests tell them: the docstring of each test is "reports: mistake"."""
    found: list[tuple[str, ...]] = []
    for name, test in inspect.getmembers(test_gateway_mistakes, inspect.isfunction):
        if name.startswith("test_"):
            said = " ".join((inspect.getdoc(test) or "").split()).replace("``", "`")
            reports, _, told = said.partition(": ") if REPORT.match(said) else ("", "", said)
            found.append((told[:1].upper() + told[1:], reports, f"`{name}`"))
    return sorted(found, key=lambda cells: inspect.getsourcelines(getattr(test_gateway_mistakes, cells[2][1:-1]))[1])


def write_docs() -> None:
    """Write the tables into the page."""
    write_table(GATEWAYS, TABLE, lines([row(OURS), row(PEER)]))
    write_table(GATEWAYS, MISTAKES, lines(mistakes(), ("mistake", "reports", "test")))


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare what gateways make of streams of Anthropic.")
    parser.add_argument("--write-docs", action="store_true", help="write the tables into docs/gateways.md")
    if parser.parse_args().write_docs:
        write_docs()
    else:
        print("\n".join(lines([row(OURS), row(PEER)])))


if __name__ == "__main__":
    main()
