"""What the pages about providers show of the real libraries, run as it stands against a server that replays.

The blocks marked ``python3`` are not run with the other examples, since they talk to a provider. Here the library is
told, by its environment, that the provider is a server of our own. Only the placeholder for the tools is filled in.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import BaseModel

from tests.support.replay import Call, Replay, Script, answer
from tests.support.shared import PROJECT
from unspool.llm import MessageStream


class Weather(BaseModel):
    city: str


CALLING = Script((), (Call("call_1", "weather", ('{"ci', 'ty": "Su', 'va"}')),))
PAGES = [
    ("openai-chat", "openai", "OPENAI", "openai-chat", "/v1"),
    ("openai-responses", "openai", "OPENAI", "openai-responses", "/v1"),
    ("anthropic", "anthropic", "ANTHROPIC", "anthropic", ""),
]


@pytest.mark.parametrize(("page", "library", "prefix", "wire", "path"), PAGES, ids=[page for page, *_ in PAGES])
def test_the_page_of_a_provider(
    page: str, library: str, prefix: str, wire: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code on the page makes the request and gets its tool call, typed."""
    pytest.importorskip(library)
    text = (PROJECT / "docs" / "providers" / f"{page}.md").read_text()
    (block, *_) = re.findall(r"^```python3\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"MessageStream": MessageStream, "Weather": Weather}
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")
    monkeypatch.setenv(f"{prefix}_API_KEY", "test")
    with Replay(answer(wire, CALLING.write(wire))) as server:
        monkeypatch.setenv(f"{prefix}_BASE_URL", server.url + path)

        exec(compile(block.replace("[...]", "[]"), page, "exec", dont_inherit=True), names)
    (call,) = names["state"].tool_calls
    assert (call.name, call.value, call.is_complete) == ("weather", Weather(city="Suva"), True)
