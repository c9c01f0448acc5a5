"""How fast a guest may send: what is more waits for a moment, and is dropped.

What comes from a guest's device is led through a queue of its own, and then goes on as if it had
come just now. The queue outlives the guest, the way to it ends with the guest's device.
"""

import socket

import structlog

from roost.core.engine import EngineError
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.namespace import within

_log = structlog.get_logger(__name__)

_DOING = "The bandwidth could not be limited"
_LEAST_BURST = 512 * 1024
"""Bytes at once; more where the rate needs it, by the kernel's clock of 100 Hz at least."""
_TICKS = 100
_LATENCY = "50ms"


async def shape(name: str, device: str, rate: int) -> None:
    """Before the guest's device is up: `rate` Mbit/s, in the namespace `name`.

    A kernel that lacks the queue lets the guest send as fast as it can.
    """
    queue, burst = queue_of(device), max(_LEAST_BURST, rate * 1_000_000 // 8 // _TICKS)
    links = await within(name, lambda: [link for _, link in socket.if_nameindex()])
    lines = [] if queue in links else [f"link add {queue} type ifb"]
    rules = (
        f"qdisc replace dev {queue} root tbf rate {rate}mbit burst {burst} latency {_LATENCY}",
        f"qdisc add dev {device} ingress",
        f"filter add dev {device} ingress protocol all prio 1 u32 match u32 0 0"
        f" action mirred egress redirect dev {queue}",
    )
    try:
        feed = "\n".join((*lines, f"link set {queue} up")) + "\n"
        await run(_DOING, "ip", "-n", name, "-batch", "-", feed=feed)
        await run(_DOING, "tc", "-n", name, "-batch", "-", feed="\n".join(rules) + "\n")
    except EngineError as error:
        _log.warning("bandwidth_not_limited", device=device, reason=str(error))


def queue_of(device: str) -> str:
    """The device that queues for a guest's, such as `tap100001`."""
    return f"ifb{device.removeprefix('tap')}"
