"""The config of a request: found, with its instance locked and free for a change."""

from roost.errors import not_found
from roost.resources.compute.configs import write_queries as queries
from roost.resources.compute.configs.write_queries import ConfigFacts
from roost.resources.compute.locks import check_idle, lock
from roost.resources.compute.queries import InstanceFacts
from roost.web.call import Call


async def find_config(call: Call) -> ConfigFacts:
    """404 unless the path names a config of the instance that it names."""
    config = await queries.find(call.db, call.number("computeId"), call.number("configId"))
    if config is None:
        raise not_found()
    return config


async def lock_config(call: Call) -> tuple[InstanceFacts, ConfigFacts]:
    """Both, with nothing else on its way; 404, or 400 when the instance is busy."""
    instance = await lock(call)
    config = await find_config(call)
    await check_idle(call, instance)
    return instance, config
