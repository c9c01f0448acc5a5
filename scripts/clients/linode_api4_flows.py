"""The Python SDK."""

from flows import IMAGE, PASSWORD, PLAN, REGION, TOKEN, URL, run, until
from linode_api4 import (
    ApiError,
    Instance,
    Kernel,
    LinodeClient,
    Region,
    Volume,
)

client = LinodeClient(TOKEN, base_url=f"{URL}/v4")


def new_instance(label: str, **more: object) -> Instance:
    made = client.linode.instance_create(
        PLAN, REGION, image=IMAGE, root_pass=PASSWORD, label=label, **more
    )
    become(made, "running")
    return made


def become(thing: Instance | Volume, status: str) -> None:
    def is_so() -> bool:
        thing.invalidate()
        return bool(thing.status == status)

    until(is_so)


def catalogue() -> None:
    """Regions, types, images, kernels, prices of volumes, object storage and transfer."""
    assert "Linodes" in client.load(Region, REGION).capabilities
    assert PLAN in [each.id for each in client.linode.types()]
    assert IMAGE in [each.id for each in client.images()]
    assert client.load(Kernel, "linode/latest-64bit").architecture == "x86_64"
    assert [each.id for each in client.volumes.types()] == ["volume"]
    assert [each.id for each in client.object_storage.types()] == ["objectstorage"]
    assert [each.id for each in client.networking.transfer_prices()] == ["network_transfer"]


def instances() -> None:
    """Instance: create, wait, filter, configs and disks, reboot with polled events, delete."""
    made = new_instance("sdk-instance")
    assert [each.id for each in client.linode.instances(Instance.label == made.label)] == [made.id]
    assert made.configs[0].kernel.id == "linode/latest-64bit"
    assert {each.filesystem for each in made.disks} == {"ext4", "swap"}
    poller = client.polling.event_poller_create("linode", "linode_reboot", entity_id=made.id)
    made.reboot()
    assert poller.wait_for_next_event_finished(timeout=60, interval=1).status == "finished"
    made.shutdown()
    become(made, "offline")
    assert made.rebuild(IMAGE, root_pass=PASSWORD)
    become(made, "running")
    assert made.delete()


def volumes() -> None:
    """Volume: create, attach, list, detach, resize, delete."""
    instance = new_instance("sdk-with-volume")
    volume = client.volume_create("sdk-volume", region=REGION, size=10)
    become(volume, "active")
    assert volume.attach(instance)
    until(lambda: [each.id for each in instance.volumes()] == [volume.id])
    volume.invalidate()
    assert volume.linode_id == instance.id
    assert volume.detach()
    until(lambda: not instance.volumes())
    assert volume.resize(20)
    become(volume, "active")
    assert volume.delete()
    assert instance.delete()


def domains() -> None:
    """Domain: create, records, zone file, delete."""
    domain = client.domain_create("sdk.example.org", soa_email="admin@example.org")
    record = domain.record_create("A", name="www", target="192.0.2.1")
    record.target = "192.0.2.2"
    assert record.save()
    assert [each.target for each in domain.records] == ["192.0.2.2"]
    assert domain.zone_file_view()
    assert domain.delete()


def firewalls() -> None:
    """Firewall: create with rules, add an instance, list, delete."""
    instance = new_instance("sdk-behind-firewall")
    ssh = {
        "protocol": "TCP",
        "ports": "22",
        "action": "ACCEPT",
        "label": "ssh",
        "addresses": {"ipv4": ["0.0.0.0/0"]},
    }
    rules = {
        "inbound": [ssh],
        "inbound_policy": "DROP",
        "outbound": [],
        "outbound_policy": "ACCEPT",
    }
    firewall = client.networking.firewall_create("sdk-firewall", rules)
    assert firewall.device_create(instance.id, "linode").entity.type == "linode"
    assert [each.id for each in instance.firewalls()] == [firewall.id]
    assert firewall.delete()
    assert instance.delete()


def tags_and_vpcs() -> None:
    """Tag of an instance, VPC with a subnet."""
    instance = new_instance("sdk-tagged")
    tag = client.tag_create("sdk-tag", instances=[instance])
    assert [each.id for each in tag.objects] == [instance.id]
    assert tag.delete()
    subnet = {"label": "inside", "ipv4": "10.7.0.0/24"}
    vpc = client.vpcs.create("sdk-vpc", REGION, subnets=[subnet])
    assert vpc.subnets[0].linodes == []
    assert vpc.delete()
    assert instance.delete()


def users_and_tokens() -> None:
    """User with grants, token with scopes, SSH key."""
    instance = new_instance("sdk-granted")
    user = client.account.user_create("sdk@example.org", "sdk-user", restricted=True)
    grants = user.grants
    grants.global_grants.add_linodes = True
    assert grants.save()
    user.invalidate()
    assert instance.id in [each.id for each in user.grants.linode]
    assert user.delete()
    token = client.profile.token_create(label="sdk", scopes="linodes:read_only")
    assert token.scopes == "linodes:read_only"
    assert token.delete()
    assert instance.delete()


def stackscripts_and_images() -> None:
    """StackScript with answers on an instance, image of a disk."""
    text = '#!/bin/sh\n# <UDF name="linode_id" label="What to say">\necho "$LINODE_ID"\n'
    script = client.linode.stackscript_create("sdk-script", text, [IMAGE])
    assert [each.id for each in script.images] == [IMAGE]
    instance = new_instance("sdk-scripted", stackscript=script, stackscript_data={"linode_id": "7"})
    instance.shutdown()
    become(instance, "offline")
    image = client.images.create(instance.disks[0].id, "sdk-image")

    def is_available() -> bool:
        image.invalidate()
        return bool(image.status == "available")

    until(is_available)
    assert image.delete()
    assert script.delete()
    assert instance.delete()


def databases() -> None:
    """Managed database: create, credentials, delete."""
    engine, plan = client.database.engines()[0], client.database.types()[0]
    database = client.database.mysql_create("sdk-database", REGION, engine, plan)

    def is_active() -> bool:
        database.invalidate()
        return bool(database.status == "active")

    until(is_active)
    assert database.credentials.password
    assert database.delete()


def account() -> None:
    """Account, transfer, settings, events, tickets, invoices."""
    assert client.account().email
    assert client.account.transfer().quota >= 0
    assert client.account.settings().network_helper in (True, False)
    assert client.support.ticket_open("From the SDK", "It works").summary == "From the SDK"
    assert client.account.events()[0].action
    assert client.account.invoices() is not None


def object_storage() -> None:
    """Bucket and key of a region: create, view, delete."""
    bucket = client.object_storage.bucket_create(REGION, "sdk-bucket")
    assert (bucket.region, bucket.cluster) == (REGION, f"{REGION}-1")
    access = client.object_storage.bucket_access(REGION, bucket.label, "read_only")
    key = client.object_storage.keys_create("sdk-key", bucket_access=access, regions=[REGION])
    assert [each.id for each in key.regions] == [REGION]
    assert key.delete()
    assert bucket.delete()


def nodebalancers() -> None:
    """NodeBalancer: create, config, nodes, firewall, tag, rebuild, delete."""
    made = client.nodebalancer_create(REGION, label="sdk-balancer", tags=["sdk"])
    assert made.hostname.startswith(made.ipv4.address.replace(".", "-"))
    node = new_instance("sdk-node", private_ip=True)
    (private,) = node.ips.ipv4.private
    config = made.config_create(port=80, check="connection")
    held = config.node_create("sdk-web", f"{private.address}:80", mode="accept")
    assert [each.label for each in config.nodes] == ["sdk-web"]
    assert [each.id for each in node.nodebalancers()] == [made.id]
    held.mode = "drain"
    assert held.save()
    rules = {"inbound": [], "inbound_policy": "ACCEPT", "outbound": []}
    rules["outbound_policy"] = "ACCEPT"
    firewall = client.networking.firewall_create("sdk-before", rules)
    firewall.device_create(made.id, "nodebalancer")
    assert [each.id for each in made.firewalls()] == [firewall.id]
    nodes = [{"label": "sdk-other", "address": f"{private.address}:81"}]
    rebuilt = made.config_rebuild(config.id, nodes, algorithm="leastconn")
    assert rebuilt.algorithm == "leastconn"
    assert firewall.delete()
    assert made.delete()
    assert node.delete()


def errors() -> None:
    """Refusals name the fields that were sent."""
    refused = ""
    try:
        client.volume_create("sdk-nowhere", size=10, linode=999_999_999)
    except ApiError as error:
        refused = str(error)
    assert "linode_id: linode_id is not valid" in refused


def later_lists() -> None:
    """What later revisions have is empty: clusters, placement groups."""
    assert list(client.lke.clusters()) == []
    assert list(client.placement.groups()) == []
    assert list(client.longview.clients()) == []


run(
    [
        catalogue,
        instances,
        volumes,
        domains,
        firewalls,
        tags_and_vpcs,
        users_and_tokens,
        stackscripts_and_images,
        databases,
        account,
        object_storage,
        nodebalancers,
        errors,
        later_lists,
    ]
)
