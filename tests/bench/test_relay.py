"""bench/relay: each part runs and says what holds, on small streams and without npm."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.relay import __main__ as command
from bench.relay.costs import Costs, costs
from bench.relay.faults import Fate, Stage, Trials
from bench.relay.joins import Page, join
from bench.relay.loads import QUICK, Contender, live
from bench.relay.parts import BRIDGE, OPENAI, UNSPOOL, Side, why_not
from bench.relay.redis import Redis
from bench.relay.tables import fate_cells
from tests.support.redis_server import needs_redis, redis_server

if TYPE_CHECKING:
    from bench.relay.joins import Joined

ROOT = Path(__file__).parent.parent.parent
SIZES = QUICK._replace(followers=(2,), crowd=2, pieces=10, rate=200, strained=60, patience=10.0, lease=0.9)
FILE_PEER = Side("file peer", str(ROOT / "tests" / "bench" / "file_peer.mjs"), has_server=True)
needs_node = pytest.mark.skipif(shutil.which("npm") is None, reason="Node is not installed")


def rows(part: str, *sides: Side) -> list[list[str]]:
    """Run a part, and return the rows of its tables, without their heads."""
    with redis_server() as server:
        text = asyncio.run(command.everything(server.url, [part], sides, SIZES, 1))
    found = []
    for table in text.split("\n\n"):
        if table.startswith("|"):
            _, _, *body = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
            found += body
    return found


def figure(cell: str) -> float:
    return float(cell.replace(",", ""))


@needs_redis
def test_live() -> None:
    """Each contender has its latencies, and its cost."""
    table = rows("live", UNSPOOL, BRIDGE)
    titles = ["unspool, in memory", "unspool, Redis, `linger=0`", "unspool, Redis, default `linger` (20 ms)"]
    titles.append("plain bridge, Redis")
    assert [title for title, _ in table] == 2 * titles
    for _, ages in table[:4]:
        p50, p99 = map(figure, ages.split(" / "))
        assert 0 < p50 <= p99
    assert all(figure(part) > 0 for _, costs in table[4:] for part in costs.split(" + "))


@needs_redis
def test_writer() -> None:
    table = rows("writer", BRIDGE)
    assert [title for title, *_ in table] == ["plain bridge, Redis"]
    assert all(figure(cell) > 0 for cell in table[0][1:])


@needs_redis
def test_redis() -> None:
    """A further follower of the bridge has its own commands and its own connection."""
    table = {what: cells for _, what, *cells in rows("redis", BRIDGE)}
    assert list(table) == ["the stream", "its first follower", "each further one"]
    commands, to_redis, from_redis, keys, _, connections, names = table["the stream"]
    assert figure(commands) > SIZES.pieces
    assert figure(to_redis) > figure(from_redis) > 0
    assert figure(keys) > 0
    assert figure(connections) == 1
    assert f"xadd {SIZES.pieces}" in names
    commands, *_, connections, names = table["each further one"]
    assert figure(commands) > 0
    assert figure(connections) == 1
    assert names.startswith("xread")


@needs_redis
def test_redis_unspool() -> None:
    """A further follower in the same process costs Redis nothing."""

    async def run(url: str) -> list[Costs]:
        redis = Redis(url)
        sizes = SIZES._replace(lease=60.0)  # no renewals, which a longer run has more of
        found = [await costs(Contender("unspool", UNSPOOL), redis, followers, sizes) for followers in (1, 11)]
        await redis.aclose()
        return found

    with redis_server() as server:
        one, many = asyncio.run(run(server.url))
    assert one.commands["evalsha"] > 0
    assert one.connections >= 2
    further = many.over(one, 10)
    assert abs(further.connections) < 1
    assert (
        sum(further.commands.values()) < SIZES.pieces / 2
    )  # entries may come one by one, and together in the other run


@needs_redis
def test_join() -> None:
    """A cursor saves what the page has; the helper of openai-python reads all of it again."""
    table = rows("join", UNSPOOL, BRIDGE, OPENAI)
    late = {title: figure(size) for title, size, *_ in table[:3]}
    back = {title: (figure(size), figure(before)) for title, size, before, *_ in table[3:]}
    assert back["unspool, wire `patch`, by cursor"][0] < late["unspool, wire `patch`"] < late["plain bridge"]
    assert back["plain bridge, by cursor"][0] < late["plain bridge"]
    helper = back["openai-python, `responses.stream(starting_after=n)`"]
    plain = back["openai-python, `responses.retrieve(starting_after=n)`"]
    assert helper[0] - helper[1] == pytest.approx(plain[0] - plain[1], rel=0.01)
    assert helper[1] > 10 * plain[1]
    assert all(figure(milliseconds) > 0 for *_, milliseconds in table)


@needs_redis
def test_faults() -> None:
    """Nothing is lost, doubled or stuck with us."""
    table = {fault: cells for fault, _, *cells in rows("faults", UNSPOOL)}
    assert len(table) == 7
    assert {tuple(cells[:3]) for cells in table.values()} == {("0", "0", "no")}
    *_, noticed, remark = table["the producer is killed, a follower is attached"]
    assert noticed.endswith(" s")
    assert remark == "a successor goes on"


@needs_redis
def test_faults_are_seen() -> None:
    """Where something is lost, doubled or stuck, the figures say it."""

    async def run(url: str) -> tuple[Fate, Fate, Fate]:
        killed = await Trials(BRIDGE, url, SIZES._replace(patience=1.5)).killed_producer()
        return *killed, await Trials(BRIDGE, url, SIZES).two_producers()

    with redis_server() as server:
        *killed, two = asyncio.run(run(server.url))
    for fate in killed:
        assert fate.lost > 0
        assert fate_cells(fate)[1:] == ["0", "yes", "never", ""]
    assert two.doubled > 0
    assert fate_cells(two)[2:4] == ["no", "never"]


# ---- the processes of Node -------------------------------------------------------------------------------------


@needs_node
def test_file_peer_live() -> None:
    """The roles of Node, played by a peer that needs no packages."""
    assert not why_not(FILE_PEER)
    one = asyncio.run(live(Contender("file peer", FILE_PEER, has_redis=False), None, 2, SIZES))
    assert 0 < one.p50 <= one.p99
    assert one.writer is not None
    assert one.writer > 0


@needs_node
@needs_redis
def test_file_peer_join() -> None:
    """A page that comes back reads only what it has not."""
    assert not why_not(FILE_PEER)

    async def both(url: str) -> list[Joined]:
        redis = Redis(url)
        page = Page("file peer", FILE_PEER)
        found = [await join(page, redis, SIZES, is_resume=is_resume) for is_resume in (False, True)]
        await redis.aclose()
        return found

    with redis_server() as server:
        late, back = asyncio.run(both(server.url))
    assert late.redis_bytes is back.redis_bytes is None
    assert late.client_bytes - late.before_news == back.client_bytes - back.before_news
    assert late.before_news > back.before_news


@needs_node
def test_file_peer_fault(tmp_path: Path) -> None:
    """A second writer is refused, and a follower of a missing stream reports its error."""
    assert not why_not(FILE_PEER)

    async def run() -> dict[str, Any]:
        async with Stage(FILE_PEER, str(tmp_path), SIZES) as stage:
            one, two = await stage.start("write"), await stage.start("write")
            assert (one.is_refused, two.is_refused) == (False, True)
            one.go_on()
            assert not await stage.finish(one)
            lost = await stage.start("follow", name="missing")
            return await lost.said("p50")

    seen = asyncio.run(run())
    assert "ENOENT" in seen["error"]
    assert not seen["ended"]
    assert seen["noticed_at"] > seen["asked_at"]


@needs_node
@pytest.mark.parametrize("file", sorted((ROOT / "bench" / "relay").glob("*.mjs")), ids=lambda file: file.name)
def test_syntax(file: Path) -> None:
    subprocess.run(["node", "--check", file], check=True)


# ---- the command -----------------------------------------------------------------------------------------------


def test_missing_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be had is named, and its rows are left out."""
    monkeypatch.setenv("PATH", "")
    absent = Side("absent", "absent.mjs", npm=("absent@1.0.0",))
    text = asyncio.run(command.everything(None, ["live", "faults"], [UNSPOOL, absent], SIZES, 1))
    assert "absent was not measured: there is no Node here.\n\n" in text
    assert "Redis was not measured: there is no redis-server here.\n\n" in text
    assert "| unspool, in memory |" in text
    assert "unspool, Redis" not in text
    assert "### Faults" not in text


@pytest.mark.parametrize(
    "arguments", [["cost"], ["--only", "nobody"], ["live", "--write-docs"], ["--quick", "--write-docs"]]
)
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert "error: " in capsys.readouterr().err


def test_write_docs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tables go between the marks of the page, and the words around them stay."""
    page = tmp_path / "page.md"
    text = command.PAGE.read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")

    async def measured(*_: object) -> str:
        return "the tables\n"

    monkeypatch.setattr(command, "PAGE", page)
    monkeypatch.setattr(command, "everything", measured)
    assert command.main(["--write-docs"]) == 0
    before, _, rest = text.partition("<!-- bench:start -->")
    after = rest.partition("<!-- bench:end -->")[2]
    assert page.read_text(encoding="utf-8") == (
        f"{before}<!-- bench:start -->\n\nthe tables\n\n<!-- bench:end -->{after}"
    )
    assert capsys.readouterr().out == "the tables\n\n"
