"""The lab of the server of a state, as a program beside it calls it: with the operator's token."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import aiohttp
import orjson
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from roost.app.first_start import TOKEN_FILE
from roost.app.lab.routes import ClockRow, EngineRows, FaultRows, LatencyRows, MessageRows
from roost.app.served import is_served, last_served, near
from roost.errors import OperatorError
from roost.threads import DISK

_TIMEOUT = aiohttp.ClientTimeout(total=30)
_OK = 200
R = TypeVar("R")

_CLOCK = TypeAdapter(ClockRow)
_ENGINES = TypeAdapter(EngineRows)
_LATENCY = TypeAdapter(LatencyRows)
_FAULTS = TypeAdapter(FaultRows)
_MESSAGES = TypeAdapter(MessageRows)


class _Problem(BaseModel):
    reason: str
    field: str | None = None


class _Refusal(BaseModel):
    errors: list[_Problem]


@dataclass(frozen=True, slots=True)
class LabCaller:
    """All methods raise OperatorError where the server does not do it."""

    state: Path

    async def clock(self) -> ClockRow:
        return await self._read("/clock", _CLOCK)

    async def engines(self) -> EngineRows:
        return await self._read("/engines", _ENGINES)

    async def latency(self) -> LatencyRows:
        return await self._read("/latency", _LATENCY)

    async def faults(self) -> FaultRows:
        return await self._read("/faults", _FAULTS)

    async def messages(self) -> MessageRows:
        return await self._read("/messages", _MESSAGES)

    async def change(
        self, method: str, path: str, body: Mapping[str, JsonValue] | None = None
    ) -> None:
        """A request below `/lab`, of docs/lab.md."""
        await self._ask(method, path, body)

    async def _read(self, path: str, adapter: TypeAdapter[R]) -> R:
        try:
            return adapter.validate_json(await self._ask("GET", path, None))
        except ValidationError as error:
            raise OperatorError(f"the server's lab is of another version: {path}") from error

    async def _ask(self, method: str, path: str, body: Mapping[str, JsonValue] | None) -> bytes:
        server, token = await DISK.run(self._find)
        url, headers = near(server, f"/lab{path}"), {"Authorization": f"Bearer {token}"}
        data = None if body is None else orjson.dumps(body)
        try:
            # Of this machine: the names of its certificate may be others.
            async with (
                aiohttp.ClientSession(headers=headers, timeout=_TIMEOUT) as session,
                session.request(method, url, data=data, ssl=False) as response,
            ):
                status, answer = response.status, await response.read()
        except (TimeoutError, aiohttp.ClientError) as error:
            raise OperatorError(str(error) or type(error).__name__) from error
        if status != _OK:
            raise OperatorError(_why(status, answer))
        return answer

    def _find(self) -> tuple[str, str]:
        """Where the server listens, and the operator's token."""
        served = last_served(self.state)
        if served is None or served.url is None or not is_served(self.state):
            raise OperatorError("no server of this state runs")
        try:
            return served.url, (self.state / TOKEN_FILE).read_text().strip()
        except OSError as error:
            raise OperatorError(f"the operator's token can't be read: {error}") from error


def _why(status: int, answer: bytes) -> str:
    try:
        errors = _Refusal.model_validate_json(answer).errors
    except ValidationError:
        return f"the server answers {status}"
    return "; ".join(
        each.reason if each.field is None else f"{each.field}: {each.reason}" for each in errors
    )
