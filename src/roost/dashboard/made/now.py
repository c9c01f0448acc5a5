"""How the cloud is, what serves it, and whether the database and the engines agree."""

from collections.abc import Sequence

from roost.app.name_server import dns_as_before
from roost.app.operator.engines import list_engines
from roost.app.operator.top import Room, Rows, Seen
from roost.app.roost import open_roost
from roost.app.terminal import fields
from roost.dashboard.desk import Desk
from roost.dashboard.page import Act, Input, Page, Sent
from roost.dashboard.parts import Asked, Lines, Meter, Meters, Part, Record, Table

_MIB, _GIB = 1 << 20, 1 << 30
_TOOK = "milliseconds"
_YES = "yes"


async def _overview(desk: Desk, _asked: Asked) -> Sequence[Part]:
    top = await desk.look()
    parts: list[Part] = [Lines("Problems", top.problems, "None.")]
    if top.server is not None:
        parts += _served(top.server)
    if top.rows is not None:
        parts += _counted(top.rows)
    return parts


def _served(server: Seen) -> Sequence[Part]:
    down = [f"{each.region}, {each.plane}: {each.engine}" for each in server.engines if not each.up]
    counted = {} if server.requests is None else fields(server.requests)
    requests = {
        f"{name} each" if name == _TOOK else f"{name} in a second": value
        for name, value in counted.items()
    }
    return (
        Lines("Engines that can't serve", down, "All can."),
        Meters("Room", [_meter(each) for each in server.room]),
        Record("The server", {"address": server.url, **requests}),
    )


def _meter(room: Room) -> Meter:
    taken = room.size - room.free
    text = f"{taken / _GIB:.1f} of {room.size / _GIB:.1f} GiB"
    return Meter(f"{room.region}: {room.what}", taken, max(room.size, 1), text)


def _counted(rows: Rows) -> Sequence[Part]:
    found = rows.database
    failed = [{"kind": kind, "failed": count} for kind, count in rows.jobs.failed.items()]
    jobs = {name: value for name, value in fields(rows.jobs).items() if name != "failed"}
    return (
        Record("Jobs", {**jobs, "workers": rows.workers}),
        Table("Failed within the last hour", failed, ("kind", "failed")),
        Table(
            "Instances", [fields(each) for each in rows.guests], ("region", "status", "instances")
        ),
        Record(
            "Database",
            {
                "size": f"{found.size / _MIB:.0f} MiB",
                "connections": f"{found.connections} of {found.most_connections}",
                "longest transaction": f"{found.transaction:.1f} s",
            },
        ),
    )


async def _engines(desk: Desk, _asked: Asked) -> Sequence[Part]:
    settings = desk.settings
    async with dns_as_before(settings.state), open_roost(settings, beside=True) as roost:
        rows = [fields(each) for each in await list_engines(roost)]
    columns = ("region", "plane", "engine", "kind", "healthy", "detail", "why")
    return (Table("", rows, columns),)


async def _agreement(desk: Desk, _asked: Asked) -> Sequence[Part]:
    looked = desk.looked
    if looked is None:
        return (Lines("Findings", (), "Nobody has looked since these pages were opened."),)
    return (
        Record("The last look", {"at": looked.at, "outcome": looked.outcome}),
        Lines("Findings", looked.findings, "None: they agree."),
    )


async def _check(desk: Desk, _asked: Asked, sent: Sent) -> None:
    await desk.check(repair=sent["repair"] == _YES)


PAGES = (
    Page(
        "/",
        "Now",
        _overview,
        lead="What the rows say and the server of this state counts, as `roost top` shows it.",
        in_menu=True,
    ),
    Page(
        "/engines",
        "Engines",
        _engines,
        lead="Each is asked how it is when this page is opened.",
        in_menu=True,
    ),
    Page(
        "/fsck",
        "Database and engines",
        _agreement,
        lead="Whether what the database says is what the engines hold, as `roost fsck` finds it.",
        acts=(
            Act(
                "check",
                "Compare them",
                "Instances with an unfinished job are left alone. With a repair, what is found is "
                "mended, and guests without a row are lost.",
                _check,
                (Input("repair", "Repair", ("no", _YES), "no"),),
            ),
        ),
        in_menu=True,
    ),
)
