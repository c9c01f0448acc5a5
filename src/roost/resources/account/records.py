"""Records of the account (reference: Account, Account settings)."""

from typing import Literal

from typing_extensions import TypedDict


class CreditCard(TypedDict):
    """The card on file; nulls without one. expiry is MM/YYYY."""

    last_four: str | None
    expiry: str | None


class Promotion(TypedDict):
    """A credit that the account may use; amounts are decimal strings of US dollars."""

    credit_monthly_cap: str
    credit_remaining: str
    description: str
    expire_dt: str | None
    image_url: str
    summary: str
    this_month_credit_remaining: str
    service_type: str


class AccountData(TypedDict):
    """Contact and billing data; balances in US dollars."""

    active_promotions: list[Promotion]
    active_since: str
    address_1: str
    address_2: str
    balance: float
    balance_uninvoiced: float
    capabilities: list[str]
    city: str
    credit_card: CreditCard
    company: str
    country: str
    email: str
    first_name: str
    last_name: str
    phone: str
    state: str
    tax_id: str
    euuid: str
    zip: str


class AccountRow(AccountData):
    """The caller's account, billed by this cloud or by a partner."""

    billing_source: Literal["platform", "partner"]


class SettingsRow(TypedDict):
    managed: bool
    longview_subscription: str | None
    network_helper: bool
    backups_enabled: bool
    object_storage: Literal["disabled", "suspended", "active"]
