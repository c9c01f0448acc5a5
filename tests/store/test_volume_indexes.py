"""Filters of volumes are served by indexes, however many volumes an account has."""

import json

import pytest

from roost.ids import new_uuid
from roost.resources.account.queries import create_account
from roost.resources.volumes.queries import VOLUMES
from roost.store import Store
from roost.store.paging import ListStatement
from roost.web.filters import parse_filter
from tests.support.client import Json

BY_LABEL, BY_TAGS = "volume_account_id_label_idx", "volume_tags_idx"
BY_INSTANCE = "volume_compute_id_id_idx"

FILL = """
    insert into volume (account_id, label, region, engine, size, status, hardware_type, tags,
        made, created, updated)
    select $1, 'volume-' || n, 'us-lake', 'simulated', 20, 'active', 'nvme',
        array['all', 'tag-' || n % 2000], true, now(), now()
    from generate_series(1, 40000) as n
"""


@pytest.fixture
async def account_id(store: Store) -> int:
    """An account with many volumes."""
    now = await store.fetchval("select localtimestamp")
    account_id = await create_account(store, new_uuid(), now)
    await store.execute(FILL, account_id)
    await store.execute("vacuum analyze volume")
    return account_id


@pytest.mark.spec("A volumes list", "B filter")
async def test_indexes_serve_filters(store: Store, account_id: int) -> None:
    async def plan(wanted: Json) -> str:
        selection = parse_filter(json.dumps(wanted), VOLUMES.columns)
        sql, arguments = ListStatement(VOLUMES, (account_id,), selection).page(0, 100)
        rows = await store.fetch(f"explain {sql}", *arguments)
        return "\n".join(row[0] for row in rows)

    for wanted, index in (
        ({"label": "volume-777"}, BY_LABEL),
        ({"tags": "tag-7"}, BY_TAGS),
        ({"compute_id": 100007}, BY_INSTANCE),
        ({"tags": "no such tag"}, BY_TAGS),
        ({"+and": [{"tags": "tag-7"}, {"tags": "all"}]}, BY_TAGS),
        ({"+or": [{"tags": "tag-7"}, {"tags": "tag-8"}]}, BY_TAGS),
    ):
        assert index in await plan(wanted), wanted
        assert "Seq Scan on volume" not in await plan(wanted)
    assert "volume_order" in await plan({"+order_by": "label"})
    assert "volume_account_id_created_id_idx" in await plan({"+order_by": "created"})
    both = await plan({"+or": [{"label": "volume-1"}, {"tags": "tag-7"}]})
    assert BY_LABEL in both
    assert BY_TAGS in both
