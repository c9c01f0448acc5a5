"""The catalogue: regions, plans, kernels, images and address pools."""

UPGRADE = """
create table region (
    id text primary key,
    label text not null,
    country text not null,
    capabilities text[] not null,
    status text not null check (status in ('ok', 'outage')),
    resolvers_ipv4 text not null,
    resolvers_ipv6 text not null,
    engine text not null check (engine in ('local', 'simulated')),
    retired boolean not null default false
);
comment on column region.retired is
    'No longer in the catalogue: not listed or offered, but what was made with it still names it';

create table compute_type (
    id text primary key,
    label text not null,
    class text not null,
    vcpus integer not null,
    memory integer not null,
    disk integer not null,
    transfer integer not null,
    network_out integer not null,
    gpus integer not null,
    price json not null,
    region_prices json not null,
    addons json not null,
    successor text,
    retired boolean not null default false
);

create table region_availability (
    region text not null references region on delete cascade,
    plan text not null references compute_type on delete cascade,
    available boolean not null,
    primary key (region, plan)
);

create table kernel (
    id text primary key,
    label text not null,
    version text not null,
    kvm boolean not null,
    architecture text not null check (architecture in ('x86_64', 'i386')),
    pvops boolean not null,
    deprecated boolean not null,
    built timestamp(0) not null,
    retired boolean not null default false
);

create table image (
    id text primary key,
    account_id bigint,
    label text not null,
    description text,
    created timestamp(0) not null,
    updated timestamp(0) not null,
    created_by text not null,
    deprecated boolean not null default false,
    size integer not null,
    type text not null check (type in ('manual', 'automatic')),
    expiry timestamp(0),
    eol timestamp(0),
    vendor text,
    status text not null check (status in ('creating', 'pending_upload', 'available')),
    capabilities text[] not null default '{}',
    retired boolean not null default false
);
comment on column image.account_id is 'Null for public images';
create index on image (account_id, id);

create table ip_pool (
    cidr cidr primary key,
    region text not null references region on delete cascade,
    kind text not null check (kind in ('public', 'private', 'ipv6')),
    gateway inet,
    check ((gateway is null) = (kind = 'private'))
);
create index on ip_pool (region, kind);
"""

DOWNGRADE = """
drop table ip_pool;
drop table image;
drop table kernel;
drop table region_availability;
drop table compute_type;
drop table region;
"""
