"""Accounts, their users and tokens, and answers kept for Idempotency-Key."""

UPGRADE = """
create table account (
    id bigint generated always as identity (start with 100000) primary key,
    euuid uuid not null unique,
    company text not null default '',
    created timestamp(0) not null
);

create table api_user (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    username text not null unique,
    email text not null default '',
    restricted boolean not null default false,
    created timestamp(0) not null
);
create index on api_user (account_id, id);

create table token (
    id bigint generated always as identity (start with 100000) primary key,
    user_id bigint not null references api_user on delete cascade,
    label text not null,
    hash bytea not null unique,
    prefix text not null,
    scopes text not null,
    created timestamp(0) not null,
    expiry timestamp(0),
    revoked timestamp(0)
);
create index on token (user_id, id);

create table idempotency (
    account_id bigint not null references account,
    key text not null,
    fingerprint bytea not null,
    body bytea,
    created timestamp not null,
    primary key (account_id, key)
);
create index on idempotency (created);
"""

DOWNGRADE = """
drop table idempotency;
drop table token;
drop table api_user;
drop table account;
"""
