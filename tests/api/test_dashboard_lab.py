"""The lab among the operator's pages: only where the server has one, and doing what it does."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from roost.app.roost import Roost
from roost.app.served import serving
from roost.dashboard.desk import Desk
from roost.dashboard.made import LAB
from tests.support.lab import Lab, running_lab
from tests.support.operator import do, outside_of

MARKER = "<script>alert(1)</script>"


@pytest.fixture
async def lab(tmp_path: Path, database_url: str) -> AsyncIterator[Lab]:
    async with running_lab(tmp_path, database_url) as lab:
        yield lab


@pytest.fixture
def at_work(lab: Lab) -> Iterator[None]:
    """As `roost serve` notes it."""
    with serving(lab.running.roost.settings) as opened:
        opened(lab.running.url)
        yield


@pytest.fixture
async def operator(lab: Lab) -> AsyncIterator[httpx.AsyncClient]:
    roost = lab.running.roost
    async with outside_of(Desk(roost.settings, roost.store)) as (browser, entry):
        await browser.post("/enter", data={"key": entry.key})
        yield browser


@pytest.mark.usefixtures("at_work")
async def test_the_lab_at_hand(lab: Lab, operator: httpx.AsyncClient) -> None:
    """Time, latencies and faults; markers are shown as what they are."""
    page = await operator.get("/lab")
    assert page.status_code == HTTPStatus.OK
    assert '<a href="/lab/local">local</a>' in page.text
    assert '<a href="/lab/dns">dns</a>' in page.text
    assert (await do(operator, "/lab", "leap", by="A week")).status_code == HTTPStatus.SEE_OTHER
    assert lab.running.roost.clock.offset == timedelta(weeks=1)
    assert "7 days, 0:00:00" in (await operator.get("/lab")).text
    answer = await do(operator, "/lab", "set", to="2000-01-01T00:00:00")
    assert (answer.status_code, "only moves forwards" in answer.text) == (400, True)
    answer = await do(operator, "/lab", "leap", by="A century")
    assert (answer.status_code, "choose one" in answer.text) == (400, True)

    for path, operation in (("/lab/local", "start"), ("/lab/dns", "put_zone")):
        form = {"operation": operation, "always": "yes", "times": "", "reason": MARKER}
        assert (await do(operator, path, "fault", **form)).status_code == HTTPStatus.SEE_OTHER
        latency = {"operation": operation, "seconds": "1.5"}
        assert (await do(operator, path, "latency", **latency)).status_code == HTTPStatus.SEE_OTHER
        shown = (await operator.get(path)).text
        assert ("&lt;script&gt;" in shown, MARKER in shown) == (True, False)
    assert MARKER not in (await operator.get("/lab")).text
    faults = (await lab.get("/faults"))["engines"]
    assert {(each["region"], each["operation"], each["times"]) for each in faults} == {
        ("local", "start", None),
        ("dns", "put_zone", None),
    }
    slow = (await lab.get("/latency"))["latency"]
    assert {each["region"] for each in slow if each["seconds"] == 1.5} == {"local", "dns"}
    assert (await do(operator, "/lab", "latency", seconds="0")).status_code == HTTPStatus.SEE_OTHER
    assert {each["seconds"] for each in (await lab.get("/latency"))["latency"]} == {0}

    job = {"step": "compute_boot: start", "undo": "no", "point": "before_step", "effect": "fail"}
    form = {**job, "times": "2", "reason": "planned"}
    assert (await do(operator, "/lab", "fault", **form)).status_code == HTTPStatus.SEE_OTHER
    [planned] = (await lab.get("/faults"))["jobs"]
    assert (planned["kind"], planned["times"]) == ("compute_boot", 2)
    for times in ("x", "nan", "0", "1.5", "1e30"):
        answer = await do(operator, "/lab", "fault", **{**form, "times": times})
        assert (answer.status_code, "imes: " in answer.text) == (400, True), times
    assert (await do(operator, "/lab", "mend")).status_code == HTTPStatus.SEE_OTHER
    assert await lab.get("/faults") == {"engines": [], "jobs": []}
    answer = await operator.get("/lab/nowhere")
    assert (answer.status_code, "no region nowhere" in answer.text) == (404, True)


async def test_without_its_server(operator: httpx.AsyncClient) -> None:
    answer = await operator.get("/lab")
    assert (answer.status_code, "no server of this state runs" in answer.text) == (400, True)


async def test_without_a_lab(roost: Roost) -> None:
    """There are no such pages, and none in the menu."""
    assert not roost.settings.lab
    async with outside_of(Desk(roost.settings, roost.store)) as (browser, entry):
        await browser.post("/enter", data={"key": entry.key})
        assert 'href="/lab"' not in (await browser.get("/accounts")).text
        for page in LAB:
            path = page.path.replace("{region}", "local")
            assert (await browser.get(path)).status_code == HTTPStatus.NOT_FOUND
