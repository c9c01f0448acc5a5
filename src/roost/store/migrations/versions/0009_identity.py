"""Who may do what: account data, users, grants, tokens of all kinds, keys, logins, OAuth."""

UPGRADE = """
alter table account
    add first_name text not null default '',
    add last_name text not null default '',
    add email text not null default '',
    add address_1 text not null default '',
    add address_2 text not null default '',
    add city text not null default '',
    add state text not null default '',
    add zip text not null default '',
    add country text not null default '',
    add phone text not null default '',
    add tax_id text not null default '',
    add network_helper boolean not null default true,
    add backups_enabled boolean not null default false,
    add parent_id bigint references account;
create index on account (parent_id, id) where parent_id is not null;

alter table api_user
    add user_type text not null default 'default'
        check (user_type in ('default', 'parent', 'child', 'proxy')),
    add password_hash text,
    add password_created timestamp(0),
    add tfa_secret bytea,
    add tfa_enabled boolean not null default false,
    add tfa_scratch bytea,
    add tfa_expiry timestamp(0),
    add tfa_counter bigint,
    add timezone text not null default 'GMT',
    add email_notifications boolean not null default true,
    add lish_auth_method text not null default 'keys_only'
        check (lish_auth_method in ('password_keys', 'keys_only', 'disabled')),
    add authorized_keys text[],
    add preferences json not null default '{}',
    add account_access text check (account_access in ('read_only', 'read_write')),
    add rights text[] not null default '{}',
    add last_login timestamp(0),
    add last_login_status text;
comment on column api_user.rights is 'Global grants that are true, of a restricted user';
comment on column api_user.tfa_secret is 'Sealed';
comment on column api_user.tfa_scratch is 'SHA-256';
comment on column api_user.tfa_counter is 'The last one-time code that was used';

create table entity_grant (
    user_id bigint not null references api_user on delete cascade,
    kind text not null,
    entity_id bigint not null,
    permissions text not null check (permissions in ('read_only', 'read_write')),
    primary key (user_id, kind, entity_id)
);
create index on entity_grant (kind, entity_id);

create table ssh_key (
    id bigint generated always as identity (start with 100000) primary key,
    user_id bigint not null references api_user on delete cascade,
    label text not null,
    ssh_key text not null,
    created timestamp(0) not null
);
create index on ssh_key (user_id, id);

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

create table oauth_client (
    id text primary key,
    account_id bigint not null references account,
    label text not null,
    redirect_uri text not null,
    public boolean not null,
    status text not null default 'active' check (status in ('active', 'disabled', 'suspended')),
    secret_hash bytea not null,
    thumbnail bytea,
    created timestamp(0) not null
);
create index on oauth_client (account_id, id);

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

alter table token
    add kind text not null default 'personal' check (kind in ('personal', 'oauth', 'proxy')),
    add app_id bigint references authorized_app on delete cascade,
    add made_by bigint references api_user on delete cascade,
    add last_used timestamp(0);
comment on column token.made_by is 'The user of the parent who acts by a proxy user''s token';
create index on token (app_id) where app_id is not null;
create index on token (made_by) where made_by is not null;

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

create table token_use (
    token_id bigint not null references token on delete cascade,
    operation text not null,
    day date not null,
    primary key (token_id, operation, day)
);
comment on table token_use is 'What each token was used for, for suggesting smaller scopes';

create table maintenance (
    id bigint generated always as identity (start with 100000) primary key,
    compute_id bigint not null references compute_instance on delete cascade,
    account_id bigint not null references account,
    type text not null check (type in ('reboot', 'cold_migration', 'live_migration')),
    status text not null default 'pending'
        check (status in ('pending', 'started', 'completed', 'canceled')),
    reason text not null,
    "when" timestamp(0) not null
);
create index on maintenance (account_id, id);
create index on maintenance (compute_id);
create index on maintenance (status, "when");
"""

DOWNGRADE = """
drop table maintenance;
drop table token_use;
drop table login_attempt;
drop table web_session;
alter table token drop kind, drop app_id, drop made_by, drop last_used;
drop table refresh_token;
drop table oauth_code;
drop table authorized_app;
drop table oauth_client;
drop table trusted_device;
drop table login;
drop table ssh_key;
drop table entity_grant;
alter table api_user
    drop user_type, drop password_hash, drop password_created, drop tfa_secret,
    drop tfa_enabled, drop tfa_scratch, drop tfa_expiry, drop tfa_counter, drop timezone,
    drop email_notifications, drop lish_auth_method, drop authorized_keys, drop preferences,
    drop account_access, drop rights, drop last_login, drop last_login_status;
alter table account
    drop first_name, drop last_name, drop email, drop address_1, drop address_2, drop city,
    drop state, drop zip, drop country, drop phone, drop tax_id, drop network_helper,
    drop backups_enabled, drop parent_id;
"""
