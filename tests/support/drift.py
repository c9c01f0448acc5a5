"""What `roost fsck` finds, by some of its checks: all of them take ten times as long, and longer
with each thing that another test has left."""

from contextlib import suppress

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.bindings import check_bindings
from roost.core.fsck import Installation, UnrepairableError
from roost.core.group import Group
from roost.errors import ShownError
from roost.resources.compute.group import GROUP as COMPUTE
from roost.resources.images.group import GROUP as IMAGES
from roost.resources.payments.group import GROUP as PAYMENTS
from roost.resources.volumes.group import GROUP as VOLUMES

_BINDINGS = check_bindings(GROUPS.bindings)


async def drift(roost: Roost, *names: str) -> list[str]:
    """Of some things of an account, such as `volume 7`, by the checks that name them."""
    installation = Installation(roost.store, roost.services)
    checks = (*COMPUTE.checks, *IMAGES.checks, *PAYMENTS.checks, *VOLUMES.checks)
    texts = [found.text for check in checks async for found in check(installation)]
    return [text for text in texts if any(f"{name} " in text for name in names)]


async def differences(roost: Roost, group: Group, *, repair: bool = False) -> list[str]:
    """Of a group, and of what is bound to what; mended where they can be and that is wanted."""
    lines, installation = list[str](), Installation(roost.store, roost.services)
    for check in (*group.checks, _BINDINGS):
        for finding in [found async for found in check(installation)]:
            lines.append(finding.text)
            if repair:
                with suppress(ShownError, UnrepairableError):
                    await finding.repair()
    return lines
