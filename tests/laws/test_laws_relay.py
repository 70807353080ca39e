"""The laws of the relay, 22 to 34, numbered as in docs/laws.md."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.redis_server import needs_redis, redis_server
from tests.support.relay_machine import MemoryDriver, RedisDriver, RelayMachine

STEPS = 30


def check_machine(make_driver: Any, steps: int = STEPS, **changes: Any) -> None:
    class Machine(RelayMachine):
        pass

    Machine.make_driver = staticmethod(make_driver)
    run_state_machine_as_test(Machine, settings=settings(stateful_step_count=steps, deadline=None, **changes))


def test_law_22_to_25_and_34_in_memory() -> None:
    """Any history of writers, servers and followers has the outcomes of the model, and every client ends right."""
    check_machine(MemoryDriver)


def test_law_34_engines_agree_on_fakeredis() -> None:
    """The scripts in fakeredis have the same outcomes."""
    fakeredis = pytest.importorskip("fakeredis")

    def make_driver() -> RedisDriver:
        server = fakeredis.FakeServer()  # it belongs to one event loop
        return RedisDriver(lambda **_: fakeredis.FakeAsyncRedis(server=server, protocol=2), 0.01)

    check_machine(make_driver, max_examples=max(settings.default.max_examples // 5, 4))


@needs_redis
def test_law_34_engines_agree_on_redis() -> None:
    """A real server has the same outcomes."""
    with redis_server() as server:
        from redis.asyncio import Redis

        few = max(settings.default.max_examples // 3, 4)
        check_machine(
            lambda: RedisDriver(lambda **options: Redis.from_url(server.url, **options), 0.5), max_examples=few
        )
