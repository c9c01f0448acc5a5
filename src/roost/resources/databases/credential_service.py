"""What clients need to log in to a managed database, and to know its servers."""

import base64

from roost.core.context import Context
from roost.errors import invalid
from roost.resources.databases.engine import KindName
from roost.resources.databases.records import CredentialsRow, SslRow
from roost.resources.databases.rules import ADMIN
from roost.resources.databases.service import check_status, find
from roost.secrets import Box


async def credentials(context: Context, kind: KindName, database_id: int) -> CredentialsRow:
    """Name and password of its admin user. 400 unless it is `active`."""
    database = await find(context, kind, database_id)
    check_status(database, "active")
    return {"username": ADMIN, "password": context.get(Box).open(database.password).decode()}


async def certificate(context: Context, kind: KindName, database_id: int) -> SslRow:
    """The certificate of its authority. 400 unless it is `active`."""
    database = await find(context, kind, database_id)
    check_status(database, "active")
    if database.ca_certificate is None:
        raise invalid("Database has no certificate.")
    return {"ca_certificate": base64.b64encode(database.ca_certificate.encode()).decode()}
