"""Writes what a released revision is held to: `scripts/record-exchanges` runs it at its release."""

import json
import os
from collections.abc import Mapping

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.headers import REVISION
from roost.web.registry import Registry
from roost.web.revisions.documents import build_document_of
from roost.web.revisions.revisions import Revisions
from tests.api.conftest import NewAccount, NewToken
from tests.support.client import Client, Json
from tests.support.exchanges import (
    EXCHANGES,
    FOLDER,
    SCHEMAS,
    ask,
    recorded_body,
    schemas_of,
    shape,
)

GOOD = (200, 202, 204)


@pytest.mark.skipif("RECORD_EXCHANGES" not in os.environ, reason="it writes files")
async def test_record(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    found: dict[str, Json] = {}
    for endpoint in Registry(GROUPS.endpoints):
        account = await new_account()
        client = nobody.as_user(await new_token(account))
        body = recorded_body(endpoint)
        answer = await ask(endpoint, client, roost, account, body)
        if answer.status in GOOD:
            found[endpoint.name] = {"body": body, "answer": shape(answer.body)}
    folder = FOLDER / REVISION
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EXCHANGES).write_text(_lines(found))
    document = build_document_of(roost.services.get(Revisions), REVISION)
    (folder / SCHEMAS).write_text(_lines(schemas_of(json.loads(document))))


def _lines(found: Mapping[str, Json]) -> str:
    """JSON with one thing in each line."""
    lines = (f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    return "{\n" + ",\n".join(lines) + "\n}\n"
