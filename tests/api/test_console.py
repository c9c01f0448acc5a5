"""What guests wrote to their serial consoles."""

from roost.app.roost import Roost
from tests.support.client import Client
from tests.support.disks import path_of
from tests.support.instances import made
from tests.support.volumes import powered


async def test_what_a_guest_wrote(client: Client, stranger: Client) -> None:
    row = await made(client, label="talker")
    path = f"{path_of(row)}/console"
    assert await client.get(path) == {"output": ""}
    await powered(client, row["id"], "boot")
    await powered(client, row["id"], "shutdown")
    output = (await client.get(path))["output"]
    assert "talker login: " in output
    assert output.endswith("reboot: Power down\n")
    assert (await stranger.send("GET", path)).status == 404


async def test_where_another_engine_has_the_guest(client: Client, roost: Roost) -> None:
    row = await made(client)
    held = "update compute_instance set engine = $2 where id = $1"
    await roost.store.execute(held, row["id"], "qemu")
    answer = await client.send("GET", f"{path_of(row)}/console")
    await roost.store.execute(held, row["id"], "simulated")
    reason = "The console cannot be read now. Please try again later."
    assert (answer.status, answer.problems) == (503, [(None, reason)])
