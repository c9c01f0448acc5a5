"""From an instance's row to the specification that an engine works from."""

import asyncio
import base64
from dataclasses import dataclass
from ipaddress import IPv6Interface

from pydantic import BaseModel, ConfigDict

from roost.resources.account import queries as accounts
from roost.resources.addresses import allocation
from roost.resources.catalog import Catalog
from roost.resources.compute import rules
from roost.resources.compute.engine import (
    EngineError,
    GuestAddress,
    GuestSetup,
    InstanceEngine,
    InstanceSpec,
)
from roost.resources.compute.queries import InstanceFacts
from roost.secrets import Box, hash_guest_password
from roost.store import Queries

_IPV6_PREFIX = 64


class SealedSetup(BaseModel):
    """What a guest applies at its first boot, kept sealed in the instance's row.

    The password is plain only until the instance is provisioned.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    root_pass: str | None = None
    root_password_hash: str | None = None
    authorized_keys: list[str] = []
    user_data: str | None = None

    def seal(self, box: Box) -> bytes:
        return box.seal(self.model_dump_json().encode())

    @classmethod
    def unseal(cls, box: Box, sealed: bytes) -> "SealedSetup":
        return cls.model_validate_json(box.open(sealed))

    async def hashed(self) -> "SealedSetup":
        """The same without the plain password."""
        if self.root_pass is None:
            return self
        hashed = await asyncio.to_thread(hash_guest_password, self.root_pass)
        return self.model_copy(update={"root_pass": None, "root_password_hash": hashed})


@dataclass(frozen=True, slots=True)
class InstanceEngines:
    """The engine of each region."""

    by_region: dict[str, InstanceEngine]

    def of(self, region: str) -> InstanceEngine:
        """Raises EngineError for a region that the catalogue no longer has."""
        engine = self.by_region.get(region)
        if engine is None:
            raise _not_served(region)
        return engine

    def holding(self, instance: InstanceFacts) -> InstanceEngine:
        """The engine of an instance's guest.

        Raises EngineError also when this process has another one in its region: that one would
        delete nothing, and addresses would be given back that the guest goes on using.
        """
        engine = self.of(instance.region)
        if instance.engine not in (engine.name, None):
            raise _not_served(instance.region)
        return engine


def _not_served(region: str) -> EngineError:
    return EngineError(f"Region {region} is not served by this worker.")


async def specify(
    db: Queries, catalog: Catalog, facts: InstanceFacts, setup: SealedSetup
) -> InstanceSpec:
    """What the engine should make of an instance."""
    held = await allocation.held_by(db, facts.id)
    address = (facts.ipv6 or "").partition("/")[0]
    return InstanceSpec(
        id=facts.id,
        vcpus=facts.vcpus,
        memory=facts.memory,
        disk=facts.disk - facts.swap_size,
        swap=facts.swap_size,
        image=facts.image,
        mac=rules.mac_address(facts.id),
        ipv4=tuple(GuestAddress(a.interface, a.gateway) for a in held),
        ipv6=IPv6Interface(f"{address}/{_IPV6_PREFIX}") if address else None,
        setup=GuestSetup(
            hostname=rules.hostname(facts.label),
            root_password_hash=setup.root_password_hash,
            authorized_keys=tuple(setup.authorized_keys),
            user_data=base64.b64decode(setup.user_data) if setup.user_data else None,
        ),
        mail_restricted=catalog.restricts_mail(await accounts.created(db, facts.account_id)),
    )
