"""How many rows an account has of instances, volumes and domains, and a user of grants on them."""

_TABLES = """
create table row_count (
    owner bigint not null,
    kind text not null,
    label text not null,
    amount bigint not null
);
create index on row_count (owner, kind, label) include (amount);
comment on table row_count is
    'How many rows there are: the sum of amounts, one for each row that comes or goes';
comment on column row_count.owner is 'The account, or the user whose grants are counted';
comment on column row_count.label is 'A tag that the rows have; empty: all rows';

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

create trigger count_grant after insert or delete on entity_grant
    for each row execute function count_grant();
create trigger count_grant_truncated after truncate on entity_grant
    for each statement execute function count_grant();
create index volume_hidden on volume (account_id, id) where deleting;

delete from entity_grant g where not exists (
    select from compute_instance i where g.kind = 'compute' and i.id = g.entity_id
    union all select from volume v where g.kind = 'volume' and v.id = g.entity_id
    union all select from domain d where g.kind = 'domain' and d.id = g.entity_id);
insert into row_count
    select user_id, 'granted ' || kind, '', count(*) from entity_grant group by user_id, kind;
"""

_COUNT = """
create trigger count_row after insert or delete on {table}
    for each row execute function count_row('{kind}');
create trigger count_truncated after truncate on {table}
    for each statement execute function count_row('{kind}');
create trigger count_tags after update of tags on {table}
    for each row when (old.tags is distinct from new.tags)
    execute function count_tags('{kind}');
create trigger drop_grants after delete on {table}
    for each row execute function drop_grants('{kind}');
insert into row_count select account_id, '{kind}', '', count(*) from {table} group by account_id;
insert into row_count
    select account_id, '{kind}', tag, count(distinct id) from {table}, unnest(tags) as tag
    group by account_id, tag;
"""

_KINDS = {"compute": "compute_instance", "volume": "volume", "domain": "domain"}

UPGRADE = _TABLES + "".join(_COUNT.format(table=table, kind=kind) for kind, table in _KINDS.items())

DOWNGRADE = """
drop index volume_hidden;
drop function drop_grants cascade;
drop function count_grant cascade;
drop function count_tags cascade;
drop function count_row cascade;
drop table row_count;
"""
