"""SQL of which name server has the zones, so that another one is not taken by mistake."""

from roost.store import Queries


async def find_holder(db: Queries) -> str | None:
    """The engine's name; None while there are no domains."""
    name: str | None = await db.fetchval(
        """
        select value ->> 'name' from setting
        where key = 'dns_engine' and exists (select from domain)
        """
    )
    return name


async def set_holder(db: Queries, name: str) -> None:
    await db.execute(
        """
        insert into setting (key, value) values
            ('dns_engine', jsonb_build_object('name', $1::text))
        on conflict (key) do update set value = excluded.value
        """,
        name,
    )
