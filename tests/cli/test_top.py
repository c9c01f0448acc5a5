"""`roost top`: one look at the cloud, from its rows and from the server beside it."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from datetime import datetime
from pathlib import Path

import pytest
from aiohttp import web
from click.testing import CliRunner

from roost.app.operator.scrape import Requests, Scrape, ScrapeError, requests_between, scrape
from roost.app.operator.screen import to_screen
from roost.app.operator.top import EngineState, Guests, Jobs, Room, Rows, Seen, Top, Watch
from roost.app.state import open_store
from roost.cli import main
from roost.jobs.listing_queries import BusyAccount
from roost.settings import Settings
from roost.store.health_queries import ServerHealth
from tests.cli.process import Server

_GIB = 1 << 30


def test_one_look_for_scripts(server: Server) -> None:
    compute_id = server.instance()
    state = ["--state", str(server.state)]
    done = CliRunner().invoke(main, ["top", "--once", "--json", *state])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["problems"], found["server"]["url"]) == ([], server.url)
    assert found["server"]["requests"]["failed"] == 0
    assert {"region": "all", "plane": "dns", "engine": "simulated", "up": True} in found["server"][
        "engines"
    ]
    rows = found["rows"]
    running = [each for each in rows["guests"] if each["status"] == "running"]
    assert [(each["region"], each["instances"] >= 1) for each in running] == [("us-lake", True)]
    assert rows["workers"] == 1
    assert rows["database"]["size"] > 0
    assert rows["accounts"][0]["ended"] >= 1, f"what made instance {compute_id}"
    assert set(rows["jobs"]) == {
        *("queued", "oldest_queued", "running", "waiting", "oldest_begun", "failed")
    }


def test_a_terminal_shows_one_screen_after_the_other(server: Server) -> None:
    """Until it is interrupted, cut to the size of the terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 30, 0, 0))
    command = Path(sys.executable).with_name("roost")
    # Who runs tests in the background of a shell has them ignore interrupts.
    words: tuple[str | Path, ...] = ("env", "--default-signal=INT", command, "top")
    words += ("--interval", "0.5", "--state", server.state)
    own = ("COLUMNS", "LINES")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    process = subprocess.Popen(words, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    shown = b""
    while shown.count(b"\x1b[J") < 2:
        shown += os.read(master, 4096)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    os.close(master)
    first, second = shown.split(b"\x1b[J")[:2]
    for screen in (first, second):
        assert screen.startswith(b"\x1b[Hroost top, ")
        lines = screen.removeprefix(b"\x1b[H").replace(b"\x1b[K", b"").splitlines()
        assert len(lines) == 4
        assert max(map(len, lines)) <= 30
    assert b"Traceback" not in shown


async def test_what_is_missing_is_told(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(Settings(state=server.state)) as store:
        alone = await Watch(Settings(state=tmp_path), store).look()
        assert (alone.server, alone.problems) == (None, ["no server of this state runs"])
        assert alone.rows is not None

        async def fail(*args: object) -> None:
            raise ConnectionRefusedError

        monkeypatch.setattr("roost.app.operator.top.count", fail)
        broken = await Watch(Settings(state=server.state), store).look()
        assert broken.server is not None
    assert broken.rows is None
    assert broken.problems == ["the database does not answer: ConnectionRefusedError"]


async def test_a_server_that_says_nothing() -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=403)

    app = web.Application()
    app.router.add_get("/metrics", refuse)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    with pytest.raises(ScrapeError, match="answers 403: see ROOST_MONITORS"):
        await scrape(f"http://0.0.0.0:{port}")
    await runner.cleanup()
    with pytest.raises(ScrapeError, match="does not answer"):
        await scrape(f"http://127.0.0.1:{port}")


def counted(at: float, ok: int, refused: int, failed: int, seconds: float) -> Scrape:
    lines = ["# TYPE roost_http_requests counter"]
    for status, number in ((200, ok), (404, refused), (503, failed)):
        lines.append(f'roost_http_requests_total{{operation="a",status="{status}"}} {number}')
    lines += [
        "# TYPE roost_http_request_seconds histogram",
        f'roost_http_request_seconds_bucket{{operation="a",le="+Inf"}} {ok + refused + failed}',
        f'roost_http_request_seconds_count{{operation="a"}} {ok + refused + failed}',
        f'roost_http_request_seconds_sum{{operation="a"}} {seconds}',
    ]
    return Scrape.of("\n".join(lines) + "\n", at)


def test_requests_in_a_second() -> None:
    before, now = counted(10, 100, 10, 0, 1), counted(12, 120, 14, 1, 1.05)
    assert requests_between(before, now) == Requests(12.5, 2, 0.5, 2)
    assert requests_between(before, counted(12, 100, 10, 0, 1)) == Requests(0, 0, 0, None)
    assert requests_between(before, counted(12, 3, 0, 0, 1)) is None, "it began anew"


def test_a_screen() -> None:
    top = Top(
        datetime(2026, 12, 1, 3),
        ["nothing\x1b[31m much"],
        Rows(
            2,
            [
                Guests("local", "failed", 1),
                Guests("local", "running", 40),
                Guests("us", "running", 2),
            ],
            Jobs(3, 90.0, 2, 1, 7300.0, {"volume_create": 2}),
            [BusyAccount(100007, 3, 40, 2)],
            ServerHealth(50 << 20, 20, 200, 0.25),
        ),
        Seen(
            "http://127.0.0.1:8080",
            Requests(12.5, 2, 0.5, 3.25),
            [EngineState("all", "dns", "powerdns", False), EngineState("us", "dns", "x", True)],
            [Room("local", "memory", 3 * _GIB, 8 * _GIB), Room("local", "/srv", 1, 900 * _GIB)],
        ),
    )
    assert (
        to_screen(top)
        == """\
roost top, 2026-12-01 03:00:00 UTC
problem   nothing\\x1b[31m much
requests  12.5/s at http://127.0.0.1:8080, 2/s refused, 0.5/s failed, 3.25 ms each
engines   1 of 2 can serve; not: all/dns (powerdns)
jobs      3 queued (oldest 1.5 min), 2 running, 1 between attempts (oldest 2.0 h)
failed    in the last hour: volume_create 2
database  50 MiB, 20 of 200 connections, longest transaction 0.2 s; workers: 2

REGION  GUESTS FAILED  GUESTS RUNNING
local   1              40
us      0              2

REGION  ROOM ON  FREE     OF         DISK
local   memory   3.0 GiB  8.0 GiB    -
local   /srv     0.0 GiB  900.0 GiB  nearly full

ACCOUNT ID  UNFINISHED  ENDED  FAILED
100007      3           40     2"""
    )
