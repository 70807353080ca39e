"""The scripts in examples/: how to run them, what they print, and what they need."""

from __future__ import annotations

import runpy
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES: Final = PROJECT / "examples"
SCRIPTS: Final = sorted(
    str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py") if not path.name.startswith("_")
)

SHOWN: Final[dict[str, list[str]]] = {
    "typed_stream.py": ["complete: 4 days", "stopped after "],
    "llm_stream.py": [
        "the city is known: 'Suva'. The call is still coming.",
        "to be run: [Forecast(city='Suva', days=12), Forecast(city='Levuka', days=3)]",
        "day 4: PartialDay(title='Tea, then waves', area=None)",
        "complete: True",
        "the source of the stream failed: APIConnectionError",
        "known: PartialTrip(title='Five days on São Miguel, without a hurry', days=[",
    ],
    "terminal.py": ["Four slow days between Porto and the Douro (2 travellers)", "15:30  Ribeira on foot  1.5 h"],
    "providers/openai_chat.py": [
        "forecast(Forecast(city='Suva', days=12))  forecast(PartialForecast(city='Lev', days=None))",
        "run call_ferry: Forecast(city='Levuka', days=3), complete",
    ],
    "providers/openai_responses.py": ["PartialPlan(title='A day', stops=None)", "finished: stop, complete: True"],
    "providers/anthropic_messages.py": [
        "the city is known: 'Levuka' (the call is still coming)",
        "run: [Forecast(city='Levuka', days=3)]",
    ],
    "providers/gemini.py": [
        "'The ferry runs only when it is calm.' 'Let me look' []",
        "[PartialForecast(city='Lev', days=None)]",
        "finished: tool_calls",
    ],
    "providers/gemini_interactions.py": [
        "'I ask for the wind.' [PartialForecast(city='Sav', days=None)]",
        "finished: tool_calls (requires_action)",
    ],
    "providers/bedrock.py": ["Plan(title='Two islands', stops=['Taveuni', 'Rabi'])", "calls: (), complete: True"],
    "providers/cohere_chat.py": ["'I look up the weather.' [Forecast(city='Labasa', days=5)]"],
    "providers/ollama_chat.py": ["PartialPlan(title='Rain', stops=None)", "complete: True"],
}
"""What each script prints, among other things."""

CLIENTS: Final = {
    "llm_stream.py": "openai",
    "providers/openai_chat.py": "openai",
    "providers/openai_responses.py": "openai",
    "providers/anthropic_messages.py": "anthropic",
    "providers/bedrock.py": "boto3",
    "providers/gemini.py": "google.genai",
    "providers/gemini_interactions.py": "google.genai",
    "providers/cohere_chat.py": "cohere",
    "providers/ollama_chat.py": "ollama",
}
"""The client that a script uses."""
PEERS: Final = ("google.genai", "cohere", "ollama")
"""The clients that only the tests of peers have."""

KEYS: Final = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID", "CO_API_KEY", "OLLAMA_HOST"),
    "AWS_PROFILE",
)


def run(script: str, monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str] | None = None) -> None:
    """Run a script in this process as Python would, with no key but those of this environment."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")  # the script may set them; the end of the test sets them back
    for name, value in (environment or {}).items():
        monkeypatch.setenv(name, value)
    path = EXAMPLES / script
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(path.parent), *sys.path])
        runpy.run_path(str(path), run_name="__main__")
