"""SQL of trusted devices."""

from datetime import datetime

from roost.core.lists import listing_of
from roost.resources.devices.records import TrustedDeviceRow
from roost.store import Queries
from roost.store.query import query

DEVICES = listing_of(
    TrustedDeviceRow,
    source="trusted_device d",
    scope="d.user_id = $1 and d.expiry > $2",
    key="d.id",
    sql={
        "last_remote_addr": "host(d.last_remote_addr)",
    },
)


@query("""
    insert into trusted_device
        (user_id, hash, user_agent, created, expiry, last_authenticated, last_remote_addr)
    values ($1, $2, $3, $5, $6, $5, $4::inet)
    """)
async def add(
    db: Queries,
    user_id: int,
    hashed: bytes,
    user_agent: str,
    ip: str,
    now: datetime,
    expiry: datetime,
) -> None: ...


@query("""
    select exists (select from trusted_device
        where user_id = $1 and hash = $2 and expiry > $3)
    """)
async def exists(db: Queries, user_id: int, hashed: bytes, now: datetime) -> bool: ...


@query("""
        update trusted_device set last_authenticated = $4, last_remote_addr = $3::inet
        where user_id = $1 and hash = $2 and expiry > $4 returning true
        """)
async def touch(db: Queries, user_id: int, hashed: bytes, ip: str, now: datetime) -> bool:
    """Note that the device was used; False when the user trusts no such device now."""


@query("""
        delete from trusted_device where user_id = $1 and id = $2 and expiry > $3
        returning true
        """)
async def delete(db: Queries, user_id: int, device_id: int, now: datetime) -> bool:
    """False when the user trusts no such device now."""


@query("delete from trusted_device where user_id = $1")
async def forget_all(db: Queries, user_id: int) -> None: ...


@query("delete from trusted_device where user_id = $1 and expiry <= $2")
async def delete_expired(db: Queries, user_id: int, now: datetime) -> None: ...
