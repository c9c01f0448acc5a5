"""The documentation page and the OpenAPI document's own address."""

import html

import aiohttp
import pytest

from roost.app.groups import ENDPOINT_MODULES
from roost.web.registry import Registry
from tests.support.server import RunningRoost


@pytest.fixture
async def page(running: RunningRoost) -> tuple[str, str]:
    async with aiohttp.ClientSession() as session, session.get(f"{running.url}/docs") as response:
        assert response.status == 200
        return await response.text(), response.headers["Content-Security-Policy"]


def test_every_operation_is_on_the_page(page: tuple[str, str]) -> None:
    for endpoint in Registry(ENDPOINT_MODULES):
        assert f'<article id="{endpoint.name}">' in page[0]
        assert html.escape(endpoint.summary) in page[0]


def test_fields_of_bodies_are_explained(page: tuple[str, str]) -> None:
    assert "<td><code>interfaces[].purpose</code> *</td>" in page[0]
    assert "at least 3 characters, at most 64 characters" in page[0]
    assert "one of public, vlan, vpc" in page[0]


def test_the_page_runs_no_scripts(page: tuple[str, str]) -> None:
    assert "<script" not in page[0]
    assert page[1].startswith("default-src 'none'")
