"""SQL of which name server has the zones, so that another one is not taken by mistake."""

from roost.store import Queries
from roost.store.query import query


@query("""
    select value ->> 'name' from setting
    where key = 'dns_engine' and exists (select from domain)
    """)
async def find_holder(db: Queries) -> str | None:
    """The engine's name; None while there are no domains."""


@query("""
    insert into setting (key, value) values
        ('dns_engine', jsonb_build_object('name', $1::text))
    on conflict (key) do update set value = excluded.value
    """)
async def set_holder(db: Queries, name: str) -> None: ...
