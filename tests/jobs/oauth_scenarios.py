"""The nightly job that forgets old logins and consents, for the harness."""

from dataclasses import dataclass

from roost.core import account_queries
from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs
from roost.oauth.group import GROUP
from roost.resources.account import queries as accounts
from tests.jobs.harness import Scenario

_USER = "(select id, account_id, now() at time zone 'UTC' as now from api_user where id = $1) u"
_FILL = (
    f"""
    insert into web_session (hash, user_id, password, created, expiry, tfa_passed)
    select sha256((u.id || '/' || n)::bytea), u.id, '', now, now + n * interval '1 hour', true
    from {_USER}, generate_series(-1, 1, 2) n
    """,
    f"""
    insert into login_attempt (username, ip, tried)
    select sha256(u.id::text::bytea), '192.0.2.1', now - n * interval '10 minutes'
    from {_USER}, generate_series(1, 2) n
    """,
    f"""
    insert into oauth_client (id, account_id, label, redirect_uri, public, secret_hash, created)
    select u.id::text, account_id, 'app', 'https://app.example.com', false, '', now from {_USER}
    """,
    f"""
    insert into authorized_app (user_id, client_id, public, scopes, created, expiry, revoked)
    select u.id, u.id::text, false, '*', now, now + expires * interval '1 day',
        now + revoked * interval '1 day'
    from {_USER}, (values (90, null), (-29, null), (-31, null), (90, -31)) v (expires, revoked)
    """,
    f"""
    insert into oauth_code (hash, app_id, redirect_uri, expiry)
    select sha256(a.id::text::bytea), a.id, 'https://app.example.com', now
    from {_USER}, authorized_app a where a.user_id = u.id
    """,
    f"""
    insert into token (user_id, kind, app_id, label, hash, prefix, scopes, created, expiry)
    select u.id, kind, app_id, 'app', sha256((app_id || kind || n)::bytea), '', '*', now,
        now - n * interval '1 day'
    from {_USER}, (select min(id) as app_id from authorized_app where user_id = $1) a,
        (values ('oauth', 29), ('oauth', 31), ('personal', 31)) v (kind, n)
    """,
    f"""
    insert into refresh_token (hash, app_id, created)
    select sha256((app_id || '/' || n)::bytea), app_id, now - n * interval '1 day'
    from {_USER}, (select min(id) as app_id from authorized_app where user_id = $1) a,
        generate_series(89, 91, 2) n
    """,
)
_COUNT = """
select (select count(*) from web_session where user_id = u.id),
    (select count(*) from login_attempt where username = sha256(u.id::text::bytea)),
    (select count(*) from authorized_app where user_id = u.id),
    (select count(*) from oauth_code c join authorized_app a on a.id = c.app_id
        where a.user_id = u.id),
    (select count(*) from token where user_id = u.id),
    (select count(*) from refresh_token r join authorized_app a on a.id = r.app_id
        where a.user_id = u.id)
from api_user u where u.id = $1
"""
_KIND = GROUP.retention[0].kind
_ALL = (2, 2, 4, 4, 3, 2)
_KEPT = (1, 1, 2, 2, 2, 1)


@dataclass(frozen=True)
class ForgettingCase:
    environment: Environment
    job_id: int
    user_id: int

    async def check_done(self) -> None:
        assert await self._count() == _KEPT

    async def check_failed(self) -> None:
        assert await self._count() in (_KEPT, _ALL)

    async def _count(self) -> tuple[int, ...]:
        row = await self.environment.store.fetchrow(_COUNT, self.user_id)
        assert row is not None
        return tuple(row.values())


async def begin(environment: Environment) -> ForgettingCase:
    store, queue = environment.store, environment.queue
    now = queue.clock.seconds()
    account_id = await accounts.create_account(store, new_uuid(), now)
    user_id = await account_queries.create_user(store, account_id, new_uuid(), False, now)
    for fill in _FILL:
        await store.execute(fill, user_id)
    job = await queue.enqueue(store, _KIND, JobArgs())
    return ForgettingCase(environment, job.id, user_id)


SCENARIOS = (Scenario(_KIND, begin, "forget oauth"),)
