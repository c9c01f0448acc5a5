"""One trace from a request through its job to the calls of engines, as a collector is sent it."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from roost.app.traces import TracesError, traces_wanted
from roost.core.engine import EngineError
from roost.engines.simulated.instances import SimulatedInstances
from roost.jobs.listing_queries import Wanted, list_jobs
from roost.settings import Settings
from tests.support.client import Client, Contract, until
from tests.support.collector import FakeCollector, KeptSpan, fake_collector
from tests.support.instances import INSTANCES, create_body
from tests.support.server import RunningRoost, running_roost, simulated

FORGED = "00-11111111111111111111111111111111-2222222222222222-01"


@pytest.fixture
async def collector(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeCollector]:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    async with fake_collector() as collector:
        yield collector


@asynccontextmanager
async def client_of(running: RunningRoost) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Client(session, contract, running.url).as_user(running.token)


def one(spans: list[KeptSpan], name: str) -> KeptSpan:
    (found,) = [span for span in spans if span.name == name]
    return found


async def sent(collector: FakeCollector, name: str) -> KeptSpan:
    """The first span of this name, once the collector has it."""

    async def look() -> list[KeptSpan]:
        return [span for span in collector.spans if span.name == name]

    return (await until(look, bool))[0]


async def test_a_request_its_job_and_its_engine_are_one_trace(
    collector: FakeCollector,
    tmp_path: Path,
    database_url: str,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The request is answered by one process, and its job run by another."""
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=night")
    both = {"traces": f"{collector.url}/", "access_log": True}
    with capture_logs(processors=[merge_contextvars]) as logs:
        async with (
            running_roost(simulated(tmp_path, database_url, **both)) as worker,
            running_roost(simulated(tmp_path, database_url, worker=False, **both)) as api,
            client_of(api) as client,
        ):
            client = client.as_user(worker.token)
            answer = await client.send(
                "POST", INSTANCES, create_body(booted=True), {"traceparent": FORGED}
            )
            compute_id = answer.body["id"]
            request = await sent(collector, f"POST {INSTANCES}")
            await until(
                lambda: client.get(f"{INSTANCES}/{compute_id}"),
                lambda row: row["status"] == "running",
            )
            (listed,) = await list_jobs(worker.roost.store, Wanted(kind="compute_create", limit=2))
    spans = collector.of(request.trace_id)
    assert listed.trace_id == request.trace_id
    assert (request.kind, request.parent_id, request.failed) == ("server", "", False)
    assert request.trace_id not in FORGED
    assert request.attributes == {
        "http.request.method": "POST",
        "http.route": INSTANCES,
        "http.response.status_code": 200,
        "roost.operation": "create_instance",
        "roost.request.id": answer.headers["X-Request-Id"],
        "roost.account.id": request.attributes["roost.account.id"],
        "roost.user.id": request.attributes["roost.user.id"],
    }
    jobs = {span.span_id: span for span in spans if span.kind == "consumer"}
    created = one(spans, "job compute_create")
    assert created.parent_id == request.span_id
    assert created.attributes["roost.job.resource"] == f"compute:{compute_id}"
    assert created.attributes["roost.job.status"] == "done"
    steps = {span.span_id: span for span in spans if span.name.startswith("step ")}
    assert {step.parent_id for step in steps.values()} == jobs.keys()
    assert {step.attributes["roost.verdict"] for step in steps.values()} == {"next"}
    starts = [span for span in spans if span.name == "instances start"]
    assert {start.kind for start in starts} == {"client"}
    assert {start.parent_id for start in starts} <= steps.keys()
    assert starts[-1].attributes == {
        "roost.engine.plane": "instances",
        "roost.engine": "simulated",
    }
    assert collector.resources[0]["service.name"] == "roost"
    assert collector.resources[0]["deployment.environment"] == "night"
    ended = [line for line in logs if line["event"] == "job_ended"]
    assert {line["trace_id"] for line in ended if line["job_kind"] == "compute_create"} == {
        request.trace_id
    }
    lines = [json.loads(line) for line in capfdbinary.readouterr().err.splitlines() if line]
    (line,) = [each for each in lines if each.get("operation") == "create_instance"]
    assert line["trace_id"] == request.trace_id


async def test_faults_are_told_by_their_kind_alone(
    collector: FakeCollector,
    tmp_path: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(engine: SimulatedInstances, *args: object) -> None:
        raise EngineError("a word of a user")

    monkeypatch.setattr(SimulatedInstances, "start", fail)
    settings = simulated(tmp_path, database_url, traces=collector.url)
    async with running_roost(settings) as running, client_of(running) as client:
        await client.post(INSTANCES, create_body(booted=True))
        fault = await sent(collector, "instances start")
        await client.send("PROPFIND", f"/of-a-user?token={client.token}")
        other = await sent(collector, "_OTHER")
    assert (fault.failed, fault.attributes["error.type"]) == (True, "EngineError")
    assert (other.attributes["http.response.status_code"], other.failed) == (404, False)
    for secret in (b"a word of a user", b"of-a-user", b"PROPFIND", running.token.encode()):
        assert secret not in collector.said


@pytest.mark.parametrize("silent", [True, False])
async def test_a_dead_collector_holds_up_nothing(
    silent: bool,
    collector: FakeCollector,
    tmp_path: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More spans than the queue holds; `silent` takes them and does not answer."""
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "30" if silent else "0.2")
    collector.silent = silent
    url = collector.url if silent else "http://127.0.0.1:1"
    settings = simulated(tmp_path, database_url, traces=url)
    with capture_logs() as logs:
        async with running_roost(settings) as running, client_of(running) as client:
            for _ in range(20):
                await client.get("/account")
            row = await client.post(INSTANCES, create_body())
            await until(
                lambda: client.get(f"{INSTANCES}/{row['id']}"),
                lambda it: it["status"] == "offline",
            )
            if not silent:
                await until(lambda: _events(logs), lambda it: "traces_not_sent" in it)
            stopping = time.monotonic()
        assert time.monotonic() - stopping < 25
    assert (await _events(logs)).count("traces_not_sent") == (0 if silent else 1)


async def _events(logs: object) -> list[str]:
    assert isinstance(logs, list)
    return [line["event"] for line in logs]


def test_nothing_of_it_is_imported_when_it_is_off() -> None:
    code = """
import asyncio, sys
import roost.cli.running
from roost.app.traces import keeping_traces
from roost.settings import Settings

async def keep():
    async with keeping_traces(Settings(), {}) as tracer:
        assert tracer is None

asyncio.run(keep())
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize(
    ("traces", "environ", "wanted"),
    [
        (None, {}, False),
        (None, {ENDPOINT: "http://collector:4318"}, True),
        (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector/v1/traces"}, True),
        (None, {"OTEL_TRACES_EXPORTER": "otlp"}, True),
        (None, {"OTEL_TRACES_EXPORTER": "none", ENDPOINT: "http://collector:4318"}, False),
        (None, {"OTEL_SDK_DISABLED": "true", ENDPOINT: "http://collector:4318"}, False),
        ("http://[::1]:4318", {}, True),
        ("http://collector:4318", {"OTEL_SDK_DISABLED": "TRUE"}, False),
    ],
)
def test_who_wants_traces(traces: str | None, environ: dict[str, str], wanted: bool) -> None:
    assert traces_wanted(Settings(traces=traces), environ) is wanted


@pytest.mark.parametrize(
    ("traces", "environ", "said"),
    [
        ("collector:4318", {}, "--traces must be a URL"),
        ("ftp://collector", {}, "--traces must be a URL"),
        ("http://collector:99999", {}, "--traces must be a URL"),
        ("http://me:secret@collector", {}, "--traces must hold no password"),
        ("http://collector?key=secret", {}, "--traces must end with its path"),
        (None, {ENDPOINT: "collector"}, f"{ENDPOINT} must be a URL"),
        (None, {"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER must be otlp or none"),
        (
            "http://collector:4318",
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf",
        ),
    ],
)
def test_settings_that_cannot_be(traces: str | None, environ: dict[str, str], said: str) -> None:
    with pytest.raises(TracesError, match=said) as raised:
        traces_wanted(Settings(traces=traces), environ)
    assert "secret" not in str(raised.value)
