"""Records of the account (reference: Account, Account settings)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Folded, Timestamp, Uuid


class CreditCard(TypedDict):
    """The card on file; nulls without one. expiry is MM/YYYY."""

    last_four: str | None
    """The last four digits; null without a card."""
    expiry: str | None
    """MM/YYYY; null without a card."""


class Promotion(TypedDict):
    """A credit that the account may use; amounts are decimal strings of US dollars."""

    credit_monthly_cap: str
    """At most so much in one month."""
    credit_remaining: str
    """What is left in all."""
    description: str
    """The terms."""
    expire_dt: str | None
    """When it ends (UTC); null for never."""
    image_url: str
    """A picture for it."""
    summary: str
    """What it is, in a few words."""
    this_month_credit_remaining: str
    """What is left this month."""
    service_type: str
    """What it pays for; `all` for everything."""


class AccountData(TypedDict):
    """Contact and billing data; balances in US dollars."""

    active_promotions: list[Promotion]
    """Credits that the account may use."""
    active_since: Timestamp
    """When the account began (UTC)."""
    address_1: Folded[str]
    """The first line of the address."""
    address_2: Folded[str]
    """The second line of the address."""
    balance: float
    """What is owed; less than 0 is a credit."""
    balance_uninvoiced: float
    """An estimate of the invoice of this month so far."""
    capabilities: list[str]
    """What the account can use, by the names that regions have for it."""
    city: Folded[str]
    """The city."""
    credit_card: CreditCard
    """The card on file."""
    company: Folded[str]
    """The name of the company; empty for a person."""
    country: Folded[str]
    """Two letters of ISO 3166."""
    email: Folded[str]
    """Where mail about the account goes."""
    first_name: Folded[str]
    """The first name of the contact."""
    last_name: Folded[str]
    """The last name of the contact."""
    phone: Folded[str]
    """The contact's phone number."""
    state: Folded[str]
    """The state or province; two letters in the USA and Canada."""
    tax_id: str
    """The tax number; empty where there is none."""
    euuid: Uuid
    """The id of the account for others."""
    zip: Folded[str]
    """The postal code."""


class AccountRow(AccountData):
    """The caller's account, billed by this cloud or by a partner."""

    billing_source: Literal["platform", "external"]
    """Who writes the invoices: this cloud, or the parent of a child account."""


class SettingsRow(TypedDict):
    """What holds for everything new in the account."""

    managed: bool
    """Whether the operator looks after the account's services, for the price of the managed service
    for each instance."""
    longview_subscription: str | None
    """The Longview plan; null for none."""
    network_helper: bool
    """Whether new configs have the network helper."""
    backups_enabled: bool
    """Whether every new instance has backups, whatever its request says."""
    object_storage: Literal["disabled", "suspended", "active"]
    """Whether buckets can be made."""
