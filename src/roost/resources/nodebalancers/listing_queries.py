"""The SQL of the list of NodeBalancers of all accounts, for the operator."""

from roost.core.listed_queries import ACCOUNT, Listed, contains

NODEBALANCERS = Listed(
    name="nodebalancer",
    source="nodebalancer t",
    columns={
        "id": "t.id",
        "account_id": "t.account_id",
        "label": "t.label",
        "region": "t.region",
        "host": "t.host",
        "ipv4": "host(t.address)",
        "status": "case when t.deleting then 'deleting' when t.resting then 'suspended'"
        " else 'active' end",
        "configs": "(select count(*) from nodebalancer_config c where c.nodebalancer_id = t.id)",
        "engine": "t.engine",
        "created": "t.created",
    },
    shown=("id", "account_id", "label", "region", "host", "ipv4", "status", "configs"),
    filters={
        "account": ACCOUNT,
        "region": "t.region = {}",
        "host": "t.host = {}",
        "label": contains("t.label"),
    },
    resource="'nodebalancer:' || t.id",
    entity="nodebalancer",
)
