"""The admin user of an account: the owner of its own databases, and nothing over the server.

It is no superuser, so that it reaches no files and no programs of the host, and cannot replicate.
Nor may it make other users: in PostgreSQL 15 who may do that can give itself the predefined roles
that reach files and programs. Extensions that are marked as trusted it can create.
"""

# ruff: noqa: S608  (what is put into statements consists of letters and digits)

import re

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.server import Server
from roost.resources.databases.engine import DatabaseSpec, most_data
from roost.threads import DISK

_PLAIN = re.compile(r"[A-Za-z0-9]{1,64}")
_SETTING_UP = "The user of the database could not be set up"
_LIMITING = "What the user may do could not be set"
_PATIENCE = 5
"""Seconds that a transaction of the user may hold what is to be changed of it."""


def statements(spec: DatabaseSpec, *, shut_out: bool) -> str:
    """SQL that makes the user, or changes it. ValueError for unusual characters."""
    _check(spec.username)
    _check(spec.password)
    login = "nologin" if shut_out else "login"
    read_only = (
        "set default_transaction_read_only = on"
        if spec.full
        else "reset default_transaction_read_only"
    )
    return f"""
        set lock_timeout = '{_PATIENCE}s';
        do $$ begin
            if not exists (select from pg_catalog.pg_roles where rolname = '{spec.username}') then
                create role {spec.username};
            end if;
            if exists (select from pg_catalog.pg_database d where d.datname = 'postgres'
                    and d.datdba = 10) then
                alter database postgres owner to {spec.username};
            end if;
        end $$;
        alter role {spec.username} with {login} createdb nosuperuser nocreaterole noreplication
            nobypassrls password '{spec.password}';
        alter role {spec.username} {read_only};
        """


async def set_up(server: Server, spec: DatabaseSpec, *, shut_out: bool) -> None:
    """The user has its password, and may write unless the disk is full. `shut_out`: nobody may log
    in as it. A transaction that keeps us from it is ended. Raises EngineError."""
    text = statements(spec, shut_out=shut_out)
    try:
        await server.execute(_SETTING_UP, SecretStr(text), quiet=True)
    except EngineError:
        await server.execute(_SETTING_UP, SecretStr(f"{_ending(spec)};{text}"))


async def limit_writes(server: Server, spec: DatabaseSpec, *, shut_out: bool) -> None:
    """Whoever is connected would keep what it may do, and is to connect anew. EngineError."""
    _check(spec.username)
    asked = f"""
        select rolcanlogin, coalesce('default_transaction_read_only=on' = any(rolconfig), false)
        from pg_catalog.pg_roles where rolname = '{spec.username}'
        """
    told = (await server.execute(_LIMITING, SecretStr(asked))).split()
    if told == ["f" if shut_out else "t", "t" if spec.full else "f"]:
        return
    await set_up(server, spec, shut_out=shut_out)
    await end_sessions(server, spec)


async def end_sessions(server: Server, spec: DatabaseSpec) -> None:
    """Whoever is connected as the user is not any more. Raises EngineError."""
    _check(spec.username)
    await server.execute(_LIMITING, SecretStr(_ending(spec)))


async def is_over(node: Folder, spec: DatabaseSpec) -> bool:
    """Whether somebody has gone on writing."""
    return spec.full and await DISK.run(node.used) >= most_data(spec.disk)


def _ending(spec: DatabaseSpec) -> str:
    """SQL that ends all connections of the user."""
    return f"""
        select count(pg_catalog.pg_terminate_backend(pid))
        from pg_catalog.pg_stat_activity where usename = '{spec.username}'
        """


def _check(text: str) -> None:
    if not _PLAIN.fullmatch(text):
        raise ValueError("user and password consist of letters and digits")
