"""Salt's cloud driver: its address is built in, so that of the requests is changed."""

import types

import salt.cloud.clouds.linode as driver
from flows import IMAGE, PASSWORD, PLAN, REGION, TOKEN, URL, run, until

_request = driver.requests.request


def request(method: str, url: str, **options: object) -> object:
    return _request(method, url.replace("https://api.linode.com", URL), **options)


driver.requests = types.SimpleNamespace(request=request, exceptions=driver.requests.exceptions)
_PROVIDER = {
    "driver": "linode",
    "apikey": TOKEN,
    "password": PASSWORD,
    "profiles": {},
    "sock_dir": "",
    "transport": "zeromq",
}
driver.__opts__ = {
    "providers": {"roost": {"linode": _PROVIDER}},
    "profiles": {},
    "sock_dir": "",
    "transport": "zeromq",
}
driver.__active_provider_name__ = "roost:linode"
driver.__utils__ = {
    "cloud.fire_event": lambda *args, **more: None,
    "cloud.filter_event": lambda *args, **more: {},
    "cloud.bootstrap": lambda vm, opts: {},
    "cloud.cachedir_index_add": lambda *args, **more: None,
    "cloud.delete_minion_cachedir": lambda *args, **more: None,
}


def catalog() -> None:
    """Locations, sizes and images."""
    assert REGION in driver.avail_locations()
    assert PLAN in driver.avail_sizes()
    assert IMAGE in driver.avail_images()


def instance() -> None:
    """Node: create, show, reboot, destroy."""
    vm = {
        "name": "from-salt",
        "profile": None,
        "driver": "linode",
        "provider": "roost:linode",
        "location": REGION,
        "size": PLAN,
        "image": IMAGE,
        "password": PASSWORD,
        # Simulated addresses are those for documentation, which Python takes for private ones.
        "ssh_interface": "private_ips",
        "deploy": False,
    }
    assert driver.create(vm)["name"] == "from-salt"
    until(lambda: driver.list_nodes()["from-salt"]["state"] == "running")
    shown = driver.show_instance("from-salt", call="action")
    assert (shown["name"], shown["size"]) == ("from-salt", PLAN), shown
    driver.reboot("from-salt", call="action")
    driver.destroy("from-salt", call="action")
    until(lambda: "from-salt" not in driver.list_nodes())


run([catalog, instance])
