"""Bedrock ConverseStream: structured output by a tool named output.

With AWS_ACCESS_KEY_ID set, the client asks BEDROCK_MODEL (default: amazon.nova-lite-v1:0) in your region. Without it,
the same client reads ``examples/recordings/bedrock-converse.jsonl`` from a server on this machine.

Needs ``pip install boto3 "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import Any

from _replay import replayed

from unspool import MISSING
from unspool.llm import MessageStream

try:
    import boto3
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install boto3 "unspool[cli,pydantic]"')

MODEL = os.environ.get("BEDROCK_MODEL", "amazon.nova-lite-v1:0")
QUESTION = "Plan a trip to two islands of Fiji: a title, and the islands as stops."


class Plan(BaseModel):
    """The answer that the request asks for."""

    title: str
    stops: list[str]


def show(client: Any) -> None:
    """Print the answer whenever it has changed. The tool itself is never shown as a call."""
    output = {"name": "output", "inputSchema": {"json": Plan.model_json_schema()}}
    response = client.converse_stream(
        modelId=MODEL,
        messages=[{"role": "user", "content": [{"text": QUESTION}]}],
        toolConfig={"tools": [{"toolSpec": output}], "toolChoice": {"tool": {"name": "output"}}},
    )
    stream = MessageStream(response["stream"], response_schema=Plan, emulate_structured_output=True)
    shown: object = MISSING
    for state in stream:
        if state.content_value is not shown:
            shown = state.content_value
            print(repr(shown))
    print(f"calls: {stream.state.tool_calls}, complete: {stream.state.is_content_complete}")


def main() -> None:
    """Ask the provider if there is a key, and the replay server otherwise."""
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        with closing(boto3.client("bedrock-runtime")) as client:
            show(client)
    else:
        with replayed("bedrock-converse.jsonl") as address:
            nobody = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
            with closing(boto3.client("bedrock-runtime", endpoint_url=address, **nobody)) as client:
                show(client)


if __name__ == "__main__":
    main()
