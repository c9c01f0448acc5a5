"""`roost fsck`: every check of every resource group, and the repair of what they find."""

from collections.abc import Callable
from dataclasses import dataclass

from roost.app.groups import GROUPS
from roost.app.name_server import dns_as_before
from roost.app.roost import Roost, open_roost
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.errors import ShownError
from roost.settings import MAIN_HOST, Settings


@dataclass(slots=True)
class Outcome:
    """How many differences were found, and how many of them mended."""

    found: int = 0
    repaired: int = 0

    @property
    def sound(self) -> bool:
        return self.repaired == self.found

    def __str__(self) -> str:
        if self.found == 0:
            return "clean"
        if self.sound:
            return f"{self.found} found and repaired"
        return f"{self.found} found, {self.repaired} repaired"


async def check_all(roost: Roost, repair: bool, say: Callable[[str], None]) -> Outcome:
    """Compare the database with the engines, and `say` a line for each difference."""
    outcome, installation = Outcome(), Installation(roost.store, roost.services)
    is_main = roost.settings.host == MAIN_HOST
    for check in GROUPS.checks if is_main else GROUPS.checks_on_each_host:
        # Repairs wait until the check has seen everything as it was.
        for finding in [found async for found in check(installation)]:
            outcome.found += 1
            if not repair:
                say(finding.text)
            elif await _repair(finding, say):
                outcome.repaired += 1
    return outcome


async def check_state(settings: Settings, repair: bool, say: Callable[[str], None]) -> Outcome:
    """Check a state, whether its server runs or not; nothing goes on running."""
    async with dns_as_before(settings.state), open_roost(settings, beside=True) as roost:
        return await check_all(roost, repair, say)


async def _repair(finding: Finding, say: Callable[[str], None]) -> bool:
    try:
        done = await finding.repair()
    except (ShownError, UnrepairableError) as error:
        say(f"{finding.text}; not repaired: {error}")
        return False
    say(f"{finding.text}; {done}")
    return True
