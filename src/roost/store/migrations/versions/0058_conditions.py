"""What operators are told of."""

UPGRADE = """
create table operator_condition (
    id bigint generated always as identity primary key,
    kind text not null,
    subject text not null,
    severity text not null check (severity in ('warning', 'critical')),
    text text not null,
    began timestamp(0) not null,
    due timestamp(0) not null,
    told timestamp(0),
    ended timestamp(0),
    end_told boolean not null default false
);
create unique index on operator_condition (kind, subject) where ended is null;
create index on operator_condition (ended) where ended is not null;
comment on table operator_condition is 'What is wrong, or was, and whether operators know';
comment on column operator_condition.due is 'When operators are told, should it still hold';

alter table object_certificate add column expires timestamp(0);
create index on object_certificate (id) where expires is null;
create index on object_certificate (expires);
comment on column object_certificate.expires is 'Null until somebody has looked';

create index account_owing on account (id) where balance > 0;
"""

DOWNGRADE = """
drop index account_owing;
alter table object_certificate drop column expires;
drop table operator_condition;
"""
