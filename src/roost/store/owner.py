"""The application's role in the server of our own: it owns the database and is no superuser.

So no statement, whoever made it, runs a program or reads a file of the host.
"""

from roost.store.pool import connect

OWNER = "roost"

_LOCK = 0x6F776E6572
"""The advisory lock of who makes the role ("owner")."""

_MAKE = f"""
do $$
declare thing record;
begin
    perform pg_advisory_xact_lock({_LOCK});
    if not exists (select from pg_roles where rolname = '{OWNER}') then
        create role {OWNER} login;
    end if;
    if not pg_has_role('{OWNER}', (
        select datdba from pg_database where datname = current_database()), 'usage')
    then
        execute format('alter database %I owner to {OWNER}', current_database());
    end if;
    -- What an earlier release made as a superuser.
    for thing in
        select oid::regclass as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
            and relowner <> '{OWNER}'::regrole
    loop
        execute format('alter table %s owner to {OWNER}', thing.name);
    end loop;
    for thing in
        select oid::regprocedure as name from pg_proc
        where pronamespace = 'public'::regnamespace and proowner <> '{OWNER}'::regrole
    loop
        execute format('alter routine %s owner to {OWNER}', thing.name);
    end loop;
end $$
"""  # noqa: S608 - constants


async def make_owner(superuser_dsn: str) -> None:
    """See to it that the role is there and owns what is in the database."""
    connection = await connect(superuser_dsn)
    try:
        await connection.execute(_MAKE)
    finally:
        await connection.close()
