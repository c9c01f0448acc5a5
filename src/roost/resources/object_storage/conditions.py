"""What operators have to know of buckets."""

from datetime import UTC, datetime

from cryptography import x509

from roost.core.conditions import MOST, Condition, Watch
from roost.core.context import Context
from roost.resources.object_storage import certificate_queries as queries
from roost.threads import COMPUTING


def _ends(certificates: list[str]) -> list[datetime]:
    """When the first certificate of each chain expires (UTC)."""
    loaded = [x509.load_pem_x509_certificate(each.encode()) for each in certificates]
    return [each.not_valid_after_utc.astimezone(UTC).replace(tzinfo=None) for each in loaded]


async def expired(context: Context) -> list[Condition]:
    """Certificates that clients refuse. New ones are read first, some each time."""
    new = await queries.unread(context.db, MOST)
    ends = await COMPUTING.run(_ends, list(new.values()))
    await queries.set_expires(context.db, dict(zip(new, ends, strict=True)))
    return [
        Condition(
            "certificate_expired",
            hostname,
            "warning",
            f"The certificate of the bucket {hostname} expired at {expires:%Y-%m-%d %H:%M} UTC.",
        )
        for hostname, expires in await queries.expired(context.db, context.clock.now(), MOST)
    ]


WATCH = Watch(("certificate_expired",), expired)
