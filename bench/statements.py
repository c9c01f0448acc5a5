"""The SQL of the bare parts; what they read is the very text that Roost's lists read."""

from roost.resources.compute.queries import INSTANCES
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
