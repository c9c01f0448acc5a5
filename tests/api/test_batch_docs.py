"""The commands of docs/batch.md and docs/revisions.md work as they stand."""

import json
import re
from pathlib import Path

import pytest

from tests.api.test_event_docs import run
from tests.support.client import Client
from tests.support.server import RunningRoost

DOCS = Path(__file__).parents[2] / "docs"


def command(document: str) -> str:
    found = re.search(r"```sh\n(.*?)```", (DOCS / document).read_text(), re.DOTALL)
    assert found is not None
    return found[1]


async def test_a_batch(client: Client, running: RunningRoost) -> None:
    answers = json.loads(await run(command("batch.md"), client, running))["answers"]
    assert [each["status"] for each in answers] == [200, 200, 200]
    assert answers[0]["body"] == await client.get("/profile")


@pytest.mark.parametrize("known", [True, False])
async def test_a_revision(client: Client, running: RunningRoost, known: bool) -> None:
    said = command("revisions.md")
    if known:
        assert json.loads(await run(said, client, running))["data"]
        return
    with pytest.raises(AssertionError, match="Must be one of 2026-11-27"):
        await run(said.replace("2026", "1999"), client, running)
