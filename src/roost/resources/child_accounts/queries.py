"""How child accounts are listed."""

from dataclasses import replace

from roost.resources.account.queries import ACCOUNT, account_record
from roost.store.paging import Column

_FILTERABLE = (
    "address_1",
    "address_2",
    "city",
    "company",
    "country",
    "email",
    "first_name",
    "last_name",
    "phone",
    "state",
    "zip",
)

CHILDREN = replace(
    ACCOUNT,
    record=account_record("external"),
    scope="a.parent_id = $1",
    columns={name: Column(f"a.{name}", "text") for name in _FILTERABLE},
)
BY_EUUID = replace(CHILDREN, key="a.euuid")
