"""What a restricted user sees of volumes and may do with them (spec A, Authentication rule 4)."""

from dataclasses import dataclass

import pytest

from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Answer, Client, Json, until
from tests.support.instances import INSTANCES, made
from tests.support.volumes import VOLUMES, attached, made_volume, rested, volume_body

pytestmark = pytest.mark.spec("A auth 4", "A volumes 4")

FORBIDDEN = (403, [(None, "Unauthorized")])


def refused(answer: Answer) -> bool:
    return answer.status == 403 and (answer.status, answer.problems) == FORBIDDEN


@dataclass(frozen=True, slots=True)
class Restricted:
    """A restricted user, and the client of somebody who grants."""

    client: Client
    admin: Client
    path: str

    async def may(self, **grants: Json) -> None:
        """Change their grants, and wait until the server knows."""
        held = await self.admin.put(self.path, grants)

        async def known() -> bool:
            answer = await self.client.get("/profile/grants")
            return bool(answer["global"] == held["global"] and answer["volume"] == held["volume"])

        await until(known, bool)


@pytest.fixture
async def user(
    nobody: Client, client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> Restricted:
    user = await new_user(account, restricted=True)
    path = f"/account/users/{user.username}/grants"
    return Restricted(nobody.as_user(await new_token(user)), client, path)


def on(row: Json, permissions: str | None) -> Json:
    return [{"id": row["id"], "permissions": permissions}]


async def test_only_what_is_granted(client: Client, user: Restricted) -> None:
    instance = await made(client)
    granted, other = [await made_volume(client, label=label) for label in ("one", "two")]
    await attached(client, granted["id"], instance["id"])
    path = f"{VOLUMES}/{granted['id']}"
    assert (await user.client.get(VOLUMES))["results"] == 0
    assert refused(await user.client.send("GET", path))
    await user.may(volume=on(granted, "read_only"), compute=on(instance, "read_only"))
    assert [row["id"] for row in (await user.client.get(VOLUMES))["data"]] == [granted["id"]]
    assert (await user.client.get(path))["id"] == granted["id"]
    assert refused(await user.client.send("GET", f"{VOLUMES}/{other['id']}"))
    of_instance = await user.client.get(f"{INSTANCES}/{instance['id']}/volumes")
    assert [row["id"] for row in of_instance["data"]] == [granted["id"]]
    for method, suffix, body in (
        ("PUT", "", {"label": "new"}),
        ("DELETE", "", None),
        ("POST", "/attach", {"compute_id": instance["id"]}),
        ("POST", "/detach", None),
        ("POST", "/clone", {"label": "new"}),
        ("POST", "/resize", {"size": 40}),
    ):
        assert refused(await user.client.send(method, path + suffix, body)), suffix
    await user.may(volume=on(granted, "read_write"))
    assert (await user.client.put(path, {"label": "new"}))["label"] == "new"
    await user.client.post(f"{path}/resize", {"size": 40})
    await rested(client, granted["id"])


async def test_attaching_needs_the_instance_too(client: Client, user: Restricted) -> None:
    instance, volume = await made(client), await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    body = {"compute_id": instance["id"]}
    for held in (None, "read_only"):
        await user.may(volume=on(volume, "read_write"), compute=on(instance, held))
        for compute_id in (instance["id"], 999_999_999):
            answer = await user.client.send("POST", f"{path}/attach", {"compute_id": compute_id})
            assert refused(answer)
    await user.may(volume=on(volume, "read_only"), compute=on(instance, "read_write"))
    assert refused(await user.client.send("POST", f"{path}/attach", body))
    await user.may(volume=on(volume, "read_write"))
    assert (await attached(user.client, volume["id"], instance["id"]))["compute_id"]
    await user.may(compute=on(instance, "read_only"))
    assert refused(await user.client.send("POST", f"{path}/detach"))
    await user.may(compute=on(instance, "read_write"))
    assert await user.client.post(f"{path}/detach") == {}
    await rested(client, volume["id"])


async def test_a_config_takes_no_volume_of_others(client: Client, user: Restricted) -> None:
    """Whether there is such a volume is secret; one that the instance has may stay."""
    instance, volume = await made(client), await made_volume(client)
    await user.may(compute=on(instance, "read_write"), volume=on(volume, "read_only"))
    configs = f"{INSTANCES}/{instance['id']}/configs"
    [config] = (await user.client.get(configs))["data"]
    for volume_id in (volume["id"], 999_999_999):
        devices = {**config["devices"], "sdc": {"volume_id": volume_id}}
        for method, path in (("PUT", f"{configs}/{config['id']}"), ("POST", configs)):
            body = {"label": "more", "devices": devices}
            assert refused(await user.client.send(method, path, body))
    await attached(client, volume["id"], instance["id"])
    [config] = (await user.client.get(configs))["data"]
    assert config["devices"]["sdc"]["volume_id"] == volume["id"]
    assert (await user.client.put(f"{configs}/{config['id']}", config))["id"] == config["id"]


async def test_creating_needs_the_right(client: Client, user: Restricted) -> None:
    instance = await made(client)
    assert refused(await user.client.send("POST", VOLUMES, volume_body()))
    await user.may(**{"global": {"add_volumes": True}})
    row = await user.client.post(VOLUMES, volume_body())
    await rested(client, row["id"])
    path = f"{VOLUMES}/{row['id']}"
    assert (await user.client.put(path, {"label": "mine"}))["label"] == "mine"
    body = volume_body(label="more", compute_id=instance["id"])
    assert refused(await user.client.send("POST", VOLUMES, body))
    await user.may(compute=on(instance, "read_write"))
    more = await user.client.post(VOLUMES, body)
    await rested(client, more["id"])
    copy = await user.client.post(f"{path}/clone", {"label": "copy"})
    await rested(client, row["id"])
    labels = [found["label"] for found in (await user.client.get(VOLUMES))["data"]]
    assert labels == ["mine", "more", "copy"]
    assert await user.client.delete(f"{VOLUMES}/{copy['id']}") == {}


async def test_a_clone_shows_no_secrets(client: Client, user: Restricted) -> None:
    """Of a volume that the user cannot see."""
    volume = await made_volume(client)
    await user.may(**{"global": {"add_volumes": True}})
    answer = await user.client.send("POST", f"{VOLUMES}/{volume['id']}/clone", {"label": "copy"})
    assert refused(answer)
    await user.may(volume=on(volume, "read_only"))
    await user.client.post(f"{VOLUMES}/{volume['id']}/clone", {"label": "copy"})
    await rested(client, volume["id"])


async def test_tags_are_for_unrestricted_users(client: Client, user: Restricted) -> None:
    volume = await made_volume(client, tags=["blue"])
    await user.may(volume=on(volume, "read_write"), **{"global": {"add_volumes": True}})
    path = f"{VOLUMES}/{volume['id']}"
    assert refused(await user.client.send("PUT", path, {"tags": ["green"]}))
    assert refused(await user.client.send("POST", VOLUMES, volume_body(tags=["green"])))
    assert (await user.client.put(path, {"label": "x"}))["tags"] == ["blue"]


async def test_grants_go_with_the_volume(client: Client, user: Restricted) -> None:
    volume = await made_volume(client)
    await user.may(volume=on(volume, "read_write"))
    assert await user.client.delete(f"{VOLUMES}/{volume['id']}") == {}
    await until(lambda: client.get(user.path), lambda grants: grants["volume"] == [])


async def test_creating_attached_needs_both_scopes(
    nobody: Client, client: Client, account: Account, new_token: NewToken
) -> None:
    instance = await made(client)
    half = nobody.as_user(await new_token(account, "volumes:read_write"))
    body = {"label": "half", "compute_id": instance["id"]}
    answer = await half.send("POST", VOLUMES, body)
    reason = "Your OAuth token is not authorized to use this endpoint."
    assert (answer.status, answer.problems) == (401, [(None, reason)])
    await half.post(VOLUMES, {"label": "half", "region": instance["region"]})
    both = nobody.as_user(await new_token(account, "volumes:read_write computes:read_write"))
    assert (await both.post(VOLUMES, {**body, "label": "both"}))["compute_id"] == instance["id"]


@pytest.mark.spec("A auth 2 attach")
@pytest.mark.parametrize("scopes", ["volumes:read_write", "computes:read_write"])
async def test_attach_and_detach_need_both_scopes(
    nobody: Client, client: Client, account: Account, new_token: NewToken, scopes: str
) -> None:
    instance, volume = await made(client), await made_volume(client)
    half = nobody.as_user(await new_token(account, scopes))
    for action, body in (("attach", {"compute_id": instance["id"]}), ("detach", None)):
        answer = await half.send("POST", f"{VOLUMES}/{volume['id']}/{action}", body)
        reason = "Your OAuth token is not authorized to use this endpoint."
        assert (answer.status, answer.problems) == (401, [(None, reason)])
