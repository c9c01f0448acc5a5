"""`roost top` as text: the most urgent first, as what does not fit is cut off."""

from collections.abc import Sequence

from roost.app.operator.top import MEMORY, EngineState, Guests, Jobs, Room, Rows, Seen, Top
from roost.app.table import line
from roost.app.terminal import Shown, fields, to_table
from roost.core.engine import Folder, room_of

_MIB = 1 << 20
_GIB = 1 << 30
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def to_screen(top: Top) -> str:
    """Lines without control characters."""
    rows, server = top.rows, top.server
    head = [f"roost top, {top.time.isoformat(sep=' ', timespec='seconds')} UTC"]
    head += [f"problem   {line(problem)}" for problem in top.problems]
    head += [] if server is None else [_requests(server), _engines(server.engines)]
    head += [] if rows is None else [*_jobs(rows.jobs), _database(rows)]
    tables = [] if rows is None else [_guests(rows.guests)]
    tables += [] if server is None else [[_room(each) for each in server.room]]
    tables += [] if rows is None else [[fields(each) for each in rows.accounts]]
    texts = [to_table(table, list(table[0])) for table in tables if table]
    return "\n\n".join(["\n".join(head), *texts])


def _requests(server: Seen) -> str:
    found = server.requests
    if found is None:
        return f"requests  of {line(server.url)}: not known yet"
    took = "" if found.milliseconds is None else f", {found.milliseconds:g} ms each"
    return (
        f"requests  {found.answered:g}/s at {line(server.url)}, {found.refused:g}/s refused,"
        f" {found.failed:g}/s failed{took}"
    )


def _engines(engines: Sequence[EngineState]) -> str:
    down = [f"{each.region}/{each.plane} ({each.engine})" for each in engines if not each.up]
    text = f"engines   {len(engines) - len(down)} of {len(engines)} can serve"
    return f"{text}; not: {line(', '.join(down))}" if down else text


def _jobs(jobs: Jobs) -> list[str]:
    lines = [
        f"jobs      {jobs.queued} queued{_since(jobs.oldest_queued)}, {jobs.running} running,"
        f" {jobs.waiting} between attempts{_since(jobs.oldest_begun)}"
    ]
    if jobs.failed:
        kinds = ", ".join(f"{kind} {number}" for kind, number in jobs.failed.items())
        lines.append(f"failed    in the last hour: {line(kinds)}")
    return lines


def _since(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for unit, name in _UNITS:
        if seconds >= unit:
            return f" (oldest {seconds / unit:.1f} {name})"
    return f" (oldest {seconds:.0f} s)"


def _database(rows: Rows) -> str:
    found = rows.database
    return (
        f"database  {found.size / _MIB:.0f} MiB, {found.connections} of {found.most_connections}"
        f" connections, longest transaction {found.transaction:.1f} s; workers: {rows.workers}"
    )


def _guests(guests: Sequence[Guests]) -> list[Shown]:
    """A row for each region, a column for each status that there is."""
    statuses = sorted({each.status for each in guests})
    numbers = {(each.region, each.status): each.instances for each in guests}
    regions = dict.fromkeys(each.region for each in guests)
    return [
        {"region": region}
        | {f"guests {status}": numbers.get((region, status), 0) for status in statuses}
        for region in regions
    ]


def _room(room: Room) -> Shown:
    disk = None if room.what == MEMORY else Folder(room.what, room.free, room.size)
    return {
        "region": room.region,
        "room on": room.what,
        "free": f"{room.free / _GIB:.1f} GiB",
        "of": f"{room.size / _GIB:.1f} GiB",
        "disk": None if disk is None else room_of(disk),
    }
