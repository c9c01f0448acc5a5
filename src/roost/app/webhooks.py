"""Webhooks of accounts: where their messages may go."""

from ipaddress import ip_network

from roost.core.catalog import Catalog
from roost.engines.webhook.receivers import HttpReceivers, Network
from roost.errors import OperatorError
from roost.resources.webhooks.engine import Outside
from roost.settings import Settings


def open_receivers(settings: Settings, catalog: Catalog) -> Outside:
    """Raises OperatorError for networks that are none."""
    try:
        names = [name.strip() for name in settings.webhook_networks.split(",")]
        allowed = [ip_network(name) for name in names if name]
    except ValueError as error:
        raise OperatorError(f"ROOST_WEBHOOK_NETWORKS: {error}") from None

    def cloud() -> list[Network]:
        networks: list[Network] = []
        for region in catalog.entries.regions:
            networks += (pool.cidr for pool in region.public_ipv4)
            networks += (region.ipv6.cidr, *region.ipv6_ranges)
        return networks

    return Outside(HttpReceivers(allowed, cloud))
