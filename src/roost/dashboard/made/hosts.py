"""The machines that have guests: what each holds, has promised and has left."""

from collections.abc import Sequence

from roost.app.operator import hosts
from roost.app.operator.hosts import ListedHost
from roost.app.terminal import fields
from roost.dashboard.desk import Desk
from roost.dashboard.page import Act, Input, Page, Sent
from roost.dashboard.parts import Asked, Lines, Meter, Meters, Part, Record, Table

_MOST = 1000
_AT_ONCE = 2
_LIVE, _OFF, _STAY = "while they run", "powered off", "not at all"


async def _hosts(desk: Desk, _asked: Asked) -> Sequence[Part]:
    found = await hosts.list_hosts(desk.store)
    columns = ("name", "state", "instances", "nodebalancers", "promised_memory", "promised_storage")
    return (
        Table("", [fields(each) for each in found], (*columns, "seen"), ("/hosts/", "name")),
        *(Meters(f"Promised on {each.name}", _promised(each)) for each in found),
    )


def _promised(host: ListedHost) -> Sequence[Meter]:
    kinds = (
        ("memory", host.promised_memory, host.memory, "MB"),
        ("processors", host.promised_vcpus, host.cpus, ""),
        ("storage", host.promised_storage, host.storage, "MB"),
    )
    return [
        Meter(name, taken, max(size, 1), f"{taken:,} of {size:,} {unit}".strip())
        for name, taken, size, unit in kinds
        if size is not None
    ]


async def _host(desk: Desk, asked: Asked) -> Sequence[Part]:
    name = asked.params["name"]
    found = dict(await hosts.describe(desk.store, name, _MOST))
    held = found.pop("held")
    rows = held if isinstance(held, list) else []
    parts: list[Part] = [Record("", found)]
    if (moving := desk.moving.get(name)) is not None:
        state = "has ended" if moving.task.done() else "goes on"
        parts.append(Lines(f"The drain {state}", moving.lines, "Nothing has moved yet."))
    return (*parts, Table("Instances", rows, tuple(rows[0]) if rows else ()))


async def _drain(desk: Desk, asked: Asked, sent: Sent) -> None:
    name, how = asked.params["name"], sent["guests"]
    if how == _STAY:
        await hosts.close(desk.store, name)
    else:
        await hosts.describe(desk.store, name, 1)
        desk.drain(name, _AT_ONCE, live=how == _LIVE)


async def _undrain(desk: Desk, asked: Asked, _sent: Sent) -> None:
    await desk.undrain(asked.params["name"])


PAGES = (
    Page(
        "/hosts",
        "Hosts and capacity",
        _hosts,
        lead="Sizes are MB. What is promised is what all instances and volumes may take.",
        in_menu=True,
    ),
    Page(
        "/hosts/{name}",
        "Host {name}",
        _host,
        acts=(
            Act(
                "drain",
                "Drain",
                "Nothing new is placed there. Its guests and NodeBalancers are brought to other "
                "hosts, two at once, as long as `roost dashboard` runs; what is left then stays, "
                "and the next drain goes on with it.",
                _drain,
                (Input("guests", "Guests are moved", (_LIVE, _OFF, _STAY), _LIVE),),
                confirm="name",
            ),
            Act(
                "undrain",
                "Undrain",
                "Something new may be placed there again. A drain of these pages stops.",
                _undrain,
            ),
        ),
    ),
)
