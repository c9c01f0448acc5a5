"""A config of an instance: found, with its instance locked.

What configs say is read when a guest starts, so that they may change while a job works.
"""

from roost.core.context import Context
from roost.errors import not_found
from roost.resources.compute.configs import write_queries as queries
from roost.resources.compute.configs.write_queries import ConfigFacts
from roost.resources.compute.locks import check_open, lock
from roost.resources.compute.queries import InstanceFacts


async def find_config(context: Context, compute_id: int, config_id: int) -> ConfigFacts:
    """404 unless the instance has it."""
    config = await queries.find(context.db, compute_id, config_id)
    if config is None:
        raise not_found()
    return config


async def lock_config(
    context: Context, compute_id: int, config_id: int
) -> tuple[InstanceFacts, ConfigFacts]:
    """Both; 404, or 400 while a job replaces the configs."""
    instance = await lock(context, compute_id)
    config = await find_config(context, compute_id, config_id)
    check_open(instance)
    return instance, config
