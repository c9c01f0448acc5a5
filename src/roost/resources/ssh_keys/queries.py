"""SQL of SSH keys."""

from collections.abc import Collection
from datetime import datetime

from roost.core.entities.kind import EntityKind
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.ssh_keys.records import SshKeyRow
from roost.store import Queries
from roost.store.query import query

SSH_KEYS = listing_of(
    SshKeyRow,
    source="ssh_key k",
    scope="k.user_id = $1",
    key="k.id",
)

LIMIT = LimitGroup.of(
    "ssh_key k join api_user u on u.id = k.user_id where u.account_id = $1",
    LimitKind("ssh_keys", "SSH keys", 1000, service=False),
)


@query("""
    insert into ssh_key (user_id, label, ssh_key, created) values ($1, $2, $3, $4)
    returning id
    """)
async def add(db: Queries, user_id: int, label: str, ssh_key: str, now: datetime) -> int: ...


@query("""
    update ssh_key set label = coalesce($3, label) where user_id = $1 and id = $2
    returning label
    """)
async def rename(db: Queries, user_id: int, key_id: int, label: str | None) -> str | None:
    """The label of a user's key, after it was changed unless `label` is None; None: no such key."""


@query("delete from ssh_key where user_id = $1 and id = $2 returning label")
async def delete(db: Queries, user_id: int, key_id: int) -> str | None:
    """The label of the key that was deleted; None when the user has no such key."""


@query("""
    select u.username, array_agg(k.ssh_key order by k.id) as keys
    from api_user u join ssh_key k on k.user_id = u.id
    where u.account_id = $1 and u.username = any($2::text[])
    group by u.username
    """)
async def keys_by_user(
    db: Queries, account_id: int, usernames: Collection[str]
) -> dict[str, list[str]]:
    """The keys of an account's users, oldest first; users without any are left out."""


SSH_KEY = EntityKind(name="user_ssh_key", path="/profile/sshkeys/{id}")
