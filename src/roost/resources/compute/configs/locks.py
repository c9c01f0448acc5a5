"""The config of a request: found, with its instance locked.

What configs say is read when a guest starts, so that they may change while a job works.
"""

from roost.errors import not_found
from roost.resources.compute.configs import write_queries as queries
from roost.resources.compute.configs.write_queries import ConfigFacts
from roost.resources.compute.locks import check_open, lock
from roost.resources.compute.queries import InstanceFacts
from roost.web.call import Call


async def find_config(call: Call) -> ConfigFacts:
    """404 unless the path names a config of the instance that it names."""
    config = await queries.find(call.db, call.number("computeId"), call.number("configId"))
    if config is None:
        raise not_found()
    return config


async def lock_config(call: Call) -> tuple[InstanceFacts, ConfigFacts]:
    """Both; 404, or 400 while a job replaces the configs."""
    instance = await lock(call)
    config = await find_config(call)
    check_open(instance)
    return instance, config
