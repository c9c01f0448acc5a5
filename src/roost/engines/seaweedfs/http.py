"""Requests to the server, with a client that takes a tenth of a second to load: it is loaded when
there is something to ask, as a cloud without buckets never starts the server."""

from collections.abc import Mapping
from dataclasses import dataclass

from defusedxml import ElementTree
from yarl import URL

from roost.core.engine import EngineError

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    @property
    def code(self) -> str | None:
        """The code of an error, such as `NoSuchBucket`."""
        return ElementTree.fromstring(self.body).findtext("{*}Code") if self.body else None

    def texts(self, tag: str) -> list[str]:
        """The texts of all elements with the tag."""
        return [each.text or "" for each in ElementTree.fromstring(self.body).iterfind(f".//{tag}")]


async def send(
    method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Answer:
    """The URL is sent as it is. EngineError when no answer comes."""
    import aiohttp

    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_SECONDS)) as session,
            session.request(method, URL(url, encoded=True), data=body, headers=headers) as response,
        ):
            return Answer(response.status, await response.read())
    except (aiohttp.ClientError, TimeoutError) as error:
        raise EngineError("The object storage does not answer") from error
