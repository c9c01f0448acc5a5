"""The commands of docs/events.md work as they stand."""

import asyncio
import json
import os
import re
from pathlib import Path

from tests.support.client import Client
from tests.support.server import RunningRoost

DOCUMENT = Path(__file__).parents[2] / "docs" / "events.md"
COMMANDS = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


async def run(command: str, client: Client, running: RunningRoost) -> str:
    environment = {
        **os.environ,
        "API": f"{running.url}/v4",
        "AUTH": f"Authorization: Bearer {client.token}",
    }
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euc", command.replace("curl ", "curl -sS --fail-with-body ")),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, out
    return out.decode()


async def test_streams(client: Client, running: RunningRoost) -> None:
    follow, resume = COMMANDS[:2]
    following = asyncio.create_task(run(follow, client, running))
    while not following.done():
        await client.post("/tags", {"label": "told"})
        await client.delete("/tags/told")
        await asyncio.sleep(0.1)
    for said in (await following, await run(resume, client, running)):
        assert said.startswith("retry: 3000\nid: ")
        assert '"action":"tag_create"' in said


async def test_webhooks(client: Client, running: RunningRoost) -> None:
    row = json.loads(await run(COMMANDS[2], client, running))
    assert (row["status"], row["secret"][:6]) == ("active", "whsec_")
    await client.delete(f"/account/webhooks/{row['id']}")


async def test_waits(client: Client, running: RunningRoost) -> None:
    assert '"data":[]' in await run(COMMANDS[3], client, running)


async def test_versions(client: Client, running: RunningRoost) -> None:
    known, change = COMMANDS[4:6]
    assert await run(known, client, running) == "304\n"
    await run(change, client, running)
    assert (await client.get("/profile"))["timezone"] == "Europe/Berlin"
    stale = change.replace("$tag", '\\"x\\"').replace(
        "curl -X", "curl -o /dev/null -w '%{http_code}' -X"
    )
    assert await run(f"{stale.strip()} || true", client, running) == "412"
