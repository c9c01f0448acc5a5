"""What answers signed URLs of a simulated region: enough of S3 for files that are put, by parts
too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import TestServer
from defusedxml import ElementTree


@dataclass
class AnsweringS3:
    """Signatures are not looked at."""

    objects: dict[str, bytes] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    """Their Content-Types."""
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    """Parts of those that have begun."""
    refusal: tuple[int, str, str] | None = None
    """Status, code and message of what is answered to whoever puts something, before it comes."""
    begun: int = 0
    asked: list[str] = field(default_factory=list)
    """The methods of all requests."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.method)
        name = request.match_info["name"]
        upload = request.query.get("uploadId")
        if request.method == "PUT":
            return await self._put(request, name)
        if upload is None:
            self.begun += 1
            upload = f"upload-{self.begun}"
            self.uploads[upload] = {}
            self.kinds[name] = request.headers["Content-Type"]
            return _xml("InitiateMultipartUploadResult", UploadId=upload)
        if upload not in self.uploads:
            return _xml("Error", 404, Code="NoSuchUpload", Message="There is no such upload")
        parts = self.uploads.pop(upload)
        if request.method == "POST":
            sent = ElementTree.fromstring(await request.read())
            etags = [each.text for each in sent.iterfind("Part/ETag")]
            assert etags == [f'"{n}"' for n in sorted(parts)]
            self.objects[name] = b"".join(parts[n] for n in sorted(parts))
            return _xml("CompleteMultipartUploadResult")
        return web.Response(status=204)

    async def _put(self, request: web.Request, name: str) -> web.StreamResponse:
        part, upload = request.query.get("partNumber"), request.query.get("uploadId")
        body = await request.read()
        if upload is not None and upload not in self.uploads:
            return _xml("Error", 404, Code="NoSuchUpload", Message="There is no such upload")
        if upload is not None and part is not None:
            self.uploads[upload][int(part)] = body
        else:
            self.objects[name] = body
            self.kinds[name] = request.headers["Content-Type"]
        return web.Response(headers={"ETag": f'"{part or 1}"'})

    async def expect(self, request: web.Request) -> web.StreamResponse | None:
        """Before a body is sent."""
        if self.refusal is not None:
            status, code, message = self.refusal
            return _xml("Error", status, Code=code, Message=message)
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return None


def _xml(tag: str, status: int = 200, **texts: str) -> web.Response:
    inner = "".join(f"<{name}>{text}</{name}>" for name, text in texts.items())
    return web.Response(status=status, text=f"<{tag}>{inner}</{tag}>", content_type="text/xml")


@asynccontextmanager
async def answering_s3() -> AsyncIterator[tuple[AnsweringS3, str]]:
    """And its URL."""
    s3, app = AnsweringS3(), web.Application(client_max_size=1 << 30)
    app.router.add_route("*", r"/{bucket}/{name:[\s\S]*}", s3.answer, expect_handler=s3.expect)
    async with TestServer(app) as server:
        yield s3, str(server.make_url("")).rstrip("/")
