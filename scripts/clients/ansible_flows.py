"""community.general: the module and the inventory use linode_api4, whose address is built in; a
`sitecustomize` gives that another default, as Ansible runs modules in processes of their own."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from flows import IMAGE, PASSWORD, PLAN, REGION, TOKEN, run, until

_SITE = """
import os, sys
sys.path = [each for each in sys.path if each != os.environ["FLOWS_SITE"]]
from linode_api4 import linode_client
for each in (linode_client.BaseClient, linode_client.LinodeClient):
    each.__init__.__defaults__ = tuple(
        os.environ["LINODE_URL"] + "/v4" if value == "https://api.linode.com/v4" else value
        for value in each.__init__.__defaults__ or ())
"""
BIN = Path(sys.executable).parent


def ansible(program: str, *args: str, site: Path, **more: str) -> str:
    (site / "sitecustomize.py").write_text(_SITE)
    environment = {
        **os.environ,
        **more,
        "FLOWS_SITE": str(site),
        "PYTHONPATH": str(site),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "ANSIBLE_HOME": str(site / "home"),
        "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1",
        "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
    }
    done = subprocess.run(
        [str(BIN / program), *args], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stdout[-600:] + done.stderr[-600:])
    return done.stdout


def module(site: Path, **args: object) -> dict[str, Any]:
    common = {"access_token": TOKEN, "label": "from-ansible"}
    given = json.dumps({**common, **args})
    interpreter = f"ansible_python_interpreter={sys.executable}"
    name = "community.general.linode_v4"
    call = ("localhost", "-m", name, "-a", given, "-e", interpreter, "-c", "local")
    answer = json.loads(ansible("ansible", *call, site=site))
    found: dict[str, Any] = answer["plays"][0]["tasks"][0]["hosts"]["localhost"]
    return found


def instance() -> None:
    """linode_v4: an instance is present, is left alone the second time, and absent."""
    wanted = {"region": REGION, "type": PLAN, "image": IMAGE, "root_pass": PASSWORD}
    with tempfile.TemporaryDirectory() as place:
        site = Path(place)
        made = module(site, state="present", **wanted)
        assert made["changed"]
        again = module(site, state="present", **wanted)
        assert not again["changed"]
        assert again["instance"]["id"] == made["instance"]["id"]
        assert module(site, state="absent")["changed"]
        # Until its deletion has ended it is still there.
        until(lambda: not module(site, state="absent")["changed"])


def inventory() -> None:
    """Inventory of instances, by region and tag."""
    with tempfile.TemporaryDirectory() as place:
        site = Path(place)
        source = site / "linode.yml"
        source.write_text("plugin: community.general.linode\n")
        wanted = {"region": REGION, "type": PLAN, "image": IMAGE, "root_pass": PASSWORD}
        module(site, state="present", tags=["web"], **wanted)
        command = ("-i", str(source), "--list")
        shown = json.loads(
            ansible("ansible-inventory", *command, site=site, LINODE_ACCESS_TOKEN=TOKEN)
        )
        shown_as = shown["_meta"]["hostvars"]["from-ansible"]["region"]
        assert shown_as == {"__ansible_unsafe": REGION}
        assert module(site, state="absent")["changed"]


run([instance, inventory])
