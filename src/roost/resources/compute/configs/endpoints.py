"""What the API offers: configs of instances (reference: operations, Compute instances)."""

from roost.resources.compute.configs import changes
from roost.resources.compute.configs.bodies import CreateConfig, UpdateConfig
from roost.resources.compute.configs.listings import CONFIGS
from roost.resources.compute.configs.locks import lock_config
from roost.resources.compute.configs.records import ConfigRow
from roost.resources.compute.locks import check_exists, check_open, lock
from roost.web.call import Call
from roost.web.grants import Read, Write
from roost.web.registry import Page, endpoint

_READ = ("computes:read_only",)
_WRITE = ("computes:read_write",)
_ALL = "/compute/instances/{computeId:int}/configs"
_ONE = f"{_ALL}/{{configId:int}}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Read("compute"),
    returns=Page(ConfigRow),
    filters=CONFIGS.columns,
)
async def list_configs(call: Call) -> bytes:
    """List the configs of a compute instance.

    A config says which disks, volumes and interfaces the guest finds when it boots.
    """
    return await call.collection(
        CONFIGS, call.account_id, await check_exists(call, call.number("computeId"))
    )


@endpoint("GET", _ONE, scopes=_READ, grant=Read("compute"), returns=ConfigRow)
async def view_config(call: Call) -> bytes:
    """View a config.

    With its interfaces.
    """
    return await _view(call, call.number("configId"))


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Write("compute"),
    body=CreateConfig,
    of=list_configs,
    returns=ConfigRow,
    events=("compute_config_create",),
)
async def create_config(call: Call, body: CreateConfig) -> bytes:
    """Create a config.

    It is used when the instance is booted with it.
    """
    instance = await lock(call, call.number("computeId"))
    check_open(instance)
    return await _view(call, await changes.create(call, instance, body))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("compute"),
    body=UpdateConfig,
    of=view_config,
    returns=ConfigRow,
    events=("compute_config_update",),
)
async def update_config(call: Call, body: UpdateConfig) -> bytes:
    """Update a config.

    `devices` and `interfaces` are replaced as a whole. A guest that runs finds the changes at
    its next boot, except volumes, which it finds at once.
    """
    instance, config = await lock_config(call, call.number("computeId"), call.number("configId"))
    await changes.update(call, instance, config, body)
    return await _view(call, config.id)


@endpoint("DELETE", _ONE, scopes=_WRITE, grant=Write("compute"), events=("compute_config_delete",))
async def delete_config(call: Call) -> None:
    """Delete a config.

    Disks and volumes stay. A guest that runs with it goes on running.
    """
    instance, config = await lock_config(call, call.number("computeId"), call.number("configId"))
    await changes.delete(call, instance, config)


async def _view(call: Call, config_id: int) -> bytes:
    return await call.record(config_id, CONFIGS, call.account_id, call.number("computeId"))
