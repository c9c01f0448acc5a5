"""Keep a cloud in use, with something of each group: `python -m tests.kept.make [PROGRAM]`.

It is made through the API of that program, by default this checkout's, and saved beside this file
as a backup, with what the API showed of it then, both under the revision of its tables.
`tests/cli/test_kept_clouds.py` upgrades all that are here; a new one is for a release that others
come from (docs/releasing.md).
"""

import json
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cli.process import ROOST, Json, Server, roost, wait_until
from tests.cli.test_ticket import TICKETS, attach
from tests.support.databases import DATABASES, database_body
from tests.support.firewalls import FIREWALLS, firewall_body
from tests.support.keys import KEY
from tests.support.object_storage import BUCKETS, KEYS, access_to, bucket_body, path_of
from tests.support.payments import METHODS, PAYMENTS, method_body
from tests.support.transfers import TRANSFERS
from tests.support.vpcs import VPCS, inside, subnet

FOLDER = Path(__file__).parent
ENVIRONMENT = {
    "ROOST_DNS_ENGINE": "simulated",
    "ROOST_OBJECTS_ENGINE": "simulated",
    "ROOST_RATE_LIMIT_SCALE": "0",
}
INSTANCES = "/compute/instances"


class Cloud:
    """What is made in it, and the paths at which it is seen."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.paths: list[str] = []

    def make(self, path: str, body: Json) -> str:
        """The path of a new thing, which is below that of all by its id."""
        made = f"{path}/{self.send('POST', path, body)['id']}"
        self.see(made)
        return made

    def see(self, *paths: str) -> None:
        self.paths += paths

    def get(self, path: str) -> Json:
        return self.send("GET", path)

    def send(self, method: str, path: str, body: Json = None) -> Json:
        status, answer = self.server.send(method, path, body)
        assert status == 200, (method, path, answer)
        return answer

    def settle(self) -> None:
        """Returns when no event is under way."""
        wait_until(lambda: not {"scheduled", "started"} & self._states())

    def _states(self) -> set[str]:
        rows = self.get("/account/events?page_size=500")["data"]
        return {row["status"] for row in rows}


def fill(cloud: Cloud, folder: Path) -> None:
    make_account(cloud)
    instance = make_instances(cloud)
    make_storage(cloud, instance)
    make_networks(cloud, instance)
    make_names(cloud, instance)
    make_support(cloud, folder)
    cloud.see("/tags", "/tags/blue")
    cloud.settle()


def make_account(cloud: Cloud) -> None:
    cloud.send("PUT", "/account", {"company": "Kept", "country": "DE", "zip": "10115"})
    cloud.send("POST", METHODS, method_body())
    cloud.make(PAYMENTS, {"usd": "50.00"})
    user = {"username": "second", "email": "second@example.com", "restricted": True}
    cloud.send("POST", "/account/users", user)
    client = {"label": "app", "redirect_uri": "https://app.example.com/done"}
    cloud.make("/account/oauth-clients", client)
    cloud.make("/profile/tokens", {"label": "mine", "scopes": "computes:read_only"})
    cloud.make("/profile/sshkeys", {"label": "laptop", "ssh_key": KEY})
    cloud.see("/account", "/account/settings", "/account/users/second", METHODS, "/profile")


def make_instances(cloud: Cloud) -> str:
    """One with a snapshot and an image of its disk; another one that is off and offered."""
    script = {"label": "hello", "images": ["any/all"], "script": "#!/bin/sh\n", "is_public": False}
    stackscript = cloud.make("/compute/stackscripts", script)
    compute_id = cloud.server.instance(
        label="web", tags=["blue"], backups_enabled=True, stackscript_id=number(stackscript)
    )
    path = f"{INSTANCES}/{compute_id}"
    cloud.settle()
    cloud.send("POST", f"{path}/backups", {"label": "before"})
    cloud.settle()
    disk_id = cloud.get(f"{path}/disks")["data"][0]["id"]
    cloud.make("/images", {"disk_id": disk_id, "label": "of web"})
    cloud.settle()
    cloud.see(path, f"{path}/disks", f"{path}/configs", f"{path}/backups", f"{path}/firewalls")

    empty = {"type": "g1-nano-1", "region": "us-lake", "label": "empty", "tags": ["blue"]}
    other = cloud.make(INSTANCES, empty)
    token = cloud.send("POST", TRANSFERS, {"entities": {"computes": [number(other)]}})["token"]
    cloud.see(f"{TRANSFERS}/{token}")
    return path


def make_storage(cloud: Cloud, instance: str) -> None:
    """Volumes, a database and a bucket."""
    volume = {"label": "data", "size": 20, "region": "us-lake", "tags": ["blue"]}
    cloud.make("/volumes", {**volume, "compute_id": number(instance)})
    cloud.make("/volumes", {**volume, "label": "spare"})
    database = cloud.make(DATABASES, database_body())
    cloud.settle()
    cloud.send("POST", f"{database}/backups", {"label": "snapshot"})
    bucket = cloud.send("POST", BUCKETS, bucket_body(label="kept-bucket"))
    cloud.make(KEYS, {"label": "limited", "bucket_access": [access_to(bucket)]})
    cloud.settle()
    cloud.see(f"{database}/credentials", f"{database}/backups", path_of(bucket))


def make_networks(cloud: Cloud, instance: str) -> None:
    compute_id = number(instance)
    firewall = firewall_body(tags=["blue"], devices={"computes": [compute_id]})
    guard = cloud.make(FIREWALLS, firewall)
    vpc = cloud.make(VPCS, {"label": "inner", "region": "us-lake", "subnets": [subnet()]})
    vlan = {"purpose": "vlan", "label": "back", "ipam_address": "10.9.0.1/24"}
    interfaces = [{"purpose": "public"}, vlan, inside(cloud.get(vpc))]
    cloud.server.instance(label="inside", interfaces=interfaces)
    second = cloud.send("POST", f"{instance}/ips", {"type": "ipv4", "public": True})["address"]
    range_ = {"prefix_length": 64, "compute_id": compute_id}
    cloud.send("POST", "/networking/ipv6/ranges", range_)
    cloud.settle()
    cloud.see(f"{guard}/rules", f"{guard}/devices", f"{vpc}/subnets", f"{vpc}/ips")
    cloud.see("/networking/vlans", f"/networking/ips/{second}", f"{instance}/ips")
    cloud.see("/networking/ipv6/ranges")


def make_names(cloud: Cloud, instance: str) -> None:
    zone = {"domain": "example.org", "type": "master", "soa_email": "me@example.org"}
    domain = cloud.make("/domains", {**zone, "tags": ["blue"]})
    address = cloud.get(instance)["ipv4"][0]
    cloud.make(f"{domain}/records", {"type": "A", "name": "www", "target": address})
    cloud.settle()
    cloud.send("PUT", f"/networking/ips/{address}", {"rdns": "www.example.org"})
    cloud.send("PUT", domain, {"dnssec": True})
    cloud.settle()
    cloud.see(f"/networking/ips/{address}", f"{domain}/dnssec")


def make_support(cloud: Cloud, folder: Path) -> None:
    ticket = cloud.make(TICKETS, {"summary": "Help", "description": "It is broken."})
    letter = folder / "letter.txt"
    letter.write_text("What I saw.")
    attach(cloud.server, ticket.rpartition("/")[2], letter)
    cloud.send("POST", f"{ticket}/replies", {"description": "It is whole again."})
    cloud.see(f"{ticket}/replies")


def number(path: str) -> int:
    """The id of the thing at a path."""
    return int(path.rpartition("/")[2])


def keep(program: Path, folder: Path) -> str:
    """The revision under which the cloud is saved."""
    state, backup = folder / "state", folder / "backup"
    server = Server.start(state, program=program)
    try:
        cloud = Cloud(server)
        fill(cloud, folder)
        shown = {path: cloud.get(path) for path in cloud.paths}
        done = roost("backup", "--state", state, backup, program=program)
        assert done.returncode == 0, done.stderr
    finally:
        server.end()
    found = re.search(r"revision (\d{4})", done.stdout)
    assert found is not None, done.stdout
    revision = found[1]
    backup.rename(FOLDER / f"{revision}.backup")
    (FOLDER / f"{revision}.json").write_text(json.dumps(shown, indent=1) + "\n")
    return revision


if __name__ == "__main__":
    os.environ |= ENVIRONMENT
    with TemporaryDirectory(dir=FOLDER) as folder:
        keep(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOST, Path(folder))
