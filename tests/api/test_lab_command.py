"""`roost clock` against a server."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from roost.cli import main
from roost.clock import Clock
from tests.support.lab import Lab, running_lab


async def clock(lab: Lab, *arguments: str, state: Path | None = None) -> Result:
    """`roost clock` in a thread, as the server needs this one."""
    where = ["--url", lab.running.url, "--state", str(state or lab.running.roost.settings.state)]
    return await asyncio.to_thread(CliRunner().invoke, main, ["clock", *arguments, *where])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("15m", 900), ("3h", 10800), ("30d", 2592000), ("1w", 604800)],
)
async def test_advance(tmp_path: Path, database_url: str, text: str, seconds: int) -> None:
    async with running_lab(tmp_path, database_url) as lab:
        result = await clock(lab, "advance", text)
        assert result.exit_code == 0, result.output
        assert lab.running.roost.clock.offset == timedelta(seconds=seconds)
        assert result.output.endswith(f"({timedelta(seconds=seconds)} from real time)\n")


def said(result: Result) -> str:
    """The last line: the server beside it may log something before."""
    return result.output.splitlines()[-1]


async def test_show_and_set(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url) as lab:
        shown = said(await clock(lab, "show"))
        now = datetime.fromisoformat(shown.partition(" ")[0])
        assert abs(now - Clock().now()) < timedelta(seconds=5)
        result = await clock(lab, "set", "2100-01-01T00:00:00")
        assert said(result).startswith("2100-01-01T00:00:00  (")


async def test_plain_messages(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url) as lab:
        result = await clock(lab, "set", "2000-01-01T00:00:00")
        assert result.exit_code == 1
        assert "The clock only moves forwards" in result.output
        result = await clock(lab, "advance", "1y")
        assert result.exit_code == 2
        assert "1y is not a duration such as 90s, 15m, 3h, 30d or 2w" in result.output
        result = await clock(lab, "show", state=tmp_path / "nowhere")
        assert (result.exit_code, "No such file" in result.output) == (1, True)
    result = await clock(lab, "show")
    assert (result.exit_code, "Cannot connect" in result.output) == (1, True)


async def test_a_server_without_a_lab(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url, lab=False) as plain:
        result = await clock(plain, "show")
        assert (result.exit_code, "does it run with --lab?" in result.output) == (1, True)
