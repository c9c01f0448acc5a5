"""The SQL of the list of managed databases of all accounts, for the operator."""

from roost.core.listed_queries import ACCOUNT, Listed, contains

DATABASES = Listed(
    name="database",
    source="managed_database t",
    columns={
        "id": "t.id",
        "account_id": "t.account_id",
        "label": "t.label",
        "region": "t.region",
        "type": "t.type",
        "engine": "t.engine",
        "version": "t.version",
        "cluster_size": "t.cluster_size",
        "status": "case when t.deleting then 'deleting' else t.status end",
        "host_primary": "t.host_primary",
        "port": "t.port",
        "used_mb": "t.used_mb",
        "disk": "t.disk",
        "disk_full": "t.disk_full",
        "server": "t.server",
        "created": "t.created",
    },
    shown=(
        *("id", "account_id", "label", "region", "type", "engine", "version", "cluster_size"),
        *("status", "host_primary", "port"),
    ),
    filters={
        "account": ACCOUNT,
        "region": "t.region = {}",
        "status": "t.status = {}",
        "label": contains("t.label"),
    },
    resource="'database:' || t.id",
    entity="database",
)
