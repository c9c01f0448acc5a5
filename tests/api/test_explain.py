"""Explanations of refusals (docs/explain.md)."""

from urllib.parse import quote

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.grant_queries import give
from roost.web.registry import Registry
from tests.api.conftest import Account, NewAccount, NewToken
from tests.api.doors import example
from tests.api.samples.paths import missing_path
from tests.support.client import Client, Json
from tests.support.instances import INSTANCES, made


async def explain(client: Client, method: str, path: str) -> Json:
    return await client.get(f"/profile/explain?method={method}&path={quote(path, safe='')}")


async def test_what_is_allowed(client: Client) -> None:
    assert await explain(client, "post", "/v4/compute/instances") == {
        "method": "POST",
        "path": "/v4/compute/instances",
        "operation": "create_instance",
        "allowed": True,
        "missing_scopes": [],
        "missing_grant": None,
        "closed_to": None,
        "restricted_by": None,
    }


async def test_what_a_token_lacks(nobody: Client, account: Account, new_token: NewToken) -> None:
    client = nobody.as_user(await new_token(account, "computes:read_only"))
    found = await explain(client, "DELETE", "/compute/instances/1")
    assert (found["allowed"], found["missing_scopes"]) == (False, ["computes:read_write"])
    assert found["missing_grant"] is None
    found = await explain(client, "GET", "/compute/instances/1")
    assert (found["allowed"], found["missing_scopes"]) == (True, [])


async def test_a_token_lacks_nothing_for_what_strangers_may_see(
    nobody: Client, account: Account, new_token: NewToken
) -> None:
    client = nobody.as_user(await new_token(account, "computes:read_only"))
    found = await explain(client, "GET", "/images")
    assert (found["allowed"], found["missing_scopes"]) == (True, [])


@pytest.mark.parametrize(
    ("method", "path", "grant"),
    [
        ("POST", "/compute/instances", "the global grant add_computes"),
        ("GET", "/compute/instances", None),
        ("GET", "/compute/instances/{id}", None),
        ("PUT", "/compute/instances/{id}", "read_write on compute {id}"),
        ("GET", "/compute/instances/1", "read_only on compute 1"),
        ("GET", "/account", "account_access read_only"),
        ("GET", "/account/logins", "to be an unrestricted user"),
        ("GET", "/profile", None),
    ],
)
async def test_what_a_restricted_user_lacks(
    client: Client,
    nobody: Client,
    roost: Roost,
    new_account: NewAccount,
    new_token: NewToken,
    method: str,
    path: str,
    grant: str | None,
) -> None:
    restricted = await new_account(restricted=True)
    entity = (await made(client))["id"]
    await give(roost.store, restricted.user_id, "compute", entity, "read_only")
    user = nobody.as_user(await new_token(restricted))
    found = await explain(user, method, path.format(id=entity))
    wanted = grant and grant.format(id=entity)
    assert (found["missing_grant"], found["allowed"]) == (wanted, grant is None)


async def test_what_is_closed_to_a_type_of_user(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    proxied = await new_account()
    await roost.store.execute(
        "update api_user set user_type = 'proxy' where id = $1", proxied.user_id
    )
    client = nobody.as_user(await new_token(proxied))
    found = await explain(client, "POST", "/profile/tokens")
    assert (found["allowed"], found["closed_to"]) == (False, "proxy")


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/v4/regions", "list_regions"),
        ("/v4beta/regions/", "list_regions"),
        ("regions", "list_regions"),
        ("/regions?page=1", "list_regions"),
        ("/images/roost%2Fdebian12", "view_image"),
        ("/images/roost/debian12", "view_image"),
    ],
)
async def test_forms_of_paths(client: Client, path: str, operation: str) -> None:
    assert (await explain(client, "GET", path))["operation"] == operation


async def test_the_method_is_get_when_omitted(client: Client) -> None:
    assert (await client.get("/profile/explain?path=/regions"))["method"] == "GET"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("", ("path", "path is required")),
        ("?method=GET", ("path", "path is required")),
        ("?path=/nothing", ("path", "No operation has this path")),
        ("?path=", ("path", "No operation has this path")),
        ("?path=http://[", ("path", "No operation has this path")),
        ("?path=/regions/%00", ("path", "No operation has this path")),
        ("?method=PATCH&path=/regions", ("method", "Must be one of GET")),
        ("?method=&path=/profile", ("method", "Must be one of GET, PUT")),
    ],
)
async def test_what_cannot_be_explained(
    client: Client, query: str, problem: tuple[str, str]
) -> None:
    answer = await client.send("GET", f"/profile/explain{query}")
    assert (answer.status, answer.problems) == (400, [problem])


async def test_nothing_is_performed(client: Client) -> None:
    entity = (await made(client))["id"]
    before = await client.get("/account/events")
    assert (await explain(client, "DELETE", f"{INSTANCES}/{entity}"))["allowed"] is True
    assert await client.get("/account/events") == before
    assert (await client.get(f"{INSTANCES}/{entity}"))["status"] == "offline"


@pytest.mark.parametrize("scopes", ["account:read_only", "computes:read_write events:read_only"])
async def test_explanations_tell_the_truth_about_every_endpoint(
    nobody: Client, new_account: NewAccount, new_token: NewToken, scopes: str
) -> None:
    """For a restricted user without grants: what is refused is explained, and nothing else."""
    client = nobody.as_user(await new_token(await new_account(restricted=True), scopes))
    for endpoint in Registry(GROUPS.endpoints):
        path = missing_path(endpoint)
        found = await explain(client, endpoint.method, path)
        body = None if endpoint.body is None else example(endpoint.body)
        answer = await client.send(endpoint.method, path, body)
        refused = answer.status in (401, 403)
        assert found["operation"] == endpoint.name
        assert found["allowed"] is not refused, endpoint.name
        assert bool(found["missing_scopes"]) == (answer.status == 401), endpoint.name
