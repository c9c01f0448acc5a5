"""The commands of docs/tokens.md work as they stand."""

import asyncio
import os
import re
import sys
from pathlib import Path

from tests.support.client import Client
from tests.support.server import RunningRoost
from tests.support.volumes import VOLUMES

DOCUMENT = Path(__file__).parents[2] / "docs" / "tokens.md"
TEXT = DOCUMENT.read_text()
NARROW, RESTRICTIONS = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
(PYTHON,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


async def run(command: str, client: Client, running: RunningRoost) -> str:
    folder = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "API": f"{running.url}/v4",
        "TOKEN": client.token or "",
    }
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euc", command.replace("curl ", "curl -sS --fail-with-body ")),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, out
    return out.decode()


async def test_the_command(client: Client, running: RunningRoost) -> None:
    assert '"data":[]' in await run(NARROW, client, running)
    assert await run(RESTRICTIONS, client, running) == '{"tags":["night"]}\n'


async def test_the_function(client: Client) -> None:
    names: dict[str, object] = {"token": client.token}
    exec(PYTHON, names)
    child = client.as_user(str(names["ci"]))
    assert (await child.post(VOLUMES, {"label": "ci-a", "region": "us-lake"}))["id"]
    answer = await child.send("POST", VOLUMES, {"label": "a", "region": "us-lake"})
    assert answer.problems == [(None, "The token is restricted: label_prefix")]
    assert (await child.get(VOLUMES))["results"] == 1
