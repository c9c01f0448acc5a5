"""`roost.testing`: servers for the tests of other programs."""

import json
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from linode_api4 import LinodeClient, Region

from roost.testing import RoostServer, RoostServerError
from roost.testing.process import Program

ROOT = Path(__file__).parents[2]
CATALOG = ROOT / "examples" / "catalogs" / "linode.toml"
PASSWORD = "a-strong-Passw0rd-42"

Json = Any  # An answer as json.loads gives it.


@pytest.fixture(scope="module")
def server() -> Iterator[RoostServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
        patch.setenv("ROOST_ENGINES", "nonsense")
        server = RoostServer(catalog=CATALOG, dialects=["linode"], tls=True)
        server.start()
    yield server
    server.stop()


@pytest.fixture
def cloud(server: RoostServer) -> RoostServer:
    server.reset()
    return server


def speak(cloud: RoostServer, method: str, path: str, body: Json = None) -> Json:
    """To the listener in Linode's words, as a client that trusts its authority."""
    request = Request(
        cloud.dialects["linode"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {cloud.token}", "Content-Type": "application/json"},
    )
    trusting = ssl.create_default_context(cafile=cloud.authority)
    try:
        with urlopen(request, timeout=60, context=trusting) as answer:
            return json.load(answer)
    except HTTPError as error:
        raise AssertionError(error.read()) from error


def test_ids_of_another_clouds_examples(cloud: RoostServer) -> None:
    wanted = {"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12"}
    made = speak(cloud, "POST", "/v4/linode/instances", wanted | {"root_pass": PASSWORD})
    assert {name: made[name] for name in wanted} == wanted
    disk = {"label": "data", "size": 20, "region": "us-east"}
    assert speak(cloud, "POST", "/v4/volumes", disk)["region"] == "us-east"
    config = {"label": "c", "kernel": "linode/grub2", "devices": {}}
    config_path = f"/v4/linode/instances/{made['id']}/configs"
    assert speak(cloud, "POST", config_path, config)["kernel"] == "linode/grub2"
    database = {
        "label": "main",
        "region": "us-east",
        "type": "g6-nanode-1",
        "engine": "mysql/8.0.30",
    }
    assert speak(cloud, "POST", "/v4/databases/mysql/instances", database)["version"] == "8.0.30"
    bucket = {"label": "photos", "cluster": "us-east-1"}
    assert speak(cloud, "POST", "/v4/object-storage/buckets", bucket)["cluster"] == "us-east-1"
    regions = speak(cloud, "GET", "/v4/regions")["data"]
    assert {"us-east", "us-west", "us-central", "us-southeast", "eu-west", "eu-central"} <= {
        region["id"] for region in regions
    }


def test_images_and_plans_can_be_had(cloud: RoostServer) -> None:
    images = speak(cloud, "GET", "/v4/images?page_size=500")["data"]
    assert {image["id"].partition("/")[0] for image in images} == {"linode"}
    plans = speak(cloud, "GET", "/v4/linode/types?page_size=500")["data"]
    small = [plan for plan in plans if plan["memory"] <= 32768 and plan["class"] != "premium"]
    for n, image in enumerate(image["id"] for image in images if not image["deprecated"]):
        plan = small[n % len(small)]
        wanted = {"type": plan["id"], "region": "eu-central", "image": image}
        made = speak(cloud, "POST", "/v4/linode/instances", wanted | {"root_pass": PASSWORD})
        assert (made["type"], made["image"]) == (plan["id"], image)


def test_the_sdk_trusts_the_authority(cloud: RoostServer) -> None:
    where = {"base_url": cloud.dialects["linode"] + "/v4", "ca_path": str(cloud.authority)}
    client = LinodeClient(cloud.token, **where)
    wanted = {"image": "linode/alpine3.19", "root_pass": PASSWORD}
    made = client.linode.instance_create("g6-standard-2", "ap-south", **wanted)
    assert [each.id for each in client.linode.instances()] == [made.id]
    assert client.load(Region, "us-iad").country == "us"


def test_the_command_line_trusts_it(cloud: RoostServer, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "LINODE_CLI_TOKEN": cloud.token,
        "LINODE_CLI_API_HOST": cloud.dialects["linode"].removeprefix("https://"),
        "REQUESTS_CA_BUNDLE": str(cloud.authority),
    }
    wanted = ("--type", "g6-nanode-1", "--region", "us-east", "--image", "linode/debian12")
    options = ("--root_pass", PASSWORD, "--json", "--suppress-warnings")
    done = subprocess.run(
        [Path(sys.executable).with_name("linode-cli"), "linodes", "create", *wanted, *options],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = json.loads(done.stdout)
    assert (made["type"], made["region"], made["image"]) == wanted[1::2]


def test_a_reset_forgets(cloud: RoostServer) -> None:
    cloud.call("POST", "/v4/volumes", {"label": "data", "size": 20, "region": "us-east"})
    cloud.advance(timedelta(days=400))
    assert moment(cloud) > datetime.now() + timedelta(days=399)
    cloud.advance(60)
    cloud.reset()
    assert cloud.call("GET", "/v4/volumes") == {"data": [], "page": 1, "pages": 1, "results": 0}
    assert moment(cloud) < datetime.now() + timedelta(days=1)


def moment(cloud: RoostServer) -> datetime:
    answer: Json = cloud.call("GET", "/lab/clock")
    return datetime.fromisoformat(answer["now"])


def test_no_proxy_is_asked(cloud: RoostServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    assert cloud.call("GET", "/v4/volumes")


def test_a_refusal_is_an_error_with_the_answer(cloud: RoostServer) -> None:
    with pytest.raises(RoostServerError, match=r'^POST /v4/volumes: 400 \{"errors":\[\{"rea'):
        cloud.call("POST", "/v4/volumes", {"label": "data"})


def test_a_server_that_does_not_start_shows_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("nothing = 1\n")
    server = RoostServer(catalog=broken)
    with pytest.raises(RoostServerError, match=r"ended with 1:\n(.*\n)*.*broken\.toml: regions: F"):
        server.start()
    with pytest.raises(RoostServerError, match="does not run"):
        server.reset()
    server.stop()


def test_a_server_that_takes_too_long_is_ended() -> None:
    server = RoostServer(seconds=0.01)
    with pytest.raises(RoostServerError, match=r"is not ready after 0\.01 seconds"):
        server.start()
    with pytest.raises(RoostServerError, match="does not run"):
        server.reset()


def test_nothing_is_left_of_a_server_that_died(tmp_path: Path) -> None:
    program = Program(tmp_path, {"ROOST_SIMULATED_LATENCY": "0"}, 60)
    process = program.serve("--engines", "simulated", "--listen", "127.0.0.1:0")
    process.wait_until_ready()
    os.kill(json.loads((program.state / "serve.json").read_text())["pid"], signal.SIGKILL)
    postmaster = program.state / "postgres" / "data" / "postmaster.pid"
    assert postmaster.exists()
    process.end()
    assert not postmaster.exists()


def blocks() -> dict[str, str]:
    """The programs of docs/testing.md, by the file that each is to be in."""
    text = (ROOT / "docs" / "testing.md").read_text()
    found = re.findall(r"```python\n# (\S+)\n(.*?)```", text, re.DOTALL)
    return dict(found)


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.parametrize(
    ("files", "passed"),
    [(["test_volumes.py"], 2), (["conftest.py", "test_instances.py"], 1)],
    ids=["fixtures", "dialect"],
)
def test_the_documents_tests_pass_as_they_stand(
    tmp_path: Path, files: list[str], passed: int
) -> None:
    for name in files:
        (tmp_path / name).write_text(blocks()[name])
    (tmp_path / "linode.toml").write_bytes(CATALOG.read_bytes())
    done = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{passed} passed" in done.stdout


def test_the_documents_program_runs_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "month.py").write_text(blocks()["month.py"])
    done = python(tmp_path, "month.py")
    assert done.returncode == 0, done.stderr
    assert re.match(r"API at http://127\.0\.0\.1:\d+ with token [0-9a-f]+\nIt is 2", done.stdout)


def test_other_tests_pay_nothing_for_the_fixtures(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n"
        "PARTS = ('', '.plugin', '.process', '.server')\n"
        "def test_other(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.hasplugin('roost')\n"
        "    ours = {name for name in sys.modules if name.partition('.')[0] == 'roost'}\n"
        "    assert ours == {'roost', *('roost.testing' + part for part in PARTS)}\n"
    )
    done = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
