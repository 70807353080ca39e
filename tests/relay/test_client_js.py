"""The browser client in Node: its own tests, and its `apply` beside the one of `unspool.patch`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.shared import PROJECT
from unspool import PatchError
from unspool.patch import apply

pytestmark = [
    pytest.mark.either,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here"),
]
CLIENT: Final = PROJECT / "src" / "unspool" / "relay" / "static" / "relay.js"
TYPES: Final = CLIENT.with_suffix(".d.ts")
PATIENCE: Final = 120
APPLY: Final = """
import { pathToFileURL } from "node:url";
import { createInterface } from "node:readline";
const { apply, PatchError } = await import(pathToFileURL(process.env.RELAY_CLIENT).href);
for await (const line of createInterface({ input: process.stdin })) {
  const [document, operations] = JSON.parse(line);
  let answer;
  try {
    answer = [JSON.stringify(apply(document, operations)) ?? "null", null];
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    answer = [null, error.index];
  }
  if (JSON.stringify([document, operations]) !== line) throw new Error("the input has changed");
  process.stdout.write(JSON.stringify(answer) + "\\n");
}
"""

keys = st.sampled_from(["a", "b", "__proto__", "", "/", "~", "toString"])
leaves = st.sampled_from([None, True, 0, "", "text", "ä𝄞"])
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
steps = st.sampled_from(["a", "b", "__proto__", "", "~1", "~0", "toString", "0", "1", "-", "01", "~"])
pointers = st.lists(steps, max_size=3).map(lambda tokens: "".join([f"/{token}" for token in tokens]))
operations = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "replace", "remove", "move", "copy", "test", "append", "append", "add", "grow"]),
        "path": pointers,
    },
    optional={"from": pointers, "value": documents},
)


def node(*words: str, input: str = "") -> subprocess.CompletedProcess[str]:
    """Run Node on the client."""
    return subprocess.run(
        ["node", *words],
        input=input,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "RELAY_CLIENT": str(CLIENT)},
    )


def test_the_client_passes_its_own_tests() -> None:
    """`node --test`: documents, events, views, and connections that break in every way."""
    ran = node("--test", "--test-reporter=spec", str(PROJECT / "tests" / "node" / "relay.test.mjs"))
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]


@settings(max_examples=5)
@given(st.lists(st.tuples(documents, st.lists(operations, max_size=4)), min_size=40, max_size=80))
def test_both_apply_functions_agree(cases: list[tuple[Any, list[dict[str, Any]]]]) -> None:
    """A patch makes the same document in a browser as in Python, or fails at the same operation."""
    lines = "".join([json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n" for case in cases])
    ran = node("--input-type=module", "--eval", APPLY, input=lines)
    assert ran.returncode == 0, ran.stderr[-2000:]
    for (document, patch), line in zip(cases, ran.stdout.splitlines(), strict=True):
        made, failed_at = json.loads(line)
        expected, index = None, None
        try:
            expected = apply(document, patch)
        except PatchError as error:
            index = error.index
        assert failed_at == index, (document, patch)
        assert index is not None or json.loads(made) == expected, (document, patch)


def test_the_types_name_what_the_module_exports() -> None:
    """`relay.d.ts` declares each export of `relay.js`, and no other value."""
    exported = r"^export (?:declare )?(?:const|function|class) (\w+)"
    names = [re.findall(exported, path.read_text(encoding="utf-8"), re.MULTILINE) for path in (CLIENT, TYPES)]
    assert sorted(names[0]) == sorted(names[1])
    assert {"apply", "follow", "Stream", "advance"} <= set(names[0])


def test_the_client_imports_nothing() -> None:
    """It is one file without dependencies, so that a page can load it from anywhere."""
    source = CLIENT.read_text(encoding="utf-8")
    assert re.search(r"^\s*(import|export .* from)\b|\bimport\(|\brequire\(", source, re.MULTILINE) is None
