"""What instances use: the last readings, amounts by time, and traffic by month."""

UPGRADE = """
create table usage_reading (
    compute_id bigint primary key references compute_instance on delete cascade,
    read_at timestamp not null,
    run text not null,
    epoch text not null,
    cpu double precision not null,
    io bigint not null,
    swap bigint not null,
    ipv4_in bigint not null,
    ipv4_out bigint not null,
    private_in bigint not null,
    private_out bigint not null,
    ipv6_in bigint not null,
    ipv6_out bigint not null
);
comment on table usage_reading is 'What the counters of a guest showed last';
comment on column usage_reading.run is 'Which start of the guest; cpu, io and swap count from it';
comment on column usage_reading.epoch is 'Which counters of its traffic';
comment on column usage_reading.cpu is 'Seconds';
comment on column usage_reading.io is 'Bytes, as all that follow';

create table usage_amount (
    compute_id bigint not null references compute_instance on delete cascade,
    step integer not null check (step in (300, 3600)),
    at timestamp(0) not null,
    seconds double precision not null,
    cpu double precision not null,
    io bigint not null,
    swap bigint not null,
    ipv4_in bigint not null,
    ipv4_out bigint not null,
    private_in bigint not null,
    private_out bigint not null,
    ipv6_in bigint not null,
    ipv6_out bigint not null,
    primary key (compute_id, step, at)
);
comment on table usage_amount is 'What was used from a time on, for so many seconds';
comment on column usage_amount.seconds is 'How much of the step was seen';
create index on usage_amount (step, at);

create table usage_month (
    account_id bigint not null references account,
    month date not null,
    compute_id bigint not null,
    bytes_in bigint not null,
    bytes_out bigint not null,
    primary key (account_id, month, compute_id)
);
comment on table usage_month is 'Public traffic, which outlives the instance';
"""

DOWNGRADE = """
drop table usage_month;
drop table usage_amount;
drop table usage_reading;
"""
