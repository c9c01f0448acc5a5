"""An API client that holds every exchange against the OpenAPI document."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
from jsonschema import Draft202012Validator
from yarl import URL

T = TypeVar("T")
_JSON = "application/json"
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
        self._templates = [(path.split("/"), found) for path, found in document["paths"].items()]
        self._validators: dict[int, Draft202012Validator] = {}

    def check(self, method: str, path: str, sent: Json, answer: Answer) -> None:
        """Fails when the answer, or a request that was accepted, is not as the document says."""
        operation = self._find(method, path)
        if operation is None:
            assert answer.status in (404, 405)
            return
        responses = operation["responses"]
        response = self._resolved(responses.get(str(answer.status), responses["default"]))
        if answer.status == 204:
            assert (answer.raw, "content" in response) == (b"", False)
            return
        media_type = answer.headers["Content-Type"]
        assert media_type in response["content"], media_type
        if media_type.endswith("json"):
            self._validate(response["content"][media_type]["schema"], answer.body)
        body = operation.get("requestBody")
        if answer.status in (200, 202) and body is not None and sent is not None:
            self._validate(body["content"][_JSON]["schema"], sent)

    def _resolved(self, response: Json) -> Json:
        name = response.get("$ref")
        if name is None:
            return response
        return self._document["components"]["responses"][name.rpartition("/")[2]]

    def _find(self, method: str, path: str) -> Json | None:
        wanted = path.partition("?")[0].rstrip("/").split("/")
        for template, operations in self._templates:
            if _matches(template, wanted):
                return operations.get(method.lower())
        return None

    def _validate(self, schema: Json, value: Json) -> None:
        key = id(schema)  # Of the document, which stays.
        validator = self._validators.get(key)
        if validator is None:
            whole = {**schema, "components": self._document["components"]}
            validator = self._validators[key] = Draft202012Validator(whole)
        validator.validate(value)


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
        sent = dict(headers or {})
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        url = self._url + "/v4" + path
        request = self._session.request(method, URL(url, encoded=True), data=data, headers=sent)
        async with request as response:
            raw = await response.read()
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
    probe: Callable[[], Awaitable[T]], wanted: Callable[[T], bool], seconds: float = 60
) -> T:
    """Ask again, ever more rarely, until the answer is wanted; TimeoutError after a while."""
    pause = 0.01
    async with asyncio.timeout(seconds):
        while not wanted(found := await probe()):
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, 0.1)
    return found
