"""Names of clusters and their buckets in the platform's own DNS: a zone for each cluster."""

from ipaddress import ip_address

import structlog

from roost.core.catalog import Catalog
from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.domains import rules
from roost.resources.domains.engine import Master, RRset, Zone
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import PLATFORM_TTL, digest, platform_zone
from roost.resources.object_storage.engine import OBJECT_PLANE

OWNER = "object-storage"

_log = structlog.get_logger(__name__)


async def serve(run: Run[JobArgs]) -> Verdict:
    """Put the zones that are not as the name server has them; drop those that are no longer."""
    dns, wanted = run.get(Dns), set[str]()
    engines = run.get(Engines).by_region(OBJECT_PLANE)
    for cluster in run.get(Catalog).entries.object_clusters:
        engine, name = engines.get(cluster.region), f"{cluster.domain}."
        try:
            address = None if engine is None else await engine.address()
            if address is not None:
                await _serve(run, cluster.domain, address)
            if address is not None or engine is None:
                wanted.add(name)
        except EngineError as error:
            # What was served before is as good as anything.
            wanted.add(name)
            _log.warning("object_names_not_served", zone=cluster.domain, reason=str(error))
    for head in await dns.engine.zones():
        if head.owner == OWNER and head.name not in wanted:
            await dns.engine.delete_zone(head.name, OWNER)
    return next_step()


async def _serve(run: Run[JobArgs], domain: str, address: str) -> None:
    dns = run.get(Dns)
    found = await dns.engine.inspect(f"{domain}.")
    known = found is not None and found.owner == OWNER and isinstance(found.content, Master)
    before = found.content.soa.serial if found and isinstance(found.content, Master) else 0
    zone = make_zone(domain, address, dns, rules.next_serial(before, run.clock.now()))
    if not known or found is None or digest(found) != digest(zone):
        await dns.engine.put_zone(zone)


def make_zone(domain: str, address: str, dns: Dns, serial: int) -> Zone:
    """The cluster itself and all its buckets have the address."""
    kind = "A" if ip_address(address).version == 4 else "AAAA"
    rrsets = [
        RRset(f"{name}{domain}.", kind, PLATFORM_TTL, frozenset([address])) for name in ("", "*.")
    ]
    return platform_zone(domain, OWNER, rrsets, domain, dns.nameservers, serial)


NAMES = JobKind(
    "object_storage_names",
    JobArgs,
    steps=(Step("serve", serve, timeout=60),),
    retry=Retry(attempts=2),
)
EVERY_MINUTE = Schedule("object_storage_names", "* * * * *", NAMES, JobArgs())
