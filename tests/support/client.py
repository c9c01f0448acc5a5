"""An API client that holds every exchange against the OpenAPI document."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
from jsonschema_rs import Draft202012, Draft202012Validator, Registry
from yarl import URL

T = TypeVar("T")
_JSON = "application/json"
_SHOWN = 2000
"""Characters of an answer that was not the one that was waited for."""
_DOCUMENT = "urn:openapi"
Json = Any  # An answer as json.loads gives it; the document says what it is.


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Json
    headers: Mapping[str, str]
    raw: bytes

    @property
    def problems(self) -> list[tuple[str | None, str]]:
        """Field and reason of each error; none of a success."""
        errors = self.body["errors"] if self.status >= 400 else ()
        return [(error.get("field"), error["reason"]) for error in errors]


class Contract:
    """The OpenAPI document as a judge of requests and answers."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._registry = Registry([(_DOCUMENT, document)], draft=Draft202012)
        self._validators: dict[tuple[str, ...], Draft202012Validator] = {}
        self._templates = defaultdict[str, list[tuple[str, list[str]]]](list)
        for template in document["paths"]:
            parts = template.split("/")
            self._templates[_area(parts)].append((template, parts))

    def check(self, method: str, path: str, sent: Json, answer: Answer) -> None:
        """Fails when the answer, or a request that was accepted, is not as the document says."""
        template = self._find(path)
        place = ("paths", template or "", method.lower())
        operation = template and self._document["paths"][template].get(place[-1])
        if not operation:
            assert answer.status in (404, 405)
            return
        response, at = self._response(operation["responses"], (*place, "responses"), answer.status)
        if answer.status in (204, 304):
            assert (answer.raw, "content" in response) == (b"", False)
            return
        media_type = answer.headers["Content-Type"]
        assert media_type in response["content"], media_type
        if media_type.endswith("json"):
            self._validate((*at, "content", media_type, "schema"), answer.body)
        body = operation.get("requestBody")
        if answer.status in (200, 202) and body is not None and sent is not None:
            self._validate((*place, "requestBody", "content", _JSON, "schema"), sent)

    def _response(
        self, responses: Json, place: tuple[str, ...], status: int
    ) -> tuple[Json, tuple[str, ...]]:
        """What the document says of a status, and where."""
        key = str(status) if str(status) in responses else "default"
        name = responses[key].get("$ref")
        if name is None:
            return responses[key], (*place, key)
        shared = name.rpartition("/")[2]
        place = ("components", "responses", shared)
        return self._document["components"]["responses"][shared], place

    def _find(self, path: str) -> str | None:
        wanted = path.partition("?")[0].rstrip("/").split("/")
        for template, parts in self._templates[_area(wanted)]:
            if _matches(parts, wanted):
                return template
        return None

    def _validate(self, place: tuple[str, ...], value: Json) -> None:
        """Against the schema at that place in the document."""
        validator = self._validators.get(place)
        if validator is None:
            pointer = "".join(f"/{_escaped(part)}" for part in place)
            schema = {"$ref": f"{_DOCUMENT}#{pointer}"}
            validator = Draft202012Validator(schema, registry=self._registry)
            self._validators[place] = validator
        validator.validate(value)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Of a stream that goes on, what comes first."""
    if response.content_type == "text/event-stream" and response.content_length is None:
        return await response.content.readany()
    return await response.read()


def _escaped(part: str) -> str:
    return quote(part.replace("~", "~0").replace("/", "~1"), safe="~")


def _area(path: list[str]) -> str:
    """The first part below `/v4`."""
    return path[2] if len(path) > 2 else ""


def _matches(template: list[str], path: list[str]) -> bool:
    tail = template[-1] in ("{engineId}", "{imageId}", "{kernelId}", "{tagLabel}")
    if len(template) != len(path) and not (tail and len(path) > len(template)):
        return False
    return all(t == p or t.startswith("{") for t, p in zip(template, path, strict=False))


class Client:
    """Speaks as one user; `token` None speaks as nobody."""

    def __init__(self, session: aiohttp.ClientSession, contract: Contract, url: str) -> None:
        self._session = session
        self._contract = contract
        self._url = url
        self.token: str | None = None
        self.headers: Mapping[str, str] = {}
        """Of all requests, beside those of each."""

    def as_user(self, token: str | None) -> "Client":
        client = Client(self._session, self._contract, self._url)
        client.token = token
        return client

    async def send(
        self,
        method: str,
        path: str,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
    ) -> Answer:
        """Any request; the path is below `/v4` and already quoted."""
        sent = {**self.headers, **(headers or {})}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        url = self._url + "/v4" + path
        request = self._session.request(method, URL(url, encoded=True), data=data, headers=sent)
        async with request as response:
            raw = await _body(response)
            parsed = json.loads(raw) if raw and response.content_type.endswith("json") else None
            answer = Answer(response.status, parsed, response.headers, raw)
        if method in ("GET", "POST", "PUT", "DELETE"):
            self._contract.check(method, "/v4" + path, body, answer)
        return answer

    async def get(self, path: str, *, filter: Json = None) -> Json:  # noqa: A002
        headers = {} if filter is None else {"X-Filter": json.dumps(filter)}
        return self._success(await self.send("GET", path, headers=headers))

    async def post(self, path: str, body: Json = None) -> Json:
        return self._success(await self.send("POST", path, {} if body is None else body))

    async def put(self, path: str, body: Json) -> Json:
        return self._success(await self.send("PUT", path, body))

    async def delete(self, path: str) -> Json:
        return self._success(await self.send("DELETE", path))

    @staticmethod
    def _success(answer: Answer) -> Json:
        assert answer.status == 200, answer.body
        return answer.body


async def until(
    probe: Callable[[], Awaitable[T]],
    wanted: Callable[[T], bool],
    seconds: float = 120,
    longest: float = 0.1,
) -> T:
    """Ask again, ever more rarely, until the answer is wanted; TimeoutError after a while, which
    says what the last one was. `longest`: seconds between two questions."""
    pause, seen = 0.01, list[T]()
    try:
        async with asyncio.timeout(seconds) as timer:
            while True:
                seen = [await probe()]
                if wanted(seen[0]):
                    return seen[0]
                await asyncio.sleep(pause)
                pause = min(pause * 1.2, longest)
    except TimeoutError as error:
        if not timer.expired():
            raise
        shown = repr(seen[0])[:_SHOWN] if seen else "nothing"
        raise TimeoutError(f"not within {seconds:g} s; the last answer: {shown}") from error
