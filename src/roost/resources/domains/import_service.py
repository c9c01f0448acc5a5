"""Imports of zones: what is found out before the transaction begins, and what it makes of it.

A zone file is read, and another name server tried for a moment, so that most callers learn at once
why an import fails. A server that takes longer is left to a job.
"""

from dataclasses import dataclass

from roost.core.context import Context
from roost.core.limits.check import AtOnce, check_limits
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.domains import jobs, queries, rules, service
from roost.resources.domains.bodies import ImportDomain
from roost.resources.domains.jobs import default_email, keep_import
from roost.resources.domains.parsing import Conversion, Parsed, parse_zone_file
from roost.resources.domains.queries import DomainFacts, NewDomain
from roost.resources.domains.settings import Dns, parse_server
from roost.resources.domains.transfer_client import TransferError, TransferTimeoutError, fetch
from roost.threads import COMPUTING

TOO_MANY = f"An account imports at most {rules.MAX_IMPORTS} domains at the same time"
TRIAL_SECONDS = 2.5

_AT_ONCE = AtOnce(rules.MAX_IMPORTS)


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a zone before its domain is made."""

    body: ImportDomain
    parsed: Parsed | None
    """None when a job has to fetch it."""


async def find(context: Context, body: ImportDomain) -> Found:
    """Raises 400 with what is wrong with the zone, or why it cannot be had."""
    await service.check_free(context, body.domain.lower())
    with _AT_ONCE.one(context.account_id):
        if body.zone_file is not None:
            return Found(body, await _read(context, body.domain, body.zone_file))
        return Found(body, await _try(context, body.domain, body.remote_nameserver or ""))


async def make(context: Context, found: Found) -> DomainFacts:
    """The domain, with its records where they are known already."""
    body, parsed = found.body, found.parsed
    if parsed is None:
        await queries.lock_imports(context.db, context.account_id)
        if await queries.count_imports(context.db, context.account_id) >= rules.MAX_IMPORTS:
            raise invalid(TOO_MANY)
    facts = await service.insert(context, _new(context, body))
    if parsed is None:
        await jobs.start_import(context, facts, body.remote_nameserver or "")
    else:
        await keep_import(context.db, facts, parsed, context.clock.now())
        await jobs.start(context, jobs.ZONE_SYNC, facts, "dns_zone_import")
    await check_limits(context, queries.LIMIT)
    return facts


async def _read(context: Context, domain: str, zone_file: str) -> Parsed:
    conversion = Conversion(domain.lower(), context.get(Dns))
    parsed = await COMPUTING.run(parse_zone_file, zone_file, conversion)
    return _accepted(parsed, "zone_file")


async def _try(context: Context, domain: str, remote: str) -> Parsed | None:
    server = parse_server(remote)
    assert server is not None
    try:
        parsed = await fetch(domain.lower(), server, context.get(Dns), TRIAL_SECONDS)
    except TransferTimeoutError:
        return None
    except TransferError as error:
        raise invalid(str(error), "remote_nameserver") from None
    return _accepted(parsed, "remote_nameserver")


def _accepted(parsed: Parsed, field: str) -> Parsed:
    if parsed.refusals:
        raise invalid_fields([Problem(reason, field) for reason in parsed.refusals])
    return parsed


def _new(context: Context, body: ImportDomain) -> NewDomain:
    return NewDomain(
        account_id=context.account_id,
        domain=body.domain,
        type="master",
        status="active",
        soa_email=default_email(body.domain),
        description="",
        group="",
        master_ips=[],
        axfr_ips=[],
        refresh_sec=0,
        retry_sec=0,
        expire_sec=0,
        ttl_sec=0,
        tags=[],
        dnssec=False,
        serial=rules.next_serial(0, context.clock.now()),
        importing=True,
    )
