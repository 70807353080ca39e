"""The examples about providers, with the real clients: without a key from a recording, and with a key.

With a key, the client asks its provider; its environment says that the provider is a server of our own.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.peers.test_provider_pages import PAGES, served, strings
from tests.support.examples import CLIENTS, EXAMPLES, KEYS, PEERS, SHOWN, run
from tests.support.replay import Script, answer

if TYPE_CHECKING:
    from tests.support.replay import Replay

ABOUT = {
    "providers/openai_chat.py": ("openai-chat", "OPENAI_MODEL"),
    "providers/openai_responses.py": ("openai-responses", "OPENAI_MODEL"),
    "providers/anthropic_messages.py": ("anthropic", "ANTHROPIC_MODEL"),
    "providers/bedrock.py": ("bedrock", "BEDROCK_MODEL"),
    "providers/gemini.py": ("gemini", "GEMINI_MODEL"),
    "providers/gemini_interactions.py": ("gemini-interactions", "GEMINI_MODEL"),
    "providers/cohere_chat.py": ("cohere", "COHERE_MODEL"),
    "providers/ollama_chat.py": ("ollama", "OLLAMA_MODEL"),
}
"""The page of each script, and the variable that names its model."""


def recorded(wire: str) -> list[Any]:
    lines = (EXAMPLES / "recordings" / f"{wire}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def environment_of(page: str, server: Replay) -> dict[str, str]:
    """What the client finds in its environment: the key, and where its provider is."""
    return {name: value.format(server.url) for name, value in PAGES[page].environment.items()}


@pytest.mark.parametrize("script", [script for script, client in CLIENTS.items() if client in PEERS])
def test_without_a_key(script: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The client reads the recording, and the script prints its results and no complaint."""
    pytest.importorskip(CLIENTS[script])
    run(script, monkeypatch)
    printed = capfd.readouterr()
    assert [line for line in SHOWN[script] if line not in printed.out] == []
    assert printed.err == ""


@pytest.mark.parametrize("script", ABOUT)
def test_with_a_key(script: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The client asks its provider for the model of the environment, and no replay server runs."""
    page, model = ABOUT[script]
    if page == "cohere":  # its library reads where to go when it is imported
        for name in [name for name in sys.modules if name.split(".")[0] == "cohere"]:
            monkeypatch.delitem(sys.modules, name)
    wire = PAGES[page].wire
    with served(page, answer(wire, recorded(wire))) as server:
        monkeypatch.syspath_prepend(str(EXAMPLES / "providers"))
        monkeypatch.delitem(sys.modules, "_replay", raising=False)
        import _replay

        monkeypatch.setattr(_replay, "replayed", None)
        run(script, monkeypatch, {**environment_of(page, server), model: "my-model"})
    (request,) = server.requests
    assert "my-model" in server.paths[0] or "my-model" in strings(json.loads(request))
    printed = capfd.readouterr()
    assert [line for line in SHOWN[script] if line not in printed.out] == []
    assert printed.err == ""


def test_llm_stream_with_a_key(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two requests go to the provider, with the tool and the schema; the broken answer is a recording."""
    trip = Script(('{"title": "Fi', 'ji", "days": [{"title": "Su', 'va", "area": "Viti Levu"}], "pack": []}'))
    answers = [recorded("openai-chat"), trip.write("openai-chat")]
    with served("openai-chat", *(answer("openai-chat", chunks) for chunks in answers)) as server:
        run("llm_stream.py", monkeypatch, {**environment_of("openai-chat", server), "OPENAI_MODEL": "my-model"})
    asked = [json.loads(request) for request in server.requests]
    assert [request["model"] for request in asked] == ["my-model", "my-model"]
    assert asked[0]["tools"][0]["function"]["name"] == "forecast"
    assert asked[1]["response_format"]["json_schema"]["name"] == "trip"
    shown = capfd.readouterr().out
    assert "day 1: Day(title='Suva', area='Viti Levu')" in shown
    assert SHOWN["llm_stream.py"][-1] in shown


def test_every_script_about_a_provider_is_here() -> None:
    """A new script needs its page, its client and its key."""
    scripts = {str(path.relative_to(EXAMPLES)) for path in (EXAMPLES / "providers").glob("[!_]*.py")}
    assert scripts == set(ABOUT) == set(CLIENTS) - {"llm_stream.py"}
    for script, (page, model) in ABOUT.items():
        source = (EXAMPLES / script).read_text(encoding="utf-8")
        (key,) = set(PAGES[page].environment) & set(KEYS)
        assert f"With {key} set" in source
        assert f"client asks {model} (default: " in source
