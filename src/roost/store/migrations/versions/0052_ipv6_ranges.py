"""Ranges of IPv6 addresses that are routed to instances."""

UPGRADE = """
create table ipv6_range (
    network cidr primary key,
    region text not null,
    account_id bigint not null references account,
    compute_id bigint not null references compute_instance on delete cascade,
    unique (compute_id) deferrable initially deferred,
    unique (account_id, region),
    check (family(network) = 6 and masklen(network) in (56, 64)),
    exclude using gist (network inet_ops with &&)
);
comment on column ipv6_range.compute_id is 'To whose SLAAC address it is routed';

create table ipv6_range_share (
    network cidr not null references ipv6_range on delete cascade,
    compute_id bigint not null references compute_instance on delete cascade,
    primary key (network, compute_id)
);
comment on table ipv6_range_share is 'Instances that may send from ranges of others';
create index on ipv6_range_share (compute_id);

alter table ip_leaving drop constraint ip_leaving_address_fkey;
comment on column ip_leaving.address is 'An address, or an IPv6 range';
"""

DOWNGRADE = """
delete from ip_leaving l where not exists (select from ip_address a where a.address = l.address);
alter table ip_leaving
    add foreign key (address) references ip_address on delete cascade;
drop table ipv6_range_share;
drop table ipv6_range;
"""
