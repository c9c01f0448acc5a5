"""Rebuilding: other disks and another config, from an image (reference: rebuild)."""

import base64

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.errors import invalid
from roost.resources.compute.bodies import Metadata
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.changes import check_image
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.guest import SealedSetup
from roost.resources.compute.lifecycle import jobs, queries, rules
from roost.resources.compute.lifecycle.args import RebuildArgs
from roost.resources.compute.lifecycle.bodies import RebuildInstance
from roost.resources.compute.lifecycle.plans import Specs, check_plan
from roost.resources.compute.lifecycle.user_data import check_user_data
from roost.resources.compute.profile import Wanted, give_profile
from roost.resources.compute.queries import InstanceFacts
from roost.resources.ssh_keys.stored import stored_keys
from roost.secrets import Box


async def rebuild(context: Context, instance: InstanceFacts, body: RebuildInstance) -> None:
    """The rows are those of what is going to be; the job knows what was."""
    assert body.image is not None
    await check_image(context, instance, body.image)
    if body.metadata is not None and body.metadata.user_data is not None:
        check_user_data(context, instance.region, body.image, body.metadata.user_data)
    keys = await stored_keys(context, body.authorized_keys, body.authorized_users)
    specs = await _specs(context, instance, body)
    swap = _swap(context, body.image, specs)
    args = await _former(context, instance, body)
    now = context.clock.now()
    await queries.mark_deleting(context.db, args.disks, now)
    await queries.set_specs(context.db, instance.id, specs, now)
    await queries.set_image(context.db, instance.id, body.image)
    await _replace_user_data(context, instance, body.metadata)
    setup = SealedSetup(root_pass=body.root_pass, authorized_keys=keys)
    await give_profile(context, instance.id, Wanted(body.image, specs.disk, swap, setup, ()))
    await log.start(context, jobs.REBUILD, args, COMPUTE.of(instance))


async def _specs(context: Context, instance: InstanceFacts, body: RebuildInstance) -> Specs:
    if body.type in (None, instance.type):
        return await queries.specs_of(context.db, instance.id)
    return await check_plan(context, instance, str(body.type))


def _swap(context: Context, image_id: str, specs: Specs) -> int:
    """MB; 400 when the plan's disk does not even hold the image."""
    image = context.get(Catalog).find_image(image_id)
    assert image is not None
    swap = rules.swap_beside(image.size, specs.disk)
    if swap is None:
        raise invalid(f"The image needs {image.size} MB, the plan has {specs.disk} MB", "image")
    return swap


async def _former(context: Context, instance: InstanceFacts, body: RebuildInstance) -> RebuildArgs:
    user_data = instance.user_data
    return RebuildArgs(
        compute_id=instance.id,
        username=context.identity.username,
        booted=body.booted,
        disks=[disk.id for disk in await disks.of_instance(context.db, instance.id)],
        configs=[config.id for config in await configs.names(context.db, instance.id)],
        image=instance.image,
        user_data=None if user_data is None else base64.b64encode(user_data),
        specs=await queries.specs_of(context.db, instance.id),
    )


async def _replace_user_data(
    context: Context, instance: InstanceFacts, metadata: Metadata | None
) -> None:
    """What is omitted stays; null takes the user data away."""
    if metadata is None or "user_data" not in metadata.model_fields_set:
        return
    text = metadata.user_data
    sealed = None if text is None else context.get(Box).seal(text.encode())
    await queries.set_user_data(context.db, instance.id, sealed)
