"""Samples of child accounts."""

from roost.app.roost import Roost
from roost.ids import new_uuid
from roost.resources.account.queries import create_account
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.families import adopt


async def make_child(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """One of an account whose users know already that they are a parent's."""
    child = await create_account(roost.store, new_uuid(), roost.clock.seconds())
    await roost.store.execute(
        """
        update account set first_name = 'Ada', last_name = 'Ray', company = 'Wren', city = 'Rome',
            address_1 = 'Via 1', address_2 = 'Top', state = 'RM', zip = '00100', country = 'IT',
            phone = '+39 1', email = 'ada@example.com'
        where id = $1
        """,
        child,
    )
    return (await adopt(roost, child, account.id)).euuid


SAMPLES = Samples({"view_child_account": Sample(make_child, new_uuid())})
