"""What `roost fsck` finds of some things of an account."""

from roost.app.roost import Roost
from roost.core.fsck import Installation
from roost.resources.compute.group import GROUP as COMPUTE
from roost.resources.images.group import GROUP as IMAGES
from roost.resources.payments.group import GROUP as PAYMENTS
from roost.resources.volumes.group import GROUP as VOLUMES


async def drift(roost: Roost, *names: str) -> list[str]:
    """Of those, such as `volume 7`, by the checks that name them.

    Zones are not compared: that takes longer than all the rest, and longer with each address that
    another test has had.
    """
    installation = Installation(roost.store, roost.services)
    checks = (*COMPUTE.checks, *IMAGES.checks, *PAYMENTS.checks, *VOLUMES.checks)
    texts = [found.text for check in checks async for found in check(installation)]
    return [text for text in texts if any(f"{name} " in text for name in names)]
