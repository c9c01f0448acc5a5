"""The jobs that forget events, kept answers, logins, uses of tokens, deliveries and amounts, and
fold numbers."""

from dataclasses import dataclass

from roost.app.groups import IDEMPOTENCY
from roost.core.entities import jobs as entities
from roost.core.group import Group
from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs, JobKind
from roost.resources.account import queries as accounts
from roost.resources.conditions.group import GROUP as CONDITIONS
from roost.resources.events.group import GROUP as EVENTS
from roost.resources.logins.group import GROUP as LOGINS
from roost.resources.nodebalancers.group import GROUP as NODEBALANCERS
from roost.resources.tokens.group import GROUP as TOKENS
from roost.resources.transfers.group import GROUP as TRANSFERS
from roost.resources.usage.group import GROUP as USAGE
from roost.resources.webhooks.group import GROUP as WEBHOOKS
from tests.jobs.harness import Scenario

_EVENTS = """
insert into event (account_id, action, status, created)
select $1, 'test', 'notification', now() at time zone 'UTC' - make_interval(days => n, hours => 1)
from generate_series(88, 93) as n
"""
_ANSWERS = """
insert into idempotency (account_id, key, fingerprint, created)
select $1, n::text, '', now() at time zone 'UTC' - n * interval '6 hours' - interval '1 hour'
from generate_series(2, 7) as n
"""
_CONDITIONS = """
insert into operator_condition (kind, subject, severity, text, began, due, ended)
select 'forgotten', $1::bigint::text, 'warning', '', at, at, at
from generate_series(88, 93) as n,
    lateral (select now() at time zone 'UTC' - make_interval(days => n, hours => 1) as at) t
"""
_SEEN = """
(select case kind when 'forgotten' then subject::bigint end as account_id
    from operator_condition) as seen
"""
_LOGINS = """
insert into login (account_id, username, ip, datetime, status, restricted)
select $1, 'me', '192.0.2.1', now() at time zone 'UTC' - make_interval(days => n, hours => 1),
    'successful', false
from generate_series(88, 93) as n
"""
_TRANSFERS = """
insert into entity_transfer (token, account_id, status, created, updated, expiry, computes)
select gen_random_uuid()::text, $1, 'canceled', now(), at, now(), '{}'
from generate_series(88, 93) as n,
    lateral (select now() at time zone 'UTC' - make_interval(days => n, hours => 1) as at) t
"""
_USES = """
with user_ as (insert into api_user (account_id, username, created)
        values ($1::bigint, $1::bigint::text, now()) returning id),
    token_ as (insert into token (user_id, label, hash, prefix, scopes, created)
        select id, 'token', int8send($1::bigint), '', '*', now() from user_ returning id)
insert into token_use (token_id, operation, day)
select id, 'view_profile', (now() at time zone 'UTC')::date - n
from token_, generate_series(29, 34) as n
"""
_MEASURED = """
with instance as (
    insert into compute_instance (account_id, label, region, type, status, created, updated,
        ipv4, ipv6, disk, memory, vcpus, gpus, transfer, alerts, host_uuid)
    values ($1, 'measured', 'us-lake', 'g1-nano-1', 'offline', now(), now(), '{}', '::/128', 1, 1,
        1, 0, 1, '{}', gen_random_uuid()) returning id)
insert into usage_amount (compute_id, step, at, seconds, cpu, io, swap, ipv4_in, ipv4_out,
    private_in, private_out, ipv6_in, ipv6_out)
select id, step, now() at time zone 'UTC' - age, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
from instance, (values (300, interval '1 hour'), (300, '1 day'), (300, '26 hours'),
    (3600, '26 hours'), (3600, '1 year'), (3600, '401 days')) as amounts (step, age)
"""
_OF_INSTANCES = """
(select account_id from usage_amount u join compute_instance i on i.id = u.compute_id) as measured
"""
_MOVED = """
with balancer as (
    insert into nodebalancer (account_id, label, region, engine, address, hostname,
        client_conn_throttle, created, updated)
    values ($1, 'measured', 'us-lake', 'simulated', '192.0.2.1', '', 0, now(), now())
    returning id)
insert into nodebalancer_amount (nodebalancer_id, at, seconds, connections, bytes_in, bytes_out)
select id, now() at time zone 'UTC' - n * interval '8 hours' - interval '1 hour', 300, 0, 0, 0
from balancer, generate_series(1, 6) as n
"""
_OF_BALANCERS = """
(select account_id from nodebalancer_amount u join nodebalancer b on b.id = u.nodebalancer_id)
    as moved
"""
_DELIVERED = """
with receiver as (
    insert into webhook (account_id, label, url, actions, entity_types, secret, position, next_try,
        created, updated)
    values ($1, 'forgotten', 'https://hooks.example.com/', '{}', '{}', '', 0, now(), now(), now())
    returning id)
insert into webhook_delivery (webhook_id, created, status, attempt, events, first_event,
    last_event, duration)
select id, now() at time zone 'UTC' - make_interval(days => n, hours => 1), 'delivered', 1, 1, 1, 1,
    0.1
from receiver, generate_series(28, 33) as n
"""
_OF_WEBHOOKS = """
(select account_id from webhook_delivery d join webhook w on w.id = d.webhook_id) as delivered
"""
_AMOUNTS = """
insert into row_count (owner, kind, label, amount)
select $1, 'domain', tag, 1 from unnest(array['', '', '', '', 'a', 'a']) as tag
"""
_COUNTED = "(select owner as account_id from row_count) as counted"
_USED = """
(select account_id from token_use join token t on t.id = token_id
    join api_user u on u.id = t.user_id) as used
"""


@dataclass(frozen=True)
class Forgetting:
    """Six rows of an account, of which the job keeps some."""

    environment: Environment
    job_id: int
    rows: str
    account_id: int
    kept: int

    async def check_done(self) -> None:
        assert await self._count() == self.kept

    async def check_failed(self) -> None:
        assert await self._count() in (self.kept, 6)

    async def _count(self) -> int:
        count: int = await self.environment.store.fetchval(
            f"select count(*) from {self.rows} where account_id = $1", self.account_id
        )
        return count


def _scenario(kind: JobKind[JobArgs], rows: str, fill: str, kept: int) -> Scenario:
    async def begin(environment: Environment) -> Forgetting:
        store, queue = environment.store, environment.queue
        account_id = await accounts.create_account(store, new_uuid(), queue.clock.seconds())
        await store.execute(fill, account_id)
        job = await queue.enqueue(store, kind, JobArgs())
        return Forgetting(environment, job.id, rows, account_id, kept)

    return Scenario(kind, begin, kind.name)


def _nightly(group: Group) -> JobKind[JobArgs]:
    [retention] = group.retention
    return retention.kind


SCENARIOS = (
    _scenario(_nightly(EVENTS), "event", _EVENTS, 2),
    _scenario(_nightly(CONDITIONS), _SEEN, _CONDITIONS, 2),
    _scenario(_nightly(IDEMPOTENCY), "idempotency", _ANSWERS, 2),
    _scenario(_nightly(LOGINS), "login", _LOGINS, 2),
    _scenario(_nightly(TOKENS), _USED, _USES, 2),
    _scenario(_nightly(USAGE), _OF_INSTANCES, _MEASURED, 4),
    _scenario(_nightly(NODEBALANCERS), _OF_BALANCERS, _MOVED, 2),
    _scenario(_nightly(TRANSFERS), "entity_transfer", _TRANSFERS, 2),
    _scenario(_nightly(WEBHOOKS), _OF_WEBHOOKS, _DELIVERED, 2),
    _scenario(entities.FOLD, _COUNTED, _AMOUNTS, 2),
)
