"""Which scheduled events of a cluster are enabled, as its replicas have to know before one leads.

An event that a replica makes or changes because its primary did is SLAVESIDE_DISABLED there,
whether it is enabled or disabled at the primary. So the primary is asked from time to time. What
nobody has asked about when the primary dies stays disabled: it might delete what it should not.
"""

from contextlib import suppress

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.mariadb.server import Server

_DOING = "Scheduled events could not be enabled"
_STATES = {"ENABLED": "enable", "DISABLED": "disable", "SLAVESIDE_DISABLED": "disable on slave"}
_UNDECIDED = "SLAVESIDE_DISABLED"
_SELECT = r"""
    select db, name, definer, status, modified from mysql.event
    where concat(db, name, definer) not regexp '[[:cntrl:]\\\\]'
    """
"""A name that is shown otherwise than it is written fits none."""

_Name = tuple[str, str]
_Row = dict[str, str]


async def copy_states(primary: Server, replica: Server) -> None:
    """Events of the replica are enabled and disabled like those of the primary. Raises
    EngineError."""
    undecided = {name for name, row in (await _events(replica)).items() if _is_undecided(row)}
    if not undecided:
        return
    events = await _events(primary)
    known = {n: e for n, e in events.items() if n in undecided and not _is_undecided(e)}
    with suppress(EngineError):  # One was dropped meanwhile; the others wait for the next time.
        await _set(replica, known)
    now = await _events(primary)
    changed = {n: e | {"status": _UNDECIDED} for n, e in known.items() if n in now and now[n] != e}
    await _set(replica, changed)


async def undecided(server: Server) -> int:
    """How many events neither run nor are disabled by their owner. Raises EngineError."""
    return sum(map(_is_undecided, (await _events(server)).values()))


async def _events(server: Server) -> dict[_Name, _Row]:
    return {(row["db"], row["name"]): row for row in await server.rows(_DOING, _SELECT)}


async def _set(server: Server, events: dict[_Name, _Row]) -> None:
    if not events:
        return
    altered = (
        f"alter definer = {_definer(event['definer'])}"
        f" event {_quoted(db)}.{_quoted(name)} {_STATES[event['status']]};"
        for (db, name), event in events.items()
    )
    await server.execute(_DOING, SecretStr(f"set session sql_log_bin = 0; {''.join(altered)}"))


def _is_undecided(event: _Row) -> bool:
    return event["status"] == _UNDECIDED


def _definer(account: str) -> str:
    user, _, host = account.rpartition("@")
    return f"{_quoted(user)}@{_quoted(host)}"


def _quoted(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))
