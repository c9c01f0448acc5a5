"""Asking name servers what they answer."""

import dns.asyncquery
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from roost.app.roost import Roost
from roost.resources.domains.settings import Dns
from tests.support.client import Client, Json, until

_SECONDS = 20


def where(roost: Roost) -> tuple[str, int]:
    """The address and the port of a Roost's own name server."""
    return roost.services.get(Dns).engine.listening[0]


async def ask(server: tuple[str, int], name: str, kind: str) -> dns.message.Message:
    query = dns.message.make_query(name, kind, use_edns=0, payload=1232)
    host, port = server
    answer, _ = await dns.asyncquery.udp_with_fallback(query, host, port=port, timeout=_SECONDS)
    return answer


async def answers(server: tuple[str, int], name: str, kind: str) -> list[str]:
    """The records of a name and type, in order; those of a delegation too."""
    answer = await ask(server, name, kind)
    sections = [*answer.answer, *answer.authority]
    wanted = (dns.name.from_text(name), dns.rdatatype.from_text(kind))
    return sorted(
        record.to_text()
        for rrset in sections
        if (rrset.name, rrset.rdtype) == wanted
        for record in rrset
    )


async def refused(server: tuple[str, int], name: str) -> bool:
    """Whether the server says that it knows nothing of the zone."""
    return (await ask(server, name, "SOA")).rcode() == dns.rcode.REFUSED


async def told(client: Client) -> list[Json]:
    """The account's events, once none of them is under way."""

    async def events() -> list[Json]:
        return list((await client.get("/account/events?page_size=500"))["data"])

    def over(found: list[Json]) -> bool:
        return all(event["status"] in ("finished", "failed", "notification") for event in found)

    return await until(events, over)
