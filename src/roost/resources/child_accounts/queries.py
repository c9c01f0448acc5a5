"""SQL of child accounts, and of the tokens by which users of their parent act in them."""

from dataclasses import replace

from roost.resources.account.queries import CHILDREN as ALL_CHILDREN
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
    ALL_CHILDREN,
    columns={name: Column(f"a.{name}", "text", folds=True) for name in _FILTERABLE},
)
BY_EUUID = replace(CHILDREN, key="a.euuid")
