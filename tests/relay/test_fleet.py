"""10,000 streams over four worker processes on one Redis, 1,000 followers, a kill every second for a minute."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.redis_server import needs_redis
from tests.support.relay_fleet import run_fleet

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.long
@needs_redis
def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    """Every stream and every follower ends with each number once. UNSPOOL_FLEET makes a smaller run."""
    streams = int(os.environ.get("UNSPOOL_FLEET", "10000"))
    fleet = asyncio.run(run_fleet(tmp_path, streams, streams // 10, 16, 60.0))
    print(f"\n{fleet}")
    assert fleet.right_streams == fleet.streams
    assert fleet.right_followers == fleet.followers
    assert sum(fleet.kills.values()) > 0
