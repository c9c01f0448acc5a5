"""Samples of beta programs."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client

_BETA = """
    insert into beta (id, label, description, started, greenlight_only, more_info)
    values ('sample', 'Sample', '', '2024-01-01', false, '') on conflict do nothing
"""


async def _beta(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """One that the account takes part in."""
    await roost.store.execute(_BETA)
    await client.send("POST", "/account/betas", {"id": "sample"})
    return "sample"


SAMPLES = Samples(
    {
        "view_account_beta": Sample(_beta, "none"),
        "view_beta": Sample(_beta, "none", shared=True),
    }
)
