"""Ollama chat: structured output inside a Markdown block, with words around it.

With OLLAMA_HOST set, the client asks OLLAMA_MODEL (default: llama3.2) of that server. Without it, the same client reads
``examples/recordings/ollama.jsonl`` from a server on this machine.

Needs ``pip install ollama "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import os
import sys

from _replay import replayed

from unspool import MISSING
from unspool.llm import MessageStream

try:
    from ollama import Client
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install ollama "unspool[cli,pydantic]"')

MODEL = os.environ.get("OLLAMA_MODEL", "llama3.2")
QUESTION = "Plan a rainy day: JSON with a title and a list of stops, in a Markdown block."


class Plan(BaseModel):
    """The answer that the request asks for."""

    title: str
    stops: list[str]


def show(client: Client) -> None:
    """Print the answer whenever it has changed; ``extract=True`` finds it in the text."""
    chunks = client.chat(model=MODEL, messages=[{"role": "user", "content": QUESTION}], stream=True)
    stream = MessageStream(chunks, response_schema=Plan, extract=True)
    shown: object = MISSING
    for state in stream:
        if state.content_value is not shown:
            shown = state.content_value
            print(repr(shown))
    print(f"complete: {stream.state.is_content_complete}, the whole text: {stream.state.content!r}")


def main() -> None:
    """Ask your server if it is named, and the replay server otherwise."""
    if os.environ.get("OLLAMA_HOST"):
        with Client() as client:
            show(client)
    else:
        with replayed("ollama.jsonl") as address, Client(host=address) as client:
            show(client)


if __name__ == "__main__":
    main()
