"""The HTTP face of the lab (docs/lab.md)."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import IO, TypeVar

import orjson
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from typing_extensions import TypedDict

from roost.app.lab import faults, state
from roost.app.lab.bodies import MoveClock, PlanEngineFault, PlanJobFault, SetLatency
from roost.app.lab.engines import EngineFaultRow, EngineRow, LatencyRow
from roost.app.lab.faults import JobFaultRow
from roost.app.lab.lab import Lab
from roost.engines.messages.kept import KeptMessages
from roost.errors import ApiError, Problem, invalid
from roost.resources.phone.engine import Messages
from roost.web.bodies import Body, parse_body
from roost.web.site import REFUSALS

_CHUNK = 1 << 18
_READ_SECONDS = 20
"""For a whole JSON body, and for each piece of a state."""

B = TypeVar("B", bound=Body)


class ClockRow(TypedDict):
    now: str
    offset_seconds: float


class EngineRows(TypedDict):
    engines: list[EngineRow]


class LatencyRows(TypedDict):
    latency: list[LatencyRow]


class FaultRows(TypedDict):
    engines: list[EngineFaultRow]
    jobs: list[JobFaultRow]


class MessageRow(TypedDict):
    number: str
    text: str


class MessageRows(TypedDict):
    messages: list[MessageRow]


Row = ClockRow | EngineRows | LatencyRows | FaultRows | MessageRows


class ClockEndpoint(HTTPEndpoint):
    async def get(self, request: Request) -> Response:
        return _show_clock(await _enter(request))

    async def put(self, request: Request) -> Response:
        lab = await _enter(request)
        body = await _read(lab, request, MoveClock)
        if body.now is not None and body.advance is None:
            await lab.clock.move_to(body.now)
        elif body.advance is not None and body.now is None:
            await lab.clock.advance_by(body.advance)
        else:
            raise invalid("Either now or advance is required")
        return _show_clock(lab)


class EnginesEndpoint(HTTPEndpoint):
    async def get(self, request: Request) -> Response:
        lab = await _enter(request)
        return _answer({"engines": lab.engines.listed})


class LatencyEndpoint(HTTPEndpoint):
    async def get(self, request: Request) -> Response:
        return await _show_latency(await _enter(request))

    async def put(self, request: Request) -> Response:
        lab = await _enter(request)
        await lab.engines.set_latency(await _read(lab, request, SetLatency))
        return await _show_latency(lab)


class FaultsEndpoint(HTTPEndpoint):
    async def get(self, request: Request) -> Response:
        return await _show_faults(await _enter(request))

    async def delete(self, request: Request) -> Response:
        lab = await _enter(request)
        await lab.engines.drop_faults()
        lab.roost.faults.clear()
        return await _show_faults(lab)


class EngineFaultsEndpoint(HTTPEndpoint):
    async def post(self, request: Request) -> Response:
        lab = await _enter(request)
        await lab.engines.plan_fault(await _read(lab, request, PlanEngineFault))
        return await _show_faults(lab)


class JobFaultsEndpoint(HTTPEndpoint):
    async def post(self, request: Request) -> Response:
        lab = await _enter(request)
        body = await _read(lab, request, PlanJobFault)
        if lab.worker is None:
            raise invalid("This process runs no jobs")
        faults.plan_fault(lab.roost.faults, lab.roost.queue.kinds, body)
        return await _show_faults(lab)


class MessagesEndpoint(HTTPEndpoint):
    async def get(self, request: Request) -> Response:
        lab = await _enter(request)
        sender = lab.roost.services.get(Messages).sender
        kept = sender.messages if isinstance(sender, KeptMessages) else ()
        return _answer({"messages": [{"number": m.number, "text": m.text} for m in kept]})


class ResetEndpoint(HTTPEndpoint):
    async def post(self, request: Request) -> Response:
        lab = await _enter(request)
        await state.reset(lab)
        return _show_clock(lab)


class SaveEndpoint(HTTPEndpoint):
    async def post(self, request: Request) -> Response:
        lab = await _enter(request)
        file = tempfile.TemporaryFile(dir=lab.roost.settings.state)  # noqa: SIM115
        try:
            await state.save(lab, file)
        except BaseException:
            file.close()
            raise
        headers = {
            "Content-Length": str(file.tell()),
            "Content-Disposition": 'attachment; filename="roost-state.zip"',
        }
        return StreamingResponse(_send(file), media_type="application/zip", headers=headers)


class LoadEndpoint(HTTPEndpoint):
    async def post(self, request: Request) -> Response:
        lab = await _enter(request)
        with tempfile.TemporaryFile(dir=lab.roost.settings.state) as file:
            async for chunk in _pieces(request):
                file.write(chunk)
            await state.load(lab, file)
        return _show_clock(lab)


def mount(lab: Lab) -> Mount:
    """Everything below `/lab`."""
    app = Starlette(
        routes=[
            Route("/clock", ClockEndpoint),
            Route("/engines", EnginesEndpoint),
            Route("/latency", LatencyEndpoint),
            Route("/faults", FaultsEndpoint),
            Route("/faults/engines", EngineFaultsEndpoint),
            Route("/faults/jobs", JobFaultsEndpoint),
            Route("/messages", MessagesEndpoint),
            Route("/reset", ResetEndpoint),
            Route("/save", SaveEndpoint),
            Route("/load", LoadEndpoint),
        ],
        exception_handlers=REFUSALS,
    )
    app.state.lab = lab
    return Mount("/lab", app=app)


async def _enter(request: Request) -> Lab:
    """The lab, when the caller may use it; ApiError 401 or 403 otherwise."""
    lab = request.app.state.lab
    assert isinstance(lab, Lab)
    await lab.admit(request.headers.get("authorization"))
    return lab


async def _read(lab: Lab, request: Request, model: type[B]) -> B:
    raw = b""
    async for piece in _pieces(request):
        raw += piece
        if len(raw) > lab.roost.settings.max_body:
            raise invalid("The body is too large")
    return parse_body(model, raw, lab.roost.services)


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """The body as it comes; raises 408 when nothing comes for a while."""
    pieces = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(_READ_SECONDS):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise ApiError(408, [Problem("Request Timeout")]) from None
        yield piece


def _show_clock(lab: Lab) -> Response:
    offset = lab.clock.offset.total_seconds()
    return _answer({"now": lab.clock.seconds().isoformat(), "offset_seconds": offset})


async def _show_latency(lab: Lab) -> Response:
    return _answer({"latency": await lab.engines.latencies()})


async def _show_faults(lab: Lab) -> Response:
    jobs = faults.list_faults(lab.roost.faults)
    return _answer({"engines": await lab.engines.faults(), "jobs": jobs})


def _answer(row: Row) -> Response:
    return Response(orjson.dumps(row), media_type="application/json")


def _send(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk
