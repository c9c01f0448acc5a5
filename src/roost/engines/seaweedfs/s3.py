"""Calls of S3 with the operator's own key."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import aiohttp
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from defusedxml import ElementTree
from yarl import URL

from roost.core.engine import EngineError

REGION = "us-east-1"
"""Which signatures name; the server takes any."""

_SAFE = "/~"
"""Characters of a path that signatures take as they are, beside letters, digits and `-._`."""
_TIMEOUT = aiohttp.ClientTimeout(total=30)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    @property
    def code(self) -> str | None:
        """Of an error, such as `NoSuchBucket`."""
        return ElementTree.fromstring(self.body).findtext("{*}Code") if self.body else None

    def texts(self, tag: str) -> list[str]:
        """Of all elements with the tag."""
        return [each.text or "" for each in ElementTree.fromstring(self.body).iterfind(f".//{tag}")]


@dataclass(frozen=True, slots=True)
class S3:
    """A server of ours, whose answers can be trusted to be what they seem."""

    url: str
    access_key: str
    secret_key: str

    async def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: str = "",
        *,
        accepts: tuple[str, ...] = (),
    ) -> Answer:
        """EngineError for a refusal, but not for those codes that the caller `accepts`."""
        url = f"{self.url}/{quote(path, safe=_SAFE)}" + (
            f"?{urlencode(query, quote_via=quote)}" if query else ""
        )
        request = AWSRequest(method=method, url=url, data=body.encode())
        credentials = Credentials(self.access_key, self.secret_key)
        S3SigV4Auth(credentials, "s3", REGION).add_auth(request)
        try:
            async with (
                aiohttp.ClientSession(timeout=_TIMEOUT) as session,
                session.request(
                    method,
                    URL(url, encoded=True),
                    data=body.encode(),
                    headers=dict(request.headers.items()),
                ) as response,
            ):
                answer = Answer(response.status, await response.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise EngineError("The object storage does not answer") from error
        refused = answer.code or str(answer.status) if answer.status >= 400 else None
        if refused is not None and refused not in accepts:
            raise EngineError(f"The object storage refuses: {refused}")
        return answer

    def sign(self, method: str, path: str, seconds: int, content_type: str | None) -> str:
        """A URL that whoever has it may use for so long."""
        url = f"{self.url}/{quote(path, safe=_SAFE)}"
        headers = {} if content_type is None else {"Content-Type": content_type}
        request = AWSRequest(method=method, url=url, headers=headers)
        credentials = Credentials(self.access_key, self.secret_key)
        S3SigV4QueryAuth(credentials, "s3", REGION, seconds).add_auth(request)
        return str(request.url)
