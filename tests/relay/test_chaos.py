"""Law 27 on real processes: `make test-chaos` kills them at random, and every follower ends exactly right."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.support.redis_server import needs_redis
from tests.support.relay_chaos import Chaos

if TYPE_CHECKING:
    from pathlib import Path

RUNS = [(mode, seed) for seed in range(6) for mode in ("always", "torn", "proxy", "evicted")]


@pytest.mark.long
@needs_redis
@pytest.mark.parametrize(("mode", "seed"), RUNS)
def test_law_27_chaos(mode: str, seed: int, tmp_path: Path) -> None:
    """No acknowledged entry is lost with `always` and `proxy`; the server forgets its end with `torn`."""
    chaos = Chaos(mode, seed, tmp_path)
    outcome = asyncio.run(chaos.run(9.0))
    print(f"\n{mode} {seed}: {outcome}")
    assert len(outcome.verdicts) == chaos.followers, [file.read_text()[-2000:] for file in tmp_path.glob("*.err")]
    assert all(verdict["right"] for verdict in outcome.verdicts), outcome.verdicts
    assert outcome.acknowledged > 0
    assert outcome.lost == 0
