"""Every released revision goes on: what was recorded of it when it was released is sent again."""

import json
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.registry import Registry
from roost.web.revisions.documents import build_document_of
from roost.web.revisions.released import RELEASED
from roost.web.revisions.revisions import Revisions
from tests.api.conftest import NewAccount, NewToken
from tests.support.client import Client, Contract, Json
from tests.support.exchanges import (
    EXCHANGES,
    FOLDER,
    SCHEMAS,
    ask,
    lost,
    misfits,
    schemas_of,
    sent_records,
)
from tests.support.server import RunningRoost

REGISTRY = Registry(GROUPS.endpoints)
BY_NAME = {each.name: each for each in REGISTRY}
BODIES = {each.body.__name__ for each in REGISTRY if each.body is not None}
REVISIONS = Revisions(REGISTRY, RELEASED)


def _read(date: str, name: str) -> Mapping[str, Json]:
    found: Mapping[str, Json] = json.loads(Path(FOLDER / date / name).read_text())
    return found


EXCHANGED = [
    (each.date, name, exchange)
    for each in RELEASED
    for name, exchange in _read(each.date, EXCHANGES).items()
]


@pytest.fixture(scope="module")
async def contracts() -> Mapping[str, Contract]:
    """By revision: the documents as they are now."""
    return {d: Contract(json.loads(build_document_of(REVISIONS, d))) for d in REVISIONS.known}


@pytest.mark.parametrize("date", REVISIONS.known)
def test_no_record_has_lost_anything(date: str) -> None:
    """Neither a field nor a type nor a word, and nothing more is required."""
    document = json.loads(build_document_of(REVISIONS, date))
    sent = sent_records(document, BODIES)
    assert list(lost(_read(date, SCHEMAS), schemas_of(document), sent)) == []


@pytest.mark.parametrize(
    ("date", "name", "exchange"), EXCHANGED, ids=[f"{date}-{name}" for date, name, _ in EXCHANGED]
)
async def test_what_was_answered_is_answered(
    date: str,
    name: str,
    exchange: Json,
    contracts: Mapping[str, Contract],
    running: RunningRoost,
    roost: Roost,
    new_account: NewAccount,
    new_token: NewToken,
) -> None:
    """Only the state of a thing may refuse what it did not then: work may not be done yet."""
    assert name in BY_NAME, "the operation is gone"
    account = await new_account()
    async with aiohttp.ClientSession() as session:
        client = Client(session, contracts[date], running.url)
        client.token = await new_token(account)
        client.headers = {"Roost-Revision": date}
        answer = await ask(BY_NAME[name], client, roost, account, exchange["body"])
    assert answer.headers["Roost-Revision"] == date
    if answer.status == 400:
        assert [field for field, _ in answer.problems if field is not None] == []
        return
    assert answer.status in (200, 202, 204), answer.body
    assert list(misfits(exchange["answer"], answer.body)) == []
