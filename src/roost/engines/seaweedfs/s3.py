"""Calls of S3 with the operator's own key."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from roost.core.engine import EngineError
from roost.engines.seaweedfs.http import Answer, send
from roost.resources.object_storage.engine import Signature

if TYPE_CHECKING:
    from roost.engines.seaweedfs.signing import Signer

_SAFE = "/~"
"""Characters of a path that signatures take as they are, beside letters, digits and `-._`."""


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
        answer = await self.ask(method, path, query, body)
        refused = answer.code or str(answer.status) if answer.status >= 400 else None
        if refused is not None and refused not in accepts:
            raise EngineError(f"The object storage refuses: {refused}")
        return answer

    async def ask(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: str = ""
    ) -> Answer:
        """Whatever the answer is. EngineError when none comes."""
        url = self._url(path, query)
        sent = body.encode()
        return await send(method, url, sent, self._signer().headers(method, url, sent))

    def sign(self, signature: Signature) -> str:
        """A URL that whoever has it may use for so long."""
        url = self._url(f"{signature.bucket}/{signature.name}", signature.query)
        return self._signer().url(signature.method, url, signature.seconds, signature.content_type)

    def _url(self, path: str, query: Mapping[str, str] | None) -> str:
        asked = f"?{urlencode(query, quote_via=quote)}" if query else ""
        return f"{self.url}/{quote(path, safe=_SAFE)}{asked}"

    def _signer(self) -> "Signer":
        from roost.engines.seaweedfs.signing import Signer

        return Signer(self.access_key, self.secret_key)
