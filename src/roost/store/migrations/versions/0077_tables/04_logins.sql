-- OAuth clients and what users let them do, tokens of all kinds, logins.

create table oauth_client (
    id text primary key,
    account_id bigint not null references account,
    label text not null,
    redirect_uri text not null,
    public boolean not null,
    status text not null default 'active' check (status in ('active', 'disabled', 'suspended')),
    secret_hash bytea not null,
    thumbnail bytea,
    created timestamp(0) not null,
    number bigint generated always as identity
);
comment on column oauth_client.number is 'The order of their making';
create index on oauth_client (account_id, id);
create unique index on oauth_client (account_id, number);

create table authorized_app (
    id bigint generated always as identity (start with 100000) primary key,
    user_id bigint not null references api_user on delete cascade,
    client_id text not null references oauth_client on delete cascade,
    public boolean not null,
    scopes text not null,
    created timestamp(0) not null,
    expiry timestamp(0),
    revoked timestamp(0)
);
comment on table authorized_app is
    'A consent and all tokens that come from it: revoking it ends the whole family';
comment on column authorized_app.public is
    'Whether the client was: one that is no longer as it was must ask the user again';
create index on authorized_app (user_id, id);
create index on authorized_app (client_id);

create table oauth_code (
    hash bytea primary key,
    app_id bigint not null references authorized_app on delete cascade,
    redirect_uri text not null,
    challenge text,
    expiry timestamp(0) not null,
    used boolean not null default false
);
create index on oauth_code (app_id);

create table refresh_token (
    hash bytea primary key,
    app_id bigint not null references authorized_app on delete cascade,
    created timestamp(0) not null,
    used boolean not null default false
);
create index on refresh_token (app_id);

create table token (
    id bigint generated always as identity (start with 100000) primary key,
    user_id bigint not null references api_user on delete cascade,
    label text not null,
    hash bytea not null unique,
    prefix text not null,
    scopes text not null,
    created timestamp(0) not null,
    expiry timestamp(0),
    revoked timestamp(0),
    kind text not null default 'personal' check (kind in ('personal', 'oauth', 'proxy')),
    app_id bigint references authorized_app on delete cascade,
    made_by bigint references api_user on delete cascade,
    last_used timestamp(0)
);
comment on column token.made_by is 'The user of the parent who acts by a proxy user''s token';
create index on token (user_id, id);
create index on token (app_id) where app_id is not null;
create index on token (made_by) where made_by is not null;

create table token_use (
    token_id bigint not null references token on delete cascade,
    operation text not null,
    day date not null,
    primary key (token_id, operation, day)
);
comment on table token_use is 'What each token was used for, for suggesting smaller scopes';

create table web_session (
    hash bytea primary key,
    user_id bigint not null references api_user on delete cascade,
    password bytea not null,
    created timestamp(0) not null,
    expiry timestamp(0) not null,
    tfa_passed boolean not null
);
comment on column web_session.password is
    'SHA-256 of the password hash that it began with, and ends with';
create index on web_session (user_id);

create table login (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    user_id bigint references api_user on delete set null,
    username text not null,
    ip inet not null,
    datetime timestamp(0) not null,
    status text not null check (status in ('successful', 'failed')),
    restricted boolean not null
);
create index on login (account_id, id);
create index on login (user_id, id);
create index on login (datetime);

create table login_attempt (
    id bigint generated always as identity primary key,
    username bytea not null,
    ip inet not null,
    tried timestamp not null
);
comment on column login_attempt.username is
    'SHA-256: what is typed there has any length, and is a password now and then';
create index on login_attempt (username, tried);
create index on login_attempt (ip, tried);

create table trusted_device (
    id bigint generated always as identity (start with 100000) primary key,
    user_id bigint not null references api_user on delete cascade,
    hash bytea not null unique,
    user_agent text not null,
    created timestamp(0) not null,
    expiry timestamp(0) not null,
    last_authenticated timestamp(0) not null,
    last_remote_addr inet not null
);
create index on trusted_device (user_id, id);
