-- The catalogue, and what hosts have for its regions.

create table region (
    id text primary key,
    label text not null,
    country text not null,
    capabilities text[] not null,
    status text not null check (status in ('ok', 'outage')),
    resolvers_ipv4 text not null,
    resolvers_ipv6 text not null,
    engine text not null check (engine in ('local', 'simulated')),
    retired boolean not null default false,
    site_type text not null default 'core' check (site_type in ('core', 'distributed'))
);
comment on column region.retired is
    'No longer in the catalogue: not listed or offered, but what was made with it still names it';

create table region_capacity (
    region text not null references region on delete cascade,
    memory bigint,
    storage bigint,
    free bigint,
    measured timestamp not null,
    host text not null default 'main' references host,
    cpus integer,
    primary key (region, host)
);
comment on table region_capacity is
    'What hosts last said that they have for a region, MB; null: as much as anybody wants';

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
    retired boolean not null default false,
    "position" integer not null default 0
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

create table ip_pool (
    cidr cidr primary key,
    region text not null references region on delete cascade,
    kind text not null check (kind in ('public', 'private', 'ipv6')),
    gateway inet,
    check ((gateway is null) = (kind = 'private'))
);
create index on ip_pool (region, kind);

create table unit_price (
    service text primary key,
    price json not null,
    region_prices json not null,
    free integer not null default 0
);
comment on table unit_price is 'Prices in the catalogue of what has no plans';
comment on column unit_price.free is 'Units of an account that cost nothing';

create table database_engine (
    id text primary key,
    engine text not null,
    version text not null,
    total_disk_size_gb integer not null,
    used_disk_size_gb integer not null,
    retired boolean not null default false
);

create table database_type (
    id text primary key,
    label text not null,
    class text not null,
    vcpus integer not null,
    memory integer not null,
    disk integer not null,
    deprecated boolean not null,
    engines json not null,
    "position" integer not null,
    retired boolean not null default false
);

create table object_cluster (
    id text primary key,
    region text not null,
    domain text not null,
    retired boolean not null default false
);

create table beta (
    id text primary key,
    label text not null,
    description text not null,
    started timestamp(0) not null,
    ended timestamp(0),
    greenlight_only boolean not null,
    more_info text not null,
    retired boolean not null default false
);

create table promo_code (
    code text primary key,
    summary text not null,
    description text not null,
    image_url text not null,
    service_type text not null,
    credit numeric(14,2) not null check (credit > 0),
    monthly_cap numeric(14,2) not null,
    days integer,
    ends timestamp(0),
    uses_left integer check (uses_left >= 0),
    created timestamp(0) not null,
    check (monthly_cap > 0 and monthly_cap <= credit)
);
comment on column promo_code.days is 'How long its promotions last; null: for ever';
comment on column promo_code.ends is 'Until when it can be redeemed';
