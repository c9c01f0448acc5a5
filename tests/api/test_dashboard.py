"""The operator's pages: who is let in, what they show, and what they do."""

import asyncio
import re
from collections.abc import AsyncIterator
from http import HTTPStatus

import httpx
import pytest

from roost.app.operator import drains
from roost.app.roost import Roost
from roost.dashboard.desk import Desk
from roost.dashboard.entry import Entry
from roost.dashboard.made import PAGES
from roost.errors import OperatorError
from roost.jobs.listing_queries import Wanted, list_jobs
from roost.settings import MAIN_HOST
from tests.api.conftest import Account
from tests.support.browser import open_browser
from tests.support.client import Client, until
from tests.support.instances import made
from tests.support.oauth import PASSWORD, give_password
from tests.support.operator import do, outside_of
from tests.support.server import RunningRoost

MARKER = "<script>alert(1)</script>"


@pytest.fixture
def desk(roost: Roost) -> Desk:
    return Desk(roost.settings, roost.store)


@pytest.fixture
async def outside(desk: Desk) -> AsyncIterator[tuple[httpx.AsyncClient, Entry]]:
    """A browser that has not entered, and the link."""
    async with outside_of(desk) as found:
        yield found


@pytest.fixture
async def operator(outside: tuple[httpx.AsyncClient, Entry]) -> httpx.AsyncClient:
    """A browser that has."""
    browser, entry = outside
    answer = await browser.post("/enter", data={"key": entry.key})
    assert (answer.status_code, answer.headers["location"]) == (HTTPStatus.SEE_OTHER, "/")
    return browser


async def test_a_link_is_good_once(outside: tuple[httpx.AsyncClient, Entry]) -> None:
    browser, entry = outside
    key = entry.key
    assert (await browser.get("/")).status_code == HTTPStatus.UNAUTHORIZED
    for _ in range(2):
        assert (await browser.get("/enter", params={"key": key})).status_code == HTTPStatus.OK
    assert (await browser.post("/enter", data={"key": "0" * 64})).status_code == 404
    answer = await browser.post("/enter", data={"key": key})
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert (await browser.get("/accounts")).status_code == HTTPStatus.OK
    assert (await browser.post("/enter", data={"key": key})).status_code == 404
    assert entry.key != key
    await do(browser, "/accounts", "")
    page = await browser.get("/accounts")
    csrf = re.search('name="csrf" value="([0-9a-f]+)"', page.text)
    assert csrf is not None
    await browser.post("/leave", data={"csrf": csrf[1]})
    assert (await browser.get("/accounts")).status_code == HTTPStatus.UNAUTHORIZED


async def test_a_session_of_a_tenant_is_none_here(
    outside: tuple[httpx.AsyncClient, Entry],
    running: RunningRoost,
    roost: Roost,
    account: Account,
) -> None:
    """And the tenants' server has none of these pages."""
    browser, entry = outside
    await give_password(roost.store, account.username)
    async with open_browser(running.url) as tenant:
        await tenant.log_in(account.username, PASSWORD)
        theirs = tenant.cookie("roost_session") or ""
        assert (await tenant.get("/accounts")).status == HTTPStatus.NOT_FOUND
    for value in (theirs, "", entry.key):
        for name in ("roost_operator_8090", "roost_session"):
            for page in PAGES:
                path = page.path.replace("{id}", "1").replace("{name}", "main")
                cookies = {"cookie": f"{name}={value}"}
                answer = await browser.get(path, headers=cookies)
                assert answer.status_code == HTTPStatus.UNAUTHORIZED, path


async def test_another_sites_name_or_form_does_nothing(
    operator: httpx.AsyncClient, account: Account
) -> None:
    answer = await operator.get("/", headers={"host": "roost.evil.example:8090"})
    assert answer.status_code == HTTPStatus.FORBIDDEN
    path = f"/accounts/{account.id}"
    form = {"reason": "none", "confirm": str(account.id)}
    for csrf in ("", "0" * 64):
        answer = await operator.post(f"{path}?do=suspend", data={"csrf": csrf, **form})
        assert answer.status_code == HTTPStatus.BAD_REQUEST
    page = await operator.get(path)
    held = re.search('name="csrf" value="([0-9a-f]+)"', page.text)
    assert held is not None
    answer = await operator.post(
        f"{path}?do=suspend",
        data={"csrf": held[1], **form},
        headers={"sec-fetch-site": "same-site"},
    )
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert "<dt>Suspended</dt>\n<dd><span" in (await operator.get(path)).text


async def test_pages_show_what_there_is_and_nothing_alive(
    operator: httpx.AsyncClient, client: Client, account: Account
) -> None:
    await client.post("/support/tickets", {"summary": MARKER, "description": MARKER})
    instance = await made(client)
    paths = [page.path for page in PAGES if "{" not in page.path and page.path != "/engines"]
    paths += [f"/accounts/{account.id}", "/hosts/main", "/jobs?status=all", "/accounts?by=vcpus"]
    paths += [f"/events?account={account.id}", f"/jobs?account={account.id}&status=all"]
    shown = {path: await operator.get(path) for path in paths}
    assert {answer.status_code for answer in shown.values()} == {HTTPStatus.OK}
    for answer in shown.values():
        assert "<script>alert" not in answer.text
        assert "unsafe" not in answer.headers["content-security-policy"]
    assert "&lt;script&gt;alert(1)" in shown[f"/events?account={account.id}"].text
    assert account.username in shown[f"/events?account={account.id}"].text
    assert f"compute:{instance['id']}" in shown[f"/jobs?account={account.id}&status=all"].text


async def test_an_account_is_limited_suspended_and_goes_on(
    operator: httpx.AsyncClient, account: Account
) -> None:
    path = f"/accounts/{account.id}"
    assert (await do(operator, path, "limit", limit="volumes", amount="7")).status_code == 303
    assert '<td data-title="Allowed">7</td>' in (await operator.get(path)).text
    for amount in ("-1", "0" * 20 + "9" * 20):
        refused = await do(operator, path, "limit", limit="volumes", amount=amount)
        assert (refused.status_code, "must be 0 to" in refused.text) == (400, True)
    refused = await do(operator, path, "suspend", reason="a breach", confirm="1")
    assert (refused.status_code, f"Type {account.id}" in refused.text) == (400, True)
    form = {"reason": "a breach", "confirm": str(account.id)}
    assert (await do(operator, path, "suspend", **form)).status_code == 303
    assert "<dt>Suspended</dt>\n<dd>operator</dd>" in (await operator.get(path)).text
    assert (await do(operator, path, "resume")).status_code == 303
    refused = await do(operator, path, "resume")
    assert (refused.status_code, "is not suspended" in refused.text) == (400, True)


async def test_a_job_that_is_over_says_so(
    operator: httpx.AsyncClient, client: Client, roost: Roost, account: Account
) -> None:
    await made(client)
    wanted = Wanted(statuses=("done",), account_id=account.id, limit=1)
    [job] = await until(lambda: list_jobs(roost.store, wanted), bool)
    path = f"/jobs/{job.id}"
    assert job.kind in (await operator.get(path)).text
    for act in ("retry", "cancel"):
        refused = await do(operator, path, act, confirm=str(job.id))
        assert (refused.status_code, "is done already" in refused.text) == (400, True)


@pytest.mark.parametrize(
    "path", ["/jobs/0", "/jobs/99999999999999999999", "/jobs/x", "/hosts/none", "/accounts/999999"]
)
async def test_what_is_not_there(operator: httpx.AsyncClient, path: str) -> None:
    answer = await operator.get(path)
    assert answer.status_code in (400, 404)
    assert "There" in answer.text or "there" in answer.text


@pytest.mark.parametrize("account", ["x", "0", "0" * 20 + "9" * 20])
async def test_an_id_in_a_filter_is_one(operator: httpx.AsyncClient, account: str) -> None:
    answer = await operator.get("/jobs", params={"account": account})
    assert (answer.status_code, "account: must be a number" in answer.text) == (400, True)
    assert (await operator.get("/jobs?kind=%00")).status_code == HTTPStatus.OK


async def test_a_drain_goes_on_beside_the_pages(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drain(
        _store: object, _settings: object, name: str, _at_once: int, say: drains.Say, *, live: bool
    ) -> int:
        say(f"1 of 1: live {live}")
        raise OperatorError("the end")

    monkeypatch.setattr(drains, "drain", drain)
    desk.drain("far", 2, live=True)
    with pytest.raises(OperatorError, match="being drained already"):
        desk.drain("far", 2, live=True)
    moving = desk.moving["far"]
    await moving.task
    assert moving.lines == ["1 of 1: live True", "the end"]
    desk.drain("far", 2, live=False)
    await desk.close()


async def test_a_drain_that_is_taken_back_stops(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that fails says so."""

    async def drain(*_what: object, live: bool) -> int:
        if live:
            raise OSError("cut off")
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(drains, "drain", drain)
    desk.drain(MAIN_HOST, 2, live=True)
    await desk.moving[MAIN_HOST].task
    assert desk.moving[MAIN_HOST].lines == ["The drain failed: the log of this command says why."]
    desk.drain(MAIN_HOST, 2, live=False)
    await desk.undrain(MAIN_HOST)
    moving = desk.moving[MAIN_HOST]
    assert (moving.task.cancelled(), moving.lines) == (
        True,
        ["Stopped: the host takes new guests again."],
    )
