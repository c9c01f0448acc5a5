"""The transcript of docs/cli.md is what its commands say."""

import asyncio
import os
import re
import shlex
import sys
from pathlib import Path

from tests.api.conftest import Account
from tests.support.client import Client
from tests.support.server import RunningRoost

DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"
TRANSCRIPT = "".join(re.findall(r"```console\n(.*?)```", DOCUMENT.read_text(), re.DOTALL))
URL = "http://127.0.0.1:8080"
SECONDS = 200


async def test_the_transcript(
    tmp_path: Path, running: RunningRoost, client: Client, account: Account
) -> None:
    (tmp_path / "password").write_text("correct-Horse7battery\n")
    said = await typed(TRANSCRIPT, tmp_path, running, client, account)
    assert plain(said) == plain(TRANSCRIPT)


async def typed(
    transcript: str, folder: Path, running: RunningRoost, client: Client, account: Account
) -> str:
    """The transcript of its commands in a folder with the token of an account."""
    assert client.token is not None
    (folder / "admin.token").write_text(client.token)
    own = {k: v for k, v in os.environ.items() if not k.startswith("ROOST_")}
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    commands = [line[2:] for line in transcript.splitlines() if line.startswith("$ ")]
    script = "\n".join(f"echo {shlex.quote(f'$ {each}')}\n{each}" for each in commands)
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", script.replace(URL, running.url)),
        env={**own, "XDG_CONFIG_HOME": str(folder), "PATH": programs, "COLUMNS": "100"},
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(SECONDS):
        out, _ = await process.communicate()
    return out.decode().replace(account.username, "admin").replace(running.url, URL)


def plain(text: str) -> list[str]:
    """Without what differs from one time to another."""
    text = re.sub(r"(?<=Request: )[0-9a-f]+|\b1[0-9]{5}\b", "…", text)
    return [" ".join(line.split()) for line in text.splitlines()]
