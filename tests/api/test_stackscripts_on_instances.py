"""StackScripts that instances run at their first boot (spec B compute create)."""

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.engine import FirstBootScript
from roost.secrets import Box
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.captures import captured
from tests.support.client import Client, Json
from tests.support.disks import quiet, roomy
from tests.support.instances import INSTANCES, OMITTED, create_body, made
from tests.support.stackscripts import SCRIPT, STACKSCRIPTS, scripted

pytestmark = pytest.mark.spec("B compute create stackscript_id")

ASKING = """#!/bin/sh
# <UDF name="site" label="Name" />
# <UDF name="Kind" label="Kind" oneof="big,small" default="big" />
# <UDF name="parts" label="Parts" manyof="a,b,c" default="" />
"""
IMAGE: Json = {"image": "roost/debian12", "root_pass": "correct-Horse7battery"}
NOT_VALID = [("stackscript_id", "stackscript_id is not valid")]


async def run_by(roost: Roost, compute_id: int) -> list[FirstBootScript | None]:
    """What the guest runs that boots from each of the disks with an image."""
    found = await disks.of_instance(roost.store, compute_id)
    box = roost.services.get(Box)
    return [SealedSetup.unseal(box, disk.setup).script for disk in found if disk.setup is not None]


async def deployments(client: Client, stackscript: Json) -> tuple[int, int]:
    row = await client.get(f"{STACKSCRIPTS}/{stackscript['id']}")
    return row["deployments_total"], row["deployments_active"]


async def test_it_is_run_with_the_answers(client: Client, roost: Roost) -> None:
    script = await scripted(client, script=ASKING)
    data = {"site": "x=y", "parts": "c,a"}
    row = await made(client, stackscript_id=script["id"], stackscript_data=data)
    variables = {"SITE": "x=y", "site": "x=y", "KIND": "big", "Kind": "big"}
    variables |= {"PARTS": "c,a", "parts": "c,a"}
    assert await run_by(roost, row["id"]) == [FirstBootScript(ASKING, variables)]
    await client.put(f"{STACKSCRIPTS}/{script['id']}", {"script": SCRIPT})
    assert await run_by(roost, row["id"]) == [FirstBootScript(ASKING, variables)]


async def test_rebuilds_and_disks_run_one_too_and_all_are_counted(
    client: Client, roost: Roost
) -> None:
    script, other = await scripted(client), await scripted(client, label="other")
    use = {"stackscript_id": script["id"]}
    path, _ = await roomy(client, **use)
    compute_id = int(path.rpartition("/")[2])
    await made(client, **use)
    assert await deployments(client, script) == (2, 2)
    body = {**IMAGE, "size": 1800, **use, "stackscript_data": {"site": "b"}}
    await client.post(f"{path}/disks", body)
    await quiet(client, path)
    texts = [each and each.variables["SITE"] for each in await run_by(roost, compute_id)]
    assert texts == ["a", "b"]
    assert await deployments(client, script) == (3, 2)
    await client.post(f"{path}/rebuild", {**IMAGE, "stackscript_id": other["id"], "booted": False})
    await quiet(client, path)
    assert len(await run_by(roost, compute_id)) == 1
    assert (await deployments(client, script), await deployments(client, other)) == ((3, 2), (1, 1))
    await client.delete(path)
    await quiet(client, path)
    assert (await deployments(client, script), await deployments(client, other)) == ((3, 1), (1, 0))


@pytest.mark.parametrize(
    ("data", "field", "reason"),
    [
        (None, "site", "site is required"),
        ({}, "site", "site is required"),
        ({"site": None}, "site", "site is required"),
        ({"site": 7}, "site", "Must be a string"),
        ({"site": "x", "Kind": "large"}, "Kind", "Must be one of big, small"),
        ({"site": "x", "parts": "a,d"}, "parts", "Must be some of a, b, c"),
        ({"site": "x", "SITE": "y"}, "", "The StackScript asks for site, Kind, parts"),
        ({"x" * 60_000: "y"}, "", "The StackScript asks for site, Kind, parts"),
    ],
)
async def test_answers_that_are_refused(
    client: Client, data: Json | None, field: str, reason: str
) -> None:
    script = await scripted(client, script=ASKING)
    body = create_body(stackscript_id=script["id"], stackscript_data=data)
    answer = await client.send("POST", INSTANCES, body)
    name = ".".join(filter(None, ("stackscript_data", field)))
    assert (answer.status, answer.problems) == (400, [(name, reason)])
    assert await deployments(client, script) == (0, 0)


@pytest.mark.spec("B compute create backup")
async def test_where_none_can_run(client: Client) -> None:
    script, picky = await scripted(client), await scripted(client, images=["roost/alpine3.19"])
    row = await made(client)
    private = await captured(client)
    for changes, reason in (
        ({"image": OMITTED, "root_pass": OMITTED}, "stackscript_id needs an image"),
        ({"image": private["id"]}, "stackscript_id cannot be given with a private image"),
    ):
        body = create_body(stackscript_id=script["id"], **changes)
        answer = await client.send("POST", INSTANCES, body)
        assert (answer.status, answer.problems) == (400, [("stackscript_id", reason)])
    answer = await client.send("POST", INSTANCES, create_body(stackscript_id=picky["id"]))
    assert answer.problems == [("stackscript_id", "The StackScript is not made for this image")]
    path = f"{INSTANCES}/{row['id']}/disks"
    body = {"label": "x", "size": 1, "stackscript_id": script["id"]}
    answer = await client.send("POST", path, body)
    assert answer.problems == [("stackscript_id", "stackscript_id needs an image")]


async def test_public_ones_are_everybodys(client: Client, stranger: Client) -> None:
    script = await scripted(client)
    body = create_body(stackscript_id=script["id"])
    answer = await stranger.send("POST", INSTANCES, body)
    assert (answer.status, answer.problems) == (400, NOT_VALID)
    await client.put(f"{STACKSCRIPTS}/{script['id']}", {"is_public": True})
    await made(stranger, stackscript_id=script["id"])
    assert await deployments(client, script) == (1, 1)


async def test_private_ones_need_a_scope_and_a_grant(
    client: Client,
    roost: Roost,
    account: Account,
    new_token: NewToken,
    new_user: NewUser,
) -> None:
    script, public = await scripted(client), await scripted(client, is_public=True)
    body = create_body(stackscript_id=script["id"])
    narrow = client.as_user(await new_token(account, "computes:read_write"))
    assert (await narrow.send("POST", INSTANCES, body)).status == 401
    await made(narrow, stackscript_id=public["id"])
    user = await new_user(account, restricted=True)
    grants = f"/account/users/{user.username}/grants"
    await client.put(grants, {"global": {"add_computes": True}})
    restricted = client.as_user(await new_token(user))
    assert (await restricted.send("POST", INSTANCES, body)).status == 403
    await made(restricted, stackscript_id=public["id"])
    await give(roost.store, user.user_id, "stackscript", script["id"], "read_only")
    await made(restricted, stackscript_id=script["id"])
    assert await deployments(client, script) == (1, 1)
