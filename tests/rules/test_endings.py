"""Whatever runs a program says how it ended: by which signal or exit status, and its last words."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from roost.core.engine import EngineError
from roost.endings import NOTHING_SAID, Ending, last_words
from roost.engines.databases import programs as mariadb
from roost.engines.messages.command import CommandSender
from roost.engines.qemu.host import parcels
from roost.engines.qemu.host import programs as qemu
from roost.engines.qemu.images import commands as images
from roost.errors import ShownError

DOING = "The network could not be examined"
DIES, FAILS, SAYS = "kill -SEGV $$", "exit 3", "echo syntax error >&2; exit 3"

Run = Callable[[str], Awaitable[object]]


def of_qemu(script: str) -> Awaitable[object]:
    return qemu.run(DOING, "sh", "-c", script)


def of_mariadb(script: str) -> Awaitable[object]:
    return mariadb.run(DOING, ("sh", "-c", script))


RUNS = pytest.mark.parametrize("run", [of_qemu, of_mariadb])


@RUNS
@pytest.mark.parametrize(
    ("script", "told", "logged"),
    [
        (DIES, "a program of the host was killed by SIGSEGV", f"killed by SIGSEGV: {NOTHING_SAID}"),
        (FAILS, "a program of the host ended with 3", f"sh ended with 3: {NOTHING_SAID}"),
        (SAYS, "see the log of the host", "sh ended with 3: syntax error"),
        (f"echo Check failed >&2; {DIES}", "was killed by SIGSEGV", "SIGSEGV: Check failed"),
    ],
)
async def test_faults_of_programs(run: Run, script: str, told: str, logged: str) -> None:
    with capture_logs() as logs, pytest.raises(EngineError) as raised:
        await run(script)
    assert str(raised.value).startswith(f"{DOING}: ")
    assert str(raised.value).endswith(told)
    assert logged in logs[-1]["detail"]


@RUNS
async def test_last_words_are_bounded(run: Run) -> None:
    with capture_logs() as logs, pytest.raises(EngineError):
        await run("yes | head -c 100000 >&2; echo the end >&2; exit 1")
    assert len(logs[-1]["detail"]) <= 4000
    assert logs[-1]["detail"].endswith("the end")


async def test_faults_of_images_programs() -> None:
    for script, words in (
        (DIES, "sh was killed by SIGSEGV: it said nothing"),
        (FAILS, "sh ended with 3: it said nothing"),
        (SAYS, "sh failed: syntax error"),
    ):
        with pytest.raises(images.ImageError, match=f"^{words}$"):
            await images.run("sh", "-c", script)


async def test_faults_of_what_carries_messages(tmp_path: Path) -> None:
    program = tmp_path / "send"
    program.write_text(f"#!/bin/sh\n{DIES}\n")
    program.chmod(0o700)
    with pytest.raises(ShownError, match="send was killed by SIGSEGV"):
        await CommandSender(program).send("+15555550142", "text")


async def test_faults_of_parcels(tmp_path: Path) -> None:
    with capture_logs() as logs, pytest.raises(EngineError):
        async for _ in parcels.pack(DOING, tmp_path, ["nothing"]):
            pass
    assert re.match("tar ended with 2: .*nothing: Cannot stat", logs[-1]["detail"])


@pytest.mark.parametrize(
    ("code", "how"),
    [(1, "ended with 1"), (-9, "was killed by SIGKILL"), (-40, "was killed by signal 40")],
)
def test_how_it_ended(code: int, how: str) -> None:
    assert Ending.of(("/usr/sbin/nft", "-f"), code, b"\xff").how == how


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_log_that_has_nothing_is_not_named(text: str) -> None:
    for failure in (qemu.failure, mariadb.failure):
        with capture_logs() as logs:
            assert str(failure(DOING, text)) == f"{DOING}: {NOTHING_SAID}"
        assert logs[-1]["detail"] == NOTHING_SAID
    assert last_words(text) == ""
