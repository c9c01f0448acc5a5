"""Apache Libcloud: its drivers for compute and DNS; the address is set in their connections."""

from urllib.parse import urlsplit

from flows import IMAGE, PASSWORD, PLAN, REGION, TOKEN, URL, run, until
from libcloud.compute.providers import get_driver as compute_driver
from libcloud.compute.types import NodeState
from libcloud.compute.types import Provider as ComputeProvider
from libcloud.dns.providers import get_driver as dns_driver
from libcloud.dns.types import Provider as DnsProvider
from libcloud.dns.types import RecordType

compute = compute_driver(ComputeProvider.LINODE)(TOKEN, secure=False, api_version="4.0")
dns = dns_driver(DnsProvider.LINODE)(TOKEN, secure=False, api_version="4.0")
for driver in (compute, dns):
    where = urlsplit(URL)
    driver.connection.host, driver.connection.port = where.hostname, where.port
    driver.connection.connect()


def catalogue() -> None:
    """Locations, sizes and images."""
    assert REGION in [each.id for each in compute.list_locations()]
    assert PLAN in [each.id for each in compute.list_sizes()]
    assert IMAGE in [each.id for each in compute.list_images()]


def nodes() -> None:
    """Node: create, wait, reboot, destroy."""
    (location,) = (each for each in compute.list_locations() if each.id == REGION)
    (size,) = (each for each in compute.list_sizes() if each.id == PLAN)
    (image,) = (each for each in compute.list_images() if each.id == IMAGE)
    made = compute.create_node(
        location=location, size=size, image=image, name="libcloud-node", root_pass=PASSWORD
    )

    def is_running() -> bool:
        return bool(compute.list_nodes()[-1].state == NodeState.RUNNING)

    until(is_running)
    assert compute.reboot_node(made)
    until(is_running)
    assert compute.destroy_node(made)


def zones() -> None:
    """Zone: create, record, list, delete."""
    zone = dns.create_zone("libcloud.example.org", extra={"soa_email": "admin@example.org"})
    record = zone.create_record("www", RecordType.A, "192.0.2.3")
    assert [(each.name, each.data) for each in zone.list_records()] == [("www", "192.0.2.3")]
    assert record.delete()
    assert zone.delete()


run([catalogue, nodes, zones])
