"""The SQL of the list of domains of all accounts, for the operator."""

from roost.core.listed_queries import ACCOUNT, Listed, contains

DOMAINS = Listed(
    name="domain",
    source="domain t",
    columns={
        "id": "t.id",
        "account_id": "t.account_id",
        "domain": "t.domain",
        "type": "t.type",
        "status": "t.status",
        "records": "t.records",
        "serial": "t.serial",
        "dnssec": "t.dnssec",
        "errors": "t.errors",
        "created": "t.created",
    },
    shown=("id", "account_id", "domain", "type", "status", "records", "serial", "dnssec", "errors"),
    filters={
        "account": ACCOUNT,
        "status": "t.status = {}",
        "type": "t.type = {}",
        "domain": contains("t.domain"),
    },
    resource="'zone:' || t.zone",
    entity="domain",
)
