"""What all accounts share leaves room for each: one's long work is not another's wait."""

import asyncio
import threading

import pytest

from roost.resources.domains import parsing, service
from roost.resources.domains.rules import MAX_IMPORTS
from tests.support.client import Client


async def test_long_zone_files_of_one_account_leave_a_thread_to_others(
    client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, parse = threading.Event(), threading.Event(), parsing.parse_zone_file

    def parse_slowly(text: str, conversion: parsing.Conversion) -> object:
        begun.set()
        assert go_on.wait(60)
        return parse(text, conversion)

    monkeypatch.setattr(service, "parse_zone_file", parse_slowly)
    body = {"domain": "long.example", "zone_file": "www IN A nonsense"}
    imports = [
        asyncio.create_task(client.send("POST", "/domains/import", body))
        for _ in range(MAX_IMPORTS)
    ]
    try:
        await asyncio.to_thread(begun.wait, 60)
        async with asyncio.timeout(120):
            await stranger.get("/account/estimate")
            assert (await stranger.send("POST", "/tags", {"label": "quick"})).status == 200
        assert not any(each.done() for each in imports)
    finally:
        go_on.set()
    assert [(await each).status for each in imports] == [400] * MAX_IMPORTS
