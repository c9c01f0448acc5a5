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
COMMANDS = [line[2:] for line in TRANSCRIPT.splitlines() if line.startswith("$ ")]
URL = "http://127.0.0.1:8080"
SECONDS = 200


async def test_the_transcript(
    tmp_path: Path, running: RunningRoost, client: Client, account: Account
) -> None:
    assert client.token is not None
    (tmp_path / "admin.token").write_text(client.token)
    (tmp_path / "password").write_text("correct-Horse7battery\n")
    own = {k: v for k, v in os.environ.items() if not k.startswith("ROOST_")}
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    script = "\n".join(f"echo {shlex.quote(f'$ {each}')}\n{each}" for each in COMMANDS)
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", script.replace(URL, running.url)),
        env={**own, "XDG_CONFIG_HOME": str(tmp_path), "PATH": programs, "COLUMNS": "100"},
        cwd=tmp_path,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(SECONDS):
        out, _ = await process.communicate()
    said = out.decode().replace(account.username, "admin").replace(running.url, URL)
    assert plain(said) == plain(TRANSCRIPT)


def plain(text: str) -> list[str]:
    """Without what differs from one time to another."""
    text = re.sub(r"(?<=Request: )[0-9a-f]+|\b1[0-9]{5}\b", "…", text)
    return [" ".join(line.split()) for line in text.splitlines()]
