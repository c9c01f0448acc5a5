"""Files of ours that browsers load: kept compressed, and asked for again with each release."""

import asyncio
import gzip
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

from roost.errors import not_found
from roost.threads import COMPUTING

_LIBRARIES = files("roost.web") / "libraries"
LIBRARIES = ("scalar.js", "xterm.js", "xterm.css", "addon-fit.js", "uplot.js", "uplot.css")


def library(name: str) -> Traversable:
    """A file of a library that `libraries.json` pins. It need not be there: a checkout has it when
    it was set up, and a wheel when it was built of such a one."""
    return _LIBRARIES / name


def missing_libraries() -> list[str]:
    """Files that some page will lack."""
    return [name for name in LIBRARIES if not library(name).is_file()]


@dataclass(frozen=True, slots=True)
class _File:
    plain: bytes
    packed: bytes
    etag: str

    @classmethod
    def of(cls, content: bytes) -> "_File":
        etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        return cls(content, gzip.compress(content, 6), etag)


class StaticFile:
    """An endpoint of Starlette for a file that is made once, off the event loop."""

    def __init__(
        self, make: Callable[[], bytes], media_type: str, headers: Mapping[str, str]
    ) -> None:
        self._make = make
        self._media_type = media_type
        self._headers = headers
        self._making = asyncio.Lock()
        self._file: _File | None = None

    async def get(self, request: Request) -> Response:
        """404 while there is no such file."""
        file = await self._load()
        # The next release has other files under the same names: browsers ask whether they do.
        known = {
            **self._headers,
            "ETag": file.etag,
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=known)
        if "gzip" in request.headers.get("accept-encoding", ""):
            packed = {**known, "Content-Encoding": "gzip"}
            return Response(file.packed, media_type=self._media_type, headers=packed)
        return Response(file.plain, media_type=self._media_type, headers=known)

    async def _load(self) -> _File:
        async with self._making:
            if self._file is None:
                try:
                    self._file = await COMPUTING.run(lambda: _File.of(self._make()))
                except FileNotFoundError:
                    raise not_found() from None
            return self._file
