"""Who may call what: every endpoint with every kind of caller.

What must happen follows from the endpoint's declaration alone, so a new endpoint is tested here
as soon as it exists; only a new path parameter needs a sample (samples.py).
"""

import itertools
import uuid
from datetime import timedelta

import pytest

from roost.app.groups import ENDPOINT_MODULES
from roost.app.roost import Roost
from roost.resources.profile.queries import list_tokens, revoke_token
from roost.web.grants import Anyone, Read
from roost.web.registry import Endpoint, Registry
from roost.web.routing import path_params
from roost.web.scopes import AREAS
from tests.api.conftest import Account, NewAccount, NewToken
from tests.api.samples import SAMPLES, lacking, missing_path, sample_path
from tests.golden.gaps import check_gaps
from tests.support.client import Answer, Client, Json, until
from tests.support.pictures import picture

pytestmark = pytest.mark.spec("A auth 1", "A auth 2", "A auth 3", "A auth 4", "A errors 1")

ENDPOINTS = tuple(Registry(ENDPOINT_MODULES))

_NAMES = (f"new-{uuid.uuid4().hex[:16]}" for _ in itertools.count())


def str_of(value: object) -> str:
    return value.name if isinstance(value, Endpoint) else str(value)


every = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str_of)

UNPREPARED = ("confirm_tfa", "explain_request")
"""They refuse the example for a reason of their own, as nothing was prepared for it."""

INVALID = (401, b'{"errors":[{"reason":"Invalid Token"}]}')
OUT_OF_SCOPE = (
    401,
    b'{"errors":[{"reason":"Your OAuth token is not authorized to use this endpoint."}]}',
)
FORBIDDEN = (403, b'{"errors":[{"reason":"Unauthorized"}]}')
NOT_FOUND = (404, b'{"errors":[{"reason":"Not found"}]}')


def seen(answer: Answer) -> tuple[int, bytes]:
    return answer.status, answer.raw


def example(endpoint: Endpoint) -> Json:
    """A body that is accepted, from the document; None for an endpoint without one."""
    if endpoint.body is None:
        return None
    body = endpoint.body.model_json_schema()["examples"][0]
    return body | {"username": next(_NAMES)} if "username" in body else body


async def call(endpoint: Endpoint, client: Client, path: str) -> Answer:
    if endpoint.accepts:
        headers = {"Content-Type": endpoint.accepts[0]}
        return await client.send(endpoint.method, path, headers=headers, data=picture())
    return await client.send(endpoint.method, path, example(endpoint))


def scopes_at(endpoint: Endpoint, level: str) -> str:
    return " ".join(f"{scope.partition(':')[0]}:{level}" for scope in endpoint.scopes)


def areas_of(endpoint: Endpoint) -> list[str]:
    return [scope.partition(":")[0] for scope in endpoint.scopes]


def all_areas_but(left_out: str) -> str:
    return " ".join(f"{area}:read_write" for area in AREAS if area != left_out)


def must_pass(answer: Answer, endpoint: Endpoint) -> None:
    """The caller came as far as the object, which does not exist, or got an answer."""
    if path_params(endpoint.path):
        assert seen(answer) == NOT_FOUND
    elif endpoint.name in UNPREPARED:
        assert answer.status == 400
    else:
        assert answer.status in (200, 204), answer.body


@every
def test_every_parameter_has_a_sample(endpoint: Endpoint) -> None:
    names = lacking(endpoint)
    assert not names, f"add {names} of {endpoint.path} to SAMPLES in tests/api/samples.py"


@every
async def test_no_token(endpoint: Endpoint, nobody: Client) -> None:
    answer = await call(endpoint, nobody, missing_path(endpoint))
    if endpoint.public:
        must_pass(answer, endpoint)
    else:
        assert seen(answer) == INVALID
    assert answer.headers["X-OAuth-Scopes"] == "unknown"


@every
async def test_unknown_token(endpoint: Endpoint, nobody: Client) -> None:
    """Also where none is needed: a client must learn that its token is no longer good."""
    answer = await call(endpoint, nobody.as_user("0" * 64), missing_path(endpoint))
    assert seen(answer) == INVALID


@every
async def test_expired_token(
    endpoint: Endpoint, nobody: Client, roost: Roost, account: Account, new_token: NewToken
) -> None:
    past = roost.clock.seconds() - timedelta(seconds=1)
    client = nobody.as_user(await new_token(account, expiry=past))
    assert seen(await call(endpoint, client, missing_path(endpoint))) == INVALID


@every
async def test_revoked_token(
    endpoint: Endpoint, nobody: Client, roost: Roost, account: Account, new_token: NewToken
) -> None:
    client = nobody.as_user(await new_token(account))
    must_pass(await call(endpoint, client, missing_path(endpoint)), endpoint)
    (token_id,) = [t.id for t in await list_tokens(roost.store) if t.username == account.username]
    assert await revoke_token(roost.store, token_id, roost.clock.seconds())
    await until_forgotten(client)
    assert seen(await call(endpoint, client, missing_path(endpoint))) == INVALID


async def until_forgotten(client: Client) -> None:
    await until(lambda: client.send("GET", "/regions"), lambda answer: answer.status == 401)


@pytest.mark.parametrize(
    ("endpoint", "area"), [(e, area) for e in ENDPOINTS for area in areas_of(e)], ids=str_of
)
async def test_token_without_an_area(
    endpoint: Endpoint, area: str, nobody: Client, account: Account, new_token: NewToken
) -> None:
    client = nobody.as_user(await new_token(account, all_areas_but(area)))
    answer = await call(endpoint, client, missing_path(endpoint))
    assert seen(answer) == OUT_OF_SCOPE
    assert answer.headers["X-Accepted-OAuth-Scopes"] == ",".join(endpoint.scopes)


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if not e.scopes], ids=str_of)
async def test_any_token_will_do_without_a_scope(
    endpoint: Endpoint, nobody: Client, account: Account, new_token: NewToken
) -> None:
    client = nobody.as_user(await new_token(account, "domains:read_only"))
    answer = await call(endpoint, client, missing_path(endpoint))
    must_pass(answer, endpoint)
    assert answer.headers["X-Accepted-OAuth-Scopes"] == "*"


@every
async def test_read_only_token(
    endpoint: Endpoint, nobody: Client, account: Account, new_token: NewToken
) -> None:
    scopes = scopes_at(endpoint, "read_only") or "domains:read_only"
    client = nobody.as_user(await new_token(account, scopes))
    answer = await call(endpoint, client, missing_path(endpoint))
    if any(scope.endswith(":read_write") for scope in endpoint.scopes):
        assert seen(answer) == OUT_OF_SCOPE
    else:
        must_pass(answer, endpoint)


@every
@pytest.mark.parametrize("wide", [False, True], ids=["exact", "read_write"])
async def test_right_scope(
    endpoint: Endpoint, nobody: Client, account: Account, new_token: NewToken, wide: bool
) -> None:
    exact = " ".join(endpoint.scopes) or "domains:read_only"
    scopes = scopes_at(endpoint, "read_write") if wide and endpoint.scopes else exact
    client = nobody.as_user(await new_token(account, scopes))
    must_pass(await call(endpoint, client, missing_path(endpoint)), endpoint)


@every
async def test_restricted_user_without_a_grant(
    endpoint: Endpoint, nobody: Client, new_account: NewAccount, new_token: NewToken
) -> None:
    restricted = await new_account(restricted=True)
    client = nobody.as_user(await new_token(restricted))
    answer = await call(endpoint, client, missing_path(endpoint))
    is_list = isinstance(endpoint.grant, Read) and not path_params(endpoint.path)
    if isinstance(endpoint.grant, Anyone) or is_list:
        must_pass(answer, endpoint)
    else:
        assert seen(answer) == FORBIDDEN


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if path_params(e.path)], ids=str_of)
async def test_another_accounts_object_looks_like_none(
    endpoint: Endpoint, client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    path = await sample_path(endpoint, client, roost, account)
    missing = await call(endpoint, stranger, missing_path(endpoint))
    assert seen(missing) == NOT_FOUND
    foreign = await call(endpoint, stranger, path)
    if endpoint.public or all(SAMPLES[name].shared for name in path_params(endpoint.path)):
        assert foreign.status == 200
    else:
        assert seen(foreign) == seen(missing)
    assert (await call(endpoint, client, path)).status in (200, 204, 400)


def test_no_endpoint_is_left_out() -> None:
    check_gaps("unauthorized", (e.name for e in ENDPOINTS if lacking(e)))
