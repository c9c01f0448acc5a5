"""The documentation page and the OpenAPI document's own address."""

import gzip
import json
import re
import zlib
from importlib.resources import files
from pathlib import Path

import aiohttp
import pytest
from multidict import CIMultiDictProxy
from starlette.requests import Request

from roost.app.groups import GROUPS
from roost.errors import ApiError
from roost.web.docs import documentation
from roost.web.headers import REVISION
from roost.web.registry import Registry
from roost.web.revisions.documents import build_document_of
from roost.web.revisions.released import RELEASED
from roost.web.revisions.revisions import Revisions
from roost.web.static_files import library
from tests.support.server import RunningRoost

PARTS = ("/docs", "/docs/docs.js", "/docs/scalar.js")


async def get(
    running: RunningRoost, path: str, **headers: str
) -> tuple[int, CIMultiDictProxy[str], bytes]:
    """Status, headers and the body as it was sent."""
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.get(
            running.url + path, headers={"Accept-Encoding": "identity", **headers}
        ) as response,
    ):
        return response.status, response.headers, await response.read()


@pytest.mark.parametrize("path", ["/v4/openapi.json", "/v4beta/openapi.json"])
async def test_the_document_is_served_to_everyone(running: RunningRoost, path: str) -> None:
    status, headers, body = await get(running, path)
    assert status == 200
    assert headers["Content-Type"] == "application/json"
    assert headers["Access-Control-Allow-Origin"] == "*"
    revisions = Revisions(Registry(GROUPS.endpoints), RELEASED)
    assert json.loads(body) == json.loads(build_document_of(revisions, REVISION))


async def test_documents_of_revisions(running: RunningRoost) -> None:
    _, _, newest = await get(running, "/v4/openapi.json")
    status, _, body = await get(running, f"/v4/openapi.json?revision={REVISION}")
    assert (status, body) == (200, newest)
    info = json.loads(body)["info"]
    assert [each["revision"] for each in info["x-revisions"]] == [each.date for each in RELEASED]
    status, _, body = await get(running, "/v4/openapi.json?revision=1999-01-01")
    known = ", ".join(each.date for each in RELEASED)
    refusal = {"field": "revision", "reason": f"Must be one of {known}"}
    assert (status, json.loads(body)) == (400, {"errors": [refusal]})


async def test_the_page_loads_nothing_from_elsewhere(running: RunningRoost) -> None:
    status, headers, body = await get(running, "/docs")
    policy = headers["Content-Security-Policy"]
    assert status == 200
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "http" not in policy
    assert "unsafe-eval" not in policy
    assert re.findall(r'(?:src|href)="([^"]*)"', body.decode()) == [
        "data:,",
        "/v4/openapi.json",
        "/docs/scalar.js",
        "/docs/docs.js",
    ]


@pytest.mark.parametrize("path", [*PARTS, "/v4/openapi.json"])
async def test_files_are_compressed_and_kept(running: RunningRoost, path: str) -> None:
    _, plain_headers, plain = await get(running, path)
    _, headers, packed = await get(running, path, **{"Accept-Encoding": "br, gzip"})
    assert "Content-Encoding" not in plain_headers
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == plain
    etag = headers["ETag"]
    again, _, nothing = await get(running, path, **{"If-None-Match": etag})
    assert (again, nothing) == (304, b"")


async def test_a_file_that_is_none_of_the_page_is_not_there(running: RunningRoost) -> None:
    for path in ("/docs/docs.html", "/docs/scalar.LICENSE", "/docs/../web/docs.py"):
        assert (await get(running, path))[0] == 404


async def test_a_page_without_its_library_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("roost.web.docs._VIEWER", tmp_path / "scalar.js")
    routes = {route.path: route for route in documentation({REVISION: bytes})}
    page, script = (routes[path].endpoint for path in ("/docs", "/docs/scalar.js"))
    request = Request({"type": "http", "headers": []})
    assert b"scripts/setup.py" in (await page(request)).body
    with pytest.raises(ApiError) as refused:
        await script(request)
    assert refused.value.status == 404


def test_the_library_is_the_one_that_its_licence_names() -> None:
    script = library("scalar.js").read_bytes()
    licence = (files("roost.web") / "static/scalar.LICENSE").read_text()
    version = re.search(rb"@scalar/api-reference ([0-9.]+)", script)
    assert version is not None
    assert version[1].decode() in licence
    assert len(zlib.compress(script)) < 1_100_000
