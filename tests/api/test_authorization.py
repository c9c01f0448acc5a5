"""Who may call what: every endpoint with every kind of caller.

What must happen follows from the endpoint's declaration alone, so a new endpoint is tested here
as soon as it exists; only what a new path names needs a sample (tests/api/samples).
"""

import asyncio

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.identity import UserType
from roost.resources.tokens.queries import list_tokens, revoke_token
from roost.web.registry import Endpoint, Registry
from roost.web.routing import path_params
from tests.api.callers import CALLERS, OF_FAMILIES, UNPREPARED, Caller, Outcome
from tests.api.conftest import Account, NewToken
from tests.api.doors import Doors, knock
from tests.api.samples.paths import keys, lacking, missing_path, sample_path, samples_of
from tests.golden.gaps import check_gaps
from tests.support.client import Answer, Client, until

pytestmark = pytest.mark.spec("A auth 1", "A auth 2", "A auth 4", "A errors 1")

ENDPOINTS = tuple(Registry(GROUPS.endpoints))
NAMED = tuple(endpoint for endpoint in ENDPOINTS if path_params(endpoint.path))
"""Those whose path names something."""


def str_of(value: object) -> str:
    return value.name if isinstance(value, Endpoint) else str(value)


every = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str_of)

NOT_FOUND = (404, b'{"errors":[{"reason":"Not found"}]}')
KEY_NOT_FOUND = (404, b'{"errors":[{"reason":"The specified access key was not found."}]}')
"""Of object storage (reference, errors)."""
REFUSALS: dict[tuple[int, bytes], Outcome] = {
    (401, b'{"errors":[{"reason":"Invalid Token"}]}'): "invalid",
    (
        401,
        b'{"errors":[{"reason":"Your OAuth token is not authorized to use this endpoint."}]}',
    ): "out of scope",
    (403, b'{"errors":[{"reason":"Unauthorized"}]}'): "forbidden",
}


@pytest.fixture(scope="module")
def doors(roost: Roost, nobody: Client) -> Doors:
    return Doors(roost, nobody, ENDPOINTS)


def seen(answer: Answer) -> tuple[int, bytes]:
    return answer.status, answer.raw


def outcome_of(endpoint: Endpoint, answer: Answer) -> Outcome | str:
    """What the caller met; a description of anything that cannot be right."""
    refusal = REFUSALS.get(seen(answer))
    if refusal is not None:
        return refusal
    if path_params(endpoint.path):
        passed = seen(answer) in (NOT_FOUND, KEY_NOT_FOUND)
    elif endpoint.name in OF_FAMILIES:
        passed = answer.status in (200, 400)
    else:
        passed = answer.status in ((400,) if endpoint.name in UNPREPARED else (200, 204))
    return "passed" if passed else f"{answer.status}: {answer.raw.decode()}"


def test_every_operation_has_a_sample() -> None:
    found = {f"{e.method} {e.path}": lacking(e) for e in ENDPOINTS if lacking(e)}
    assert found == {}, "add what shows these to the group's table in tests/api/samples"


def test_samples_are_of_operations_of_today() -> None:
    assert sorted(set(keys()) - {e.name for e in ENDPOINTS}) == []


def test_no_two_samples_have_one_key() -> None:
    assert sorted(keys()) == sorted(set(keys()))


@pytest.mark.spec(
    "A auth 3 volumes", "A auth 3 images", "A auth 3 support", "A auth 2 attach", "A errors 5 grant"
)
@every
async def test_matrix(endpoint: Endpoint, doors: Doors) -> None:
    met = await asyncio.gather(*(meet(endpoint, caller, doors) for caller in CALLERS))
    assert dict(met) == {caller.title: caller.outcome(endpoint) for caller in CALLERS}


async def meet(endpoint: Endpoint, caller: Caller, doors: Doors) -> tuple[str, str]:
    """What one caller meets, whose answer names the scopes that are held and wanted."""
    answer = await knock(endpoint, await doors.client(caller, endpoint))
    held = "unknown"
    if caller.scopes is not None and caller.token == "good":
        held = caller.scopes(endpoint)
    assert answer.headers["X-OAuth-Scopes"] == held
    assert answer.headers["X-Accepted-OAuth-Scopes"] == (",".join(endpoint.scopes) or "*")
    return caller.title, outcome_of(endpoint, answer)


def test_all_kinds_of_callers_differ() -> None:
    assert len({caller.title for caller in CALLERS}) == len(CALLERS)


def test_somebody_may() -> None:
    """A declaration that refuses everybody is a mistake."""
    closed = [e.name for e in ENDPOINTS if "passed" not in {c.outcome(e) for c in CALLERS}]
    assert closed == []


async def test_a_revoked_token_is_forgotten_at_once(
    client: Client, account: Account, roost: Roost
) -> None:
    """Also by a process that knew it."""
    assert (await client.send("GET", "/profile")).status == 200
    (token_id,) = [t.id for t in await list_tokens(roost.store) if t.username == account.username]
    assert await revoke_token(roost.store, token_id, roost.clock.seconds())
    await until(lambda: client.send("GET", "/profile"), lambda answer: answer.status == 401)


@pytest.mark.spec("A errors 2 none")
@pytest.mark.parametrize("endpoint", NAMED, ids=str_of)
async def test_another_accounts_object_looks_like_none(
    endpoint: Endpoint, roost: Roost, nobody: Client, doors: Doors, new_token: NewToken
) -> None:
    """For a stranger who may everything in an account of their own."""
    user_type: UserType = "parent" if "default" in endpoint.refuses else "default"
    account, other = await doors.account(user_type), await doors.account(user_type)
    client, stranger = [nobody.as_user(await new_token(a)) for a in (account, other)]
    path = await sample_path(endpoint, client, roost, account)
    missing = await knock(endpoint, stranger, missing_path(endpoint))
    assert seen(missing) in (NOT_FOUND, KEY_NOT_FOUND)
    foreign = await knock(endpoint, stranger, path)
    if is_for_all(endpoint):
        assert foreign.status == 200
    else:
        assert seen(foreign) == seen(missing)
    assert (await knock(endpoint, client, path)).status in (200, 204, 400)


def is_for_all(endpoint: Endpoint) -> bool:
    """Whether what the path names is no account's own, or shown to everybody."""
    shared = all(sample.shared for sample in samples_of(endpoint))
    return shared or (endpoint.public and not endpoint.scopes)


def test_no_endpoint_is_left_out() -> None:
    check_gaps("unauthorized", (e.name for e in ENDPOINTS if lacking(e)))
