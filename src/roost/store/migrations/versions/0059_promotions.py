"""Promotions of accounts, the codes that begin them, and credits that operators give."""

UPGRADE = """
create table promo_code (
    code text primary key,
    summary text not null,
    description text not null,
    image_url text not null,
    service_type text not null,
    credit numeric(14, 2) not null check (credit > 0),
    monthly_cap numeric(14, 2) not null check (monthly_cap > 0 and monthly_cap <= credit),
    days integer,
    ends timestamp(0),
    uses_left integer check (uses_left >= 0),
    created timestamp(0) not null
);
comment on column promo_code.days is 'How long its promotions last; null: for ever';
comment on column promo_code.ends is 'Until when it can be redeemed';

create table promotion (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    code text not null,
    summary text not null,
    description text not null,
    image_url text not null,
    service_type text not null,
    credit numeric(14, 2) not null,
    monthly_cap numeric(14, 2) not null,
    created timestamp(0) not null,
    expires timestamp(0),
    unique (account_id, code)
);
comment on table promotion is 'What an account was promised, whatever becomes of the code';
create trigger append_only before update or delete on promotion
    for each row execute function refuse_change();
create index on invoice_item (resource_id) where service = 'promotion';

create table account_credit (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    usd numeric(14, 2) not null check (usd <> 0),
    reason text not null,
    key text unique,
    created timestamp(0) not null
);
comment on column account_credit.usd is 'Less than 0: the account owes more';
comment on column account_credit.key is 'By which the same credit is known when it is given again';
create index on account_credit (account_id, id);
create trigger append_only before update or delete on account_credit
    for each row execute function refuse_change();
"""

DOWNGRADE = """
drop table account_credit;
drop index invoice_item_resource_id_idx;
drop table promotion;
drop table promo_code;
"""
