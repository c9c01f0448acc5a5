-- Accounts, their users and what these may do; events; how many rows an account has.

create function count_row() returns trigger language plpgsql as $$
begin
    if tg_op = 'TRUNCATE' then
        delete from row_count where kind = tg_argv[0];
    elsif tg_op = 'INSERT' then
        insert into row_count values (new.account_id, tg_argv[0], '', 1);
        if new.tags <> '{}' then
            insert into row_count select distinct new.account_id, tg_argv[0], tag, 1
            from unnest(new.tags) as tag;
        end if;
    else
        insert into row_count values (old.account_id, tg_argv[0], '', -1);
        if old.tags <> '{}' then
            insert into row_count select distinct old.account_id, tg_argv[0], tag, -1
            from unnest(old.tags) as tag;
        end if;
    end if;
    return null;
end $$;

create function count_tags() returns trigger language plpgsql as $$
begin
    insert into row_count
    select distinct old.account_id, tg_argv[0], tag, -1 from unnest(old.tags) as tag
    where tag <> all(new.tags)
    union all
    select distinct new.account_id, tg_argv[0], tag, 1 from unnest(new.tags) as tag
    where tag <> all(old.tags);
    return null;
end $$;

create function count_owner() returns trigger language plpgsql as $$
begin
    insert into row_count values
        (old.account_id, tg_argv[0], '', -1), (new.account_id, tg_argv[0], '', 1);
    return null;
end $$;

create function count_grant() returns trigger language plpgsql as $$
begin
    if tg_op = 'TRUNCATE' then
        delete from row_count where starts_with(kind, 'granted ');
    elsif tg_op = 'INSERT' then
        insert into row_count values (new.user_id, 'granted ' || new.kind, '', 1);
    else
        insert into row_count values (old.user_id, 'granted ' || old.kind, '', -1);
    end if;
    return null;
end $$;

create function drop_grants() returns trigger language plpgsql as $$
begin
    delete from entity_grant where kind = tg_argv[0] and entity_id = old.id;
    return null;
end $$;

create table row_count (
    owner bigint not null,
    kind text not null,
    label text not null,
    amount bigint not null
);
comment on table row_count is
    'How many rows there are: the sum of amounts, one for each row that comes or goes';
comment on column row_count.owner is 'The account, or the user whose grants are counted';
comment on column row_count.label is 'A tag that the rows have; empty: all rows';
create index on row_count (owner, kind, label) include (amount);

create table account (
    id bigint generated always as identity (start with 100000) primary key,
    euuid uuid not null unique,
    company text not null default '',
    created timestamp(0) not null,
    first_name text not null default '',
    last_name text not null default '',
    email text not null default '',
    address_1 text not null default '',
    address_2 text not null default '',
    city text not null default '',
    state text not null default '',
    zip text not null default '',
    country text not null default '',
    phone text not null default '',
    tax_id text not null default '',
    network_helper boolean not null default true,
    backups_enabled boolean not null default false,
    parent_id bigint references account,
    limits jsonb not null default '{}',
    object_storage text not null default 'disabled'
        check (object_storage in ('disabled', 'suspended', 'active')),
    balance numeric(14,2) not null default 0,
    invoiced_until timestamp(0),
    charged_for bigint not null default 0,
    card_last_four text,
    card_expiry text,
    canceled timestamp(0),
    canceled_by text,
    cancel_comments text,
    closed timestamp(0),
    erased timestamp(0),
    charge_tries smallint not null default 0,
    charge_again timestamp(0),
    charge_told smallint not null default 0,
    suspended timestamp(0),
    suspended_for text check (suspended_for in ('debt', 'operator')),
    suspension_reason text not null default '',
    suspension_warned timestamp(0),
    parent_pays boolean not null default false,
    constraint suspended_for_something check ((suspended is null) = (suspended_for is null))
);
comment on column account.limits is 'Where they are not the catalogue''s: amounts by name';
comment on column account.balance is 'US dollars owed; the sum of its invoices less its payments';
comment on column account.invoiced_until is 'Null: since the month of its creation';
comment on column account.charged_for is 'The last invoice that was charged without being asked';
comment on column account.canceled is 'Up to when it is charged';
comment on column account.closed is 'When the end of all that it had was on its way';
comment on column account.erased is 'When its users and contact data were deleted';
comment on column account.charge_tries is 'How often the last invoice was charged by itself';
comment on column account.charge_again is 'When it is charged again, if it is still owed (UTC)';
comment on column account.charge_told is 'Of which try the account was told that it failed';
comment on column account.suspended is 'Since when its services rest (UTC); null: they do not';
comment on column account.suspension_warned is
    'When the account was told that its services are going to rest; null: it was not';
comment on column account.parent_pays is 'Whether its parent owes what it is invoiced for';
create index on account (parent_id, id) where parent_id is not null;
create index on account (canceled) where canceled is not null;
create index account_owing on account (id) where balance > 0;
create index on account (charge_again) where charge_again is not null;
create index account_suspended on account (id) where suspended is not null;

create table account_beta (
    account_id bigint not null references account,
    beta_id text not null references beta,
    enrolled timestamp(0) not null,
    primary key (account_id, beta_id)
);

create table api_user (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    username text not null unique,
    email text not null default '',
    restricted boolean not null default false,
    created timestamp(0) not null,
    user_type text not null default 'default'
        check (user_type in ('default', 'parent', 'child', 'proxy')),
    password_hash text,
    password_created timestamp(0),
    tfa_secret bytea,
    tfa_enabled boolean not null default false,
    tfa_scratch bytea,
    tfa_expiry timestamp(0),
    tfa_counter bigint,
    timezone text not null default 'GMT',
    email_notifications boolean not null default true,
    lish_auth_method text not null default 'keys_only'
        check (lish_auth_method in ('password_keys', 'keys_only', 'disabled')),
    authorized_keys text[],
    preferences json not null default '{}',
    account_access text check (account_access in ('read_only', 'read_write')),
    rights text[] not null default '{}',
    last_login timestamp(0),
    last_login_status text,
    phone_number text
);
comment on column api_user.tfa_secret is 'Sealed';
comment on column api_user.tfa_scratch is 'SHA-256';
comment on column api_user.tfa_counter is 'The last one-time code that was used';
comment on column api_user.rights is 'Global grants that are true, of a restricted user';
create index on api_user (account_id, id);
create unique index api_user_name on api_user (lower(username));

create table security_answer (
    user_id bigint not null references api_user on delete cascade,
    question_id integer not null,
    response bytea not null,
    primary key (user_id, question_id)
);
comment on column security_answer.response is 'Sealed';

create table phone_code (
    user_id bigint primary key references api_user on delete cascade,
    number text not null,
    code bytea not null,
    expiry timestamp not null,
    tries integer not null default 0
);
comment on column phone_code.code is 'SHA-256';

create table ssh_key (
    id bigint generated always as identity (start with 100000) primary key,
    user_id bigint not null references api_user on delete cascade,
    label text not null,
    ssh_key text not null,
    created timestamp(0) not null
);
create index on ssh_key (user_id, id);

create table entity_grant (
    user_id bigint not null references api_user on delete cascade,
    kind text not null,
    entity_id bigint not null,
    permissions text not null check (permissions in ('read_only', 'read_write')),
    primary key (user_id, kind, entity_id)
);
create index on entity_grant (kind, entity_id);
create trigger count_grant after insert or delete on entity_grant
    for each row execute function count_grant();
create trigger count_grant_truncated after truncate on entity_grant
    for each statement execute function count_grant();

create table event (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    action text not null,
    status text not null
        check (status in ('scheduled', 'started', 'finished', 'failed', 'notification')),
    created timestamp(0) not null,
    started timestamp,
    ended timestamp,
    percent_complete smallint,
    username text,
    message text not null default '',
    read boolean not null default false,
    seen boolean not null default false,
    entity json,
    secondary_entity json,
    entity_type text generated always as (entity ->> 'type') stored,
    entity_id text generated always as (entity ->> 'id') stored,
    user_id bigint,
    size integer,
    rate numeric,
    expected timestamp
);
comment on column event.user_id is 'Whose act it was; names change, and others may take them';
comment on column event.size is 'MB that are copied, if that is what happens';
comment on column event.rate is 'MB a second, as of the last progress';
comment on column event.expected is 'When it will be over, by the progress so far';
create index on event (account_id, id);
create index on event (account_id, entity_type, entity_id, id);
create index on event (account_id, entity_id, id);
create index on event (account_id, action, id);
create index on event (account_id, created, id);
create index on event (account_id, id) where not seen;
create index on event (account_id, read, id) where not read;

create table idempotency (
    account_id bigint not null references account,
    key text not null,
    fingerprint bytea not null,
    body bytea,
    created timestamp not null,
    primary key (account_id, key)
);
create index on idempotency (created);

create table tag (
    account_id bigint not null references account,
    label text not null,
    primary key (account_id, label)
);
comment on table tag is 'Every label in a column `tags` has a row here';
