"""What users see of work that fails on its host, and of work that is tried again."""

import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from roost.app.roost import Roost
from roost.core.engine import FullError
from roost.resources.compute.disk_engine import DiskSpec
from tests.support.client import Client, Json, until
from tests.support.disks import engine_of
from tests.support.instances import INSTANCES, create_body, made, settled

_FULL = "The disk could not be made: the host's disk is full"


async def _event(client: Client, compute_id: int, action: str) -> Json:
    events = (await client.get("/account/events"))["data"]
    return next(
        event
        for event in events
        if event["action"] == action and event["entity"]["id"] == compute_id
    )


async def test_a_create_on_a_full_host_fails_at_once_and_works_later(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[DiskSpec] = []

    async def refuse(disk: DiskSpec) -> None:
        calls.append(disk)
        raise FullError(_FULL)

    with monkeypatch.context() as patch:
        patch.setattr(engine_of(roost).disks, "make", refuse)
        row = await client.post(INSTANCES, create_body(booted=True))
        assert (await settled(client, row["id"]))["status"] == "offline"
    assert len(calls) == 1
    event = await _event(client, row["id"], "compute_create")
    assert (event["status"], event["message"]) == ("failed", _FULL)
    await client.post(f"{INSTANCES}/{row['id']}/boot")
    assert (await settled(client, row["id"]))["status"] == "running"


async def test_the_reason_is_shown_while_it_is_retried(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = engine_of(roost).plan
    await plan.fail("disk_make", "The rack is dark")
    row = await client.post(INSTANCES, create_body())
    event = await until(
        lambda: _event(client, row["id"], "compute_create"), lambda event: event["message"]
    )
    assert (event["status"], event["message"]) == ("started", "The rack is dark")
    await plan.mend("disk_make")
    await settled(client, row["id"])
    event = await _event(client, row["id"], "compute_create")
    assert (event["status"], event["message"]) == ("finished", "")


async def test_the_log_tells_what_was_done_to_an_instance(client: Client) -> None:
    with capture_logs(processors=[merge_contextvars]) as logs:
        row = await made(client)
        resource = f"compute:{row['id']}"

        async def told() -> list[tuple[object, ...]]:
            return [
                (line["event"], line["job_kind"], line.get("status"))
                for line in logs
                if line.get("resource") == resource
            ]

        lines = await until(told, lambda found: len(found) >= 2)
    assert lines == [
        ("job_started", "compute_create", None),
        ("job_ended", "compute_create", "done"),
    ]
    assert all("job" in line for line in logs if line.get("resource") == resource)
