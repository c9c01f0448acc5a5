"""Entity tags: no change that somebody has not seen is overwritten (decision 0142).

That every GET has one, test_every_endpoint.py holds over all operations.
"""

import asyncio
import os
from uuid import uuid4

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.queries import lock_path
from roost.web.registry import Endpoint, Registry
from tests.api.conftest import Account, NewAccount
from tests.api.samples.paths import become_welcome, fill, make_sample
from tests.support.client import Answer, Client, Json
from tests.support.instances import made

ROUNDS = int(os.environ.get("ROOST_TEST_VERSIONS", "200"))
"""10,000 by hand."""
REGISTRY = Registry(GROUPS.endpoints)
OF_VERSIONS = [e for e in REGISTRY if e.method in ("PUT", "DELETE")]
CHANGED = (412, [("If-Match", "It has changed since it was read")])
UNSEEN = (400, [("If-Match", "This operation has no version to match")])
NO_VERSION = {"delete_phone_number", "update_object_acl"}
"""Where nothing is shown at the path alone."""


def said(answer: Answer) -> tuple[int, object]:
    return answer.status, answer.problems


async def domain(client: Client, **more: str) -> str:
    """The path of a new one."""
    name = f"{uuid4().hex}.org"
    body = {"domain": name, "type": "master", "soa_email": f"a@{name}", **more}
    return f"/domains/{(await client.post('/domains', body))['id']}"


@pytest.mark.parametrize("endpoint", OF_VERSIONS, ids=lambda e: e.name)
async def test_another_version_is_left_alone(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    await become_welcome(endpoint, client, roost, account)
    path = fill(endpoint, await make_sample(endpoint, client, roost, account))
    examples: list[Json] = []
    if endpoint.body is not None:
        examples = endpoint.body.model_json_schema().get("examples", [])
    body: Json = next(iter(examples), {}) if endpoint.method == "PUT" else None
    before = None if endpoint.name in NO_VERSION else await client.send("GET", path)
    answer = await client.send(endpoint.method, path, body, headers={"If-Match": '"x"'})
    if endpoint.name in NO_VERSION:
        assert said(answer) == UNSEEN
        return
    assert said(answer) == CHANGED
    assert before is not None
    assert (await client.send("GET", path)).headers["ETag"] == before.headers["ETag"]


async def test_a_version_is_changed_once(client: Client) -> None:
    path = await domain(client)
    tag = (await client.send("GET", path)).headers["ETag"]
    first = await client.send("PUT", path, {"description": "one"}, headers={"If-Match": tag})
    assert (first.status, first.body["description"]) == (200, "one")
    again = await client.send("PUT", path, {"description": "two"}, headers={"If-Match": tag})
    assert said(again) == CHANGED
    # The answer of a change has the tag of what it left.
    shown = await client.send("GET", path)
    assert (shown.body["description"], shown.headers["ETag"]) == ("one", first.headers["ETag"])
    assert (await client.send("DELETE", path, headers={"If-Match": tag})).status == 412
    gone = await client.send("DELETE", path, headers={"If-Match": f'"y", {shown.headers["ETag"]}'})
    assert gone.status == 200
    assert (await client.send("DELETE", path, headers={"If-Match": "*"})).status == 404


async def test_what_hangs_on_it_is_part_of_its_version(client: Client) -> None:
    row = await made(client)
    configs = f"/compute/instances/{row['id']}/configs"
    made_one = await client.post(configs, {"label": "x", "devices": {}})
    path = f"{configs}/{made_one['id']}"
    tag = (await client.send("GET", path)).headers["ETag"]
    await client.post(f"{path}/interfaces", {"purpose": "public"})
    answer = await client.send("PUT", path, {"label": "y"}, headers={"If-Match": tag})
    assert said(answer) == CHANGED


async def test_lists(client: Client, stranger: Client) -> None:
    tag = (await client.send("GET", "/tags")).headers["ETag"]
    await stranger.post("/tags", {"label": "theirs"})
    known = {"If-None-Match": tag}
    assert (await client.send("GET", "/tags", headers=known)).status == 304
    await client.post("/tags", {"label": "mine"})
    assert (await client.send("GET", "/tags", headers=known)).status == 200


async def test_a_dry_run_is_of_a_version_too(client: Client) -> None:
    row = await made(client)
    path = f"/compute/instances/{row['id']}?dry_run=true"
    assert said(await client.send("DELETE", path, headers={"If-Match": '"x"'})) == CHANGED


@pytest.mark.parametrize("text", ["", "x", '"x', '"x" "y"', ",", '"a",' * 101 + '"b"'])
async def test_what_is_no_tag(client: Client, text: str) -> None:
    for method, header in (("GET", "If-None-Match"), ("PUT", "If-Match")):
        answer = await client.send(method, "/profile", {}, headers={header: text})
        reason = 'Must be * or up to 100 tags such as "x", with commas'
        assert said(answer) == (400, [(header, reason)])


async def test_only_what_is_put_or_deleted_has_a_version_to_match(client: Client) -> None:
    answer = await client.send("POST", "/tags", {"label": "x"}, headers={"If-Match": "*"})
    assert said(answer) == UNSEEN


async def test_another_account_at_the_same_path(
    client: Client, roost: Roost, new_account: NewAccount
) -> None:
    """Paths such as this one are everybody's: nobody waits for another account's."""
    other = await new_account()
    async with roost.store.transaction() as db:
        await lock_path(db, other.id, "/profile")
        answer = await client.send("PUT", "/profile", {}, headers={"If-Match": "*"})
    assert answer.status == 200


async def test_two_writers_lose_nothing(client: Client) -> None:
    """Each adds one to a number that both have; a third one changes it without asking."""
    path = await domain(client, description="0")
    left = iter(range(ROUNDS))
    added = refused = 0

    async def write() -> None:
        nonlocal added, refused
        for _ in left:
            while True:
                shown = await client.send("GET", path)
                more = {"description": str(int(shown.body["description"]) + 1)}
                tag = {"If-Match": shown.headers["ETag"]}
                answer = await client.send("PUT", path, more, headers=tag)
                if answer.status == 200:
                    added += 1
                    break
                assert said(answer) == CHANGED
                refused += 1

    await asyncio.gather(write(), write())
    assert added == ROUNDS
    assert (await client.get(path))["description"] == str(ROUNDS)
    assert refused > 0


async def test_whoever_asks_for_no_version_is_not_overwritten_either(client: Client) -> None:
    path = await domain(client)
    for number in range(ROUNDS // 10):
        tag = {"If-Match": (await client.send("GET", path)).headers["ETag"]}
        careful, careless = await asyncio.gather(
            client.send("PUT", path, {"description": f"careful {number}"}, headers=tag),
            client.send("PUT", path, {"description": f"careless {number}"}),
        )
        assert careless.status == 200
        kept = (await client.get(path))["description"]
        if careful.status == 200:
            # It came first, and the other one did not ask.
            assert kept == f"careless {number}"
        else:
            assert (said(careful), kept) == (CHANGED, f"careless {number}")
