"""What all endpoints have in common: methods, headers, odd paths and bodies of success."""

from itertools import repeat

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.headers import REVISION, SPEC_VERSION
from roost.web.registry import EVENT_STREAM, Endpoint, Maybe, Page, Registry, Stream
from roost.web.routing import path_params
from tests.api.conftest import Account
from tests.api.doors import knock
from tests.api.samples.paths import become_welcome, fill, missing_path, sample_path, sample_query
from tests.support.client import Answer, Client

pytestmark = pytest.mark.spec("A service paths", "A service json", "A versioning")

REGISTRY = Registry(GROUPS.endpoints)
ENDPOINTS = tuple(REGISTRY)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE")
ODD = (
    "%00",
    "%ff",
    "%20",
    "..%2f..",
    "9" * 19,
    "9" * 40,
    "-1",
    "0",
    "1e3",
    "%D9%A1",
    "x" * 2000,
    "%25",
)
SECURITY = {
    "Content-Type": "application/json",
    "X-Spec-Version": SPEC_VERSION,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'",
    "Access-Control-Allow-Origin": "*",
    "Vary": "Authorization, X-Filter, Roost-Revision",
    "Roost-Revision": REVISION,
}

every = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: e.name)
reading = [e for e in ENDPOINTS if not e.writes]


@every
async def test_other_methods_are_405(endpoint: Endpoint, nobody: Client) -> None:
    path = missing_path(endpoint)
    match = REGISTRY.router.find(path)
    assert match is not None
    others = [method for method in METHODS if method not in match.methods]
    assert "PATCH" in others
    for method in others:
        answer = await nobody.send(method, path)
        assert answer.status == 405
        assert answer.problems == [(None, f"Method Not Allowed: {method}")]
        assert set(match.methods) < set(answer.headers["Allow"].split(", "))


@every
async def test_headers(endpoint: Endpoint, client: Client) -> None:
    answer = await client.send(endpoint.method, missing_path(endpoint))
    wanted: dict[str, str | None] = dict(SECURITY)
    if answer.status == 204 and isinstance(endpoint.returns, Maybe):
        wanted["Content-Type"] = None
    if isinstance(endpoint.returns, Stream):
        wanted["Content-Type"] = EVENT_STREAM
    assert {name: answer.headers.get(name) for name in wanted} == wanted
    assert answer.headers["X-OAuth-Scopes"] == "*"
    assert answer.headers["X-Accepted-OAuth-Scopes"] == (",".join(endpoint.scopes) or "*")
    assert int(answer.headers["X-RateLimit-Limit"]) == endpoint.rate.calls
    kept = f"max-age={endpoint.cache_seconds}, s-maxage={endpoint.cache_seconds}"
    assert kept in answer.headers["Cache-Control"]
    assert ("no-store" in answer.headers["Cache-Control"]) == (endpoint.cache_seconds == 0)


@pytest.mark.parametrize("endpoint", reading, ids=lambda e: e.name)
async def test_many_ways_to_ask(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    await become_welcome(endpoint, client, roost, account)
    path, query = await sample_path(endpoint, client, roost, account), sample_query(endpoint)
    whole = f"{path}?{query}" if query else path
    answer = await client.send("GET", whole)
    assert answer.status == 200 or (answer.status == 204 and isinstance(endpoint.returns, Maybe))
    for other in (f"{path}/?{query}", f"{path}?page=1&page_size=100", f"{path}?x=%00&y"):
        assert (await client.send("GET", f"{other}&{query}")).raw == answer.raw
    body = {"Content-Type": "application/json"}
    assert (await client.send("GET", whole, data=b"{}", headers=body)).raw == answer.raw
    await _is_versioned(endpoint, client, whole, answer)
    head = await client.send("HEAD", whole)
    assert (head.status, head.raw) == (answer.status, b"")
    if answer.status == 200:
        assert head.headers["Content-Length"] == str(len(answer.raw))


async def _is_versioned(endpoint: Endpoint, client: Client, path: str, answer: Answer) -> None:
    """Whoever has the answer is not sent it again."""
    if isinstance(endpoint.returns, Stream) or answer.status == 204:
        assert "ETag" not in answer.headers
        return
    tag = answer.headers["ETag"]
    for method, known in (("GET", tag), ("HEAD", tag), ("GET", f'"x", W/{tag}'), ("GET", "*")):
        same = await client.send(method, path, headers={"If-None-Match": known})
        assert (same.status, same.raw, same.headers["ETag"]) == (304, b"", tag)
    other = await client.send("GET", path, headers={"If-None-Match": '"x"'})
    assert (other.status, other.raw) == (200, answer.raw)


@pytest.mark.parametrize(
    "endpoint", [e for e in ENDPOINTS if path_params(e.path)], ids=lambda e: e.name
)
async def test_odd_ids_name_nothing(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    """Whatever is sent along."""
    await become_welcome(endpoint, client, roost, account)
    for odd in ODD:
        path = fill(endpoint, repeat(odd))
        answer = await client.send(endpoint.method, path)
        assert answer.status in (404, 405), (odd, answer.body)
        assert answer.body["errors"]


UNFIT = (
    "The transfer is not pending",
    "Backups are not enabled.",
    "compute_id is not valid",
    "Compute is not running.",
    "id is not valid",
    "Payments with third parties are disabled",
    "The default payment method cannot be deleted; make another one default",
    "Must name each interface of the config once",
    "Text messages are not available here",
    "The bucket is not empty",
    "The code is wrong or has expired: ask for another one",
    "There is no upgrade for the service plan of this Compute.",
    "Volume is not attached.",
    "Invalid Compute ID 999999999",
)
"""What examples are refused for that mean other things than the samples."""


@pytest.mark.spec("A service empty")
@pytest.mark.parametrize(
    "endpoint",
    [e for e in ENDPOINTS if e.returns is None],
    ids=lambda e: e.name,
)
async def test_nothing_to_say(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    path = await sample_path(endpoint, client, roost, account)
    answer = await knock(endpoint, client, path)
    if answer.status == 400:
        assert answer.problems[0][1] in UNFIT
    else:
        assert (answer.status, answer.raw) == (200, b"{}")


def test_nothing_secret_is_cached() -> None:
    """Only what everybody may read may be kept, and only for a while."""
    kept = [e for e in reading if e.cache_seconds]
    assert [e.name for e in kept if e.scopes or not e.public or e.cache_seconds > 900] == []


def test_only_lists_are_filtered() -> None:
    assert [e.name for e in reading if e.filters and not isinstance(e.returns, Page)] == []
