"""Which config a boot, or a volume that is attached, is meant for."""

from collections.abc import Sequence

from roost.errors import ApiError, invalid
from roost.resources.compute.configs import queries
from roost.resources.compute.configs.queries import ConfigName
from roost.resources.compute.queries import InstanceFacts
from roost.store import Queries


async def choose(db: Queries, facts: InstanceFacts, config_id: int | None) -> ConfigName:
    """The config of this id, else the only one, else the last booted.

    ApiError 400 when it is no config of the instance, or none can be selected (reference: boot,
    reboot; spec A volumes create config).
    """
    found = await queries.names(db, facts.id)
    if config_id is not None:
        return _named(found, config_id)
    chosen = default(found, facts.config_id)
    if chosen is None:
        raise _undecided(found)
    return chosen


async def find_default(db: Queries, facts: InstanceFacts) -> ConfigName | None:
    """The only config, else the last booted."""
    return default(await queries.names(db, facts.id), facts.config_id)


def default(configs: Sequence[ConfigName], last_booted: int | None) -> ConfigName | None:
    """The only config, else the last booted."""
    if len(configs) == 1:
        return configs[0]
    return next((config for config in configs if config.id == last_booted), None)


def _named(configs: Sequence[ConfigName], config_id: int) -> ConfigName:
    for config in configs:
        if config.id == config_id:
            return config
    raise invalid("config_id is not valid", "config_id")


def _undecided(configs: Sequence[ConfigName]) -> ApiError:
    if not configs:
        return invalid("Compute has no configuration.", "config_id")
    return invalid("config_id is required, as none of them was booted last", "config_id")
