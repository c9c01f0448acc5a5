"""What an instance gets with an image: the disks, and the config that boots it."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.resources.account.queries import network_helper
from roost.resources.compute import profile_queries
from roost.resources.compute.configs.rules import DEFAULT_KERNEL, default_helpers, profile_label
from roost.resources.compute.disks.rules import image_label
from roost.resources.compute.guest import SealedSetup
from roost.resources.compute.interfaces import Interface
from roost.resources.compute.profile_queries import Profile
from roost.secrets import Box


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller decides; sizes in MB, `disk` is what the plan has for all disks."""

    image: str
    disk: int
    swap_size: int
    setup: SealedSetup
    interfaces: Sequence[Interface]


async def give_profile(context: Context, compute_id: int, wanted: Wanted) -> int:
    """Main disk, swap and a config with both (spec B compute 2); the config's id."""
    image = context.get(Catalog).find_image(wanted.image)
    label = image_label(wanted.image if image is None else image.label)
    helpers = default_helpers(await network_helper(context.db, context.account_id))
    profile = Profile(
        compute_id=compute_id,
        now=context.clock.seconds(),
        image=wanted.image,
        disk_label=label,
        disk_size=wanted.disk - wanted.swap_size,
        setup=wanted.setup.seal(context.get(Box)),
        swap_label=f"{wanted.swap_size} MB Swap Image",
        swap_size=wanted.swap_size,
        config_label=profile_label(label),
        kernel=DEFAULT_KERNEL,
        helpers=orjson.dumps(helpers).decode(),
        interfaces=orjson.dumps([each.model_dump() for each in wanted.interfaces]).decode(),
    )
    return await profile_queries.insert(context.db, profile)
