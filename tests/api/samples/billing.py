"""Samples of invoices."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.invoices import invoiced


async def _invoice(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return await invoiced(roost, account.id)


async def _item(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """The invoice of the path has one."""
    return 0


SAMPLES = Samples({"view_invoice": Sample(_invoice)}, rows={"list_invoice_items": _item})
