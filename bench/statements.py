"""The SQL of the bare parts; what they read is the very text that Roost's lists read."""

from roost.resources.compute.queries import INSTANCES
from roost.resources.domains.record_queries import RECORDS
from roost.resources.volumes.queries import VOLUMES
from roost.store.paging import ListStatement, Selection

ONE = f"select {INSTANCES.record_text} from {INSTANCES.source} where {INSTANCES.key} = $1"

PAGE, _ = ListStatement(INSTANCES, (1,), Selection()).page(0, 100)
"""The first 100 instances of the account $1 and how many it has."""

VOLUME_PAGE, _ = ListStatement(VOLUMES, (1,), Selection()).page(0, 100)
"""The same of its volumes."""

INSERT_INSTANCE = """
    insert into compute_instance (account_id, label, tags, region, type, status, created, updated,
        ipv4, ipv6, disk, memory, vcpus, gpus, transfer, alerts, host_uuid, user_data)
    values ($1, $2, '{}', 'us-lake', 'g1-nano-1', 'provisioning', now(), now(),
        array[host($3::inet)], '2001:db8:101::1/128', 25600, 1024, 1, 0, 1000, $4,
        gen_random_uuid(), $5)
    returning id
"""

INSERT_ADDRESS = """
    insert into ip_address (address, region, public, prefix, account_id, compute_id)
    values ($1, 'us-lake', true, 16, $2, $3)
"""

INSERT_EVENT = """
    insert into event (account_id, username, action, status, created, percent_complete, entity)
    values ($1, 'admin', 'compute_create', 'scheduled', now(), 0, $2) returning id
"""

INSERT_JOB = """
    insert into job (kind, args, step, resource, account_id, event_id, run_at, deadline, created)
    values ('bare', $1, 'create', $2, $3, $4, now(), now() + '1 hour', now())
"""

MAKE_VOLUME = f"""
    with v as (
        insert into volume (account_id, label, region, engine, size, tags, status, hardware_type,
            created, updated)
        values ($1, $2, 'us-lake', 'simulated', 20, '{{}}', 'creating', 'nvme', now(), now())
        returning *),
    e as (
        insert into event (account_id, username, action, status, created, percent_complete, entity)
        select $1, 'admin', 'volume_create', 'scheduled', now(), 0,
            json_build_object('id', id, 'type', 'volume', 'label', label) from v
        returning id),
    j as (
        insert into job
            (kind, args, step, resource, account_id, event_id, run_at, deadline, created)
        select 'bare', '{{}}', 'make', 'volume:' || v.id, $1, e.id, now(), now() + '1 hour', now()
        from v, e)
    select {VOLUMES.record_text} from v
"""
"""Account, label. The rows of a volume, its event and its job."""

MAKE_RECORD = f"""
    with r as (
        insert into domain_record (domain_id, type, name, target, priority, weight, port, ttl_sec,
            owner, content, created, updated)
        values ($1, 'A', $2, '192.0.2.1', 0, 0, 0, 0, $2, '192.0.2.1', now(), now())
        returning *),
    d as (
        update domain set serial = serial + 1, records = records + 1, updated = now()
        where id = $1 returning id, account_id, domain),
    e as (
        insert into event (account_id, username, action, status, created, percent_complete, entity)
        select account_id, 'admin', 'dns_record_create', 'scheduled', now(), 0,
            json_build_object('id', id, 'type', 'domain', 'label', domain) from d
        returning id),
    j as (
        insert into job
            (kind, args, step, resource, account_id, event_id, run_at, deadline, created)
        select 'bare', '{{}}', 'serve', 'bare:' || r.id, d.account_id, e.id, now(),
            now() + '1 hour', now()
        from r, d, e)
    select {RECORDS.record_text} from r
"""
"""Domain, name. The rows of an address, its zone's serial, its event and its job."""

FILL = """
    insert into compute_instance (account_id, label, tags, region, image, type, status, created,
        updated, ipv4, ipv6, disk, memory, vcpus, gpus, transfer, alerts, host_uuid)
    select $1, 'compute-' || n, array['web', 'shop'], 'us-lake', 'roost/debian12', 'g1-nano-1',
        'running', now(), now(), array[host('10.0.0.0'::inet + n)], '2001:db8:101::1/128',
        25600, 1024, 1, 0, 1000, $3, gen_random_uuid()
    from generate_series(1, $2::int) as n
"""

FILL_VOLUMES = """
    insert into volume (account_id, label, region, engine, size, status, hardware_type, tags,
        made, created, updated)
    select $1, 'volume-' || n, 'us-lake', 'simulated', 20, 'active', 'nvme',
        array['all', 'tag-' || n % ($2 / 5)], true, now(), now()
    from generate_series(1, $2::int) as n
"""
"""Account, number. A tag such as `tag-7` is on five of them."""

ALERTS = '{"cpu":90,"io":10000,"network_in":10,"network_out":10,"transfer_quota":80}'

TAG = "insert into tag (account_id, label) values ($1, 'web')"
"""The account's; all that FILL makes has it."""

GRANT_HALF = """
    insert into entity_grant (user_id, kind, entity_id, permissions)
    select $2, 'compute', id, 'read_only' from compute_instance
    where account_id = $1 and id % 2 = 0
"""
"""Account, user."""

ADD_EVENT = """
    with told as (
        insert into event (account_id, action, status, created, message)
        values ($1, 'bench', 'notification', $2, $3) returning message)
    select pg_notify('bench', message) from told
"""
"""Account, when, a message, of which PostgreSQL notifies `bench` at the same commit."""
