"""What cloud-init is told."""

import email
import gzip
import io
import json
import subprocess
from dataclasses import replace
from email.message import Message
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

import pytest
from pycdlib import PyCdlib

from roost.engines.qemu.images.documents import Value, document
from roost.engines.qemu.images.first_boot import wrapped
from roost.engines.qemu.images.nocloud import cloud_config, meta_data, network_config, nocloud_iso
from roost.engines.qemu.images.user_data import combined
from roost.resources.compute.engine import FirstBootScript
from roost.resources.compute.network_engine import PublicLink, VlanLink
from tests.engines.images.specs import HASH, KEY, PRIVATE, SPEC, spec_with

CONFIG = b'#cloud-config\n{"a": 1}\n'

USE_SWAP = ["sh", "-c", "swapon -L roost-swap 2>/dev/null || true"]


def config_of(text: bytes) -> dict[str, Value]:
    first, _, rest = text.partition(b"\n")
    assert first == b"#cloud-config"
    parsed: dict[str, Value] = json.loads(rest)
    return parsed


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a: b # c", b'"a: b # c"'),
        ("line\nbreak\t'\"\\", b'"line\\nbreak\\t\'\\"\\\\"'),
        ("gr\u00fcn \u2028 \x7f", b'"gr\\U000000fcn \\U00002028 \\U0000007f"'),
        ("\U0001f600", b'"\\U0001f600"'),
        ("{{ jinja }} ${x} `y`", b'"{{ jinja }} ${x} `y`"'),
    ],
)
def test_documents_quote_for_json_and_yaml(text: str, written: bytes) -> None:
    assert document({"k": text}) == b'{"k": ' + written + b"}\n"


@pytest.mark.parametrize("text", ["web1", 'a"b', "a: b", "- x", "x\ny: z", "%{}[]&*!|>"])
def test_hostile_names_and_keys_stay_values(text: str) -> None:
    assert json.loads(meta_data(spec_with(hostname=text, keys=(text,)))) == {
        "instance-id": "compute-100001",
        "local-hostname": text,
        "public-keys": [text],
    }


def test_the_network_card_is_found_by_its_address() -> None:
    document = json.loads(network_config(SPEC, [IPv4Address("192.0.2.53")]))
    assert document["ethernets"]["eth0"] == {
        "match": {"macaddress": "52:54:00:ab:cd:ef"},
        "set-name": "eth0",
        "dhcp4": False,
        "accept-ra": True,
        "ipv6-address-generation": "eui64",
        "addresses": ["192.0.2.10/24", "192.168.128.5/17"],
        "nameservers": {"addresses": ["192.0.2.53"]},
        "gateway4": "192.0.2.1",
    }
    assert b"gateway4" not in network_config(replace(SPEC, ipv4=(PRIVATE,)), [])


def test_every_interface_is_found_at_its_place() -> None:
    links = (
        VlanLink(7, "52:54:00:00:00:07", IPv4Interface("10.0.0.1/24")),
        PublicLink(),
        VlanLink(8, "52:54:00:00:00:08", None),
    )
    spec = replace(SPEC, links=links)
    cards = json.loads(network_config(spec, [IPv4Address("192.0.2.53")]))["ethernets"]
    assert list(cards) == ["eth0", "eth1", "eth2"]
    assert cards["eth0"] == {
        "match": {"macaddress": "52:54:00:00:00:07"},
        "set-name": "eth0",
        "dhcp4": False,
        "accept-ra": False,
        "addresses": ["10.0.0.1/24"],
    }
    assert cards["eth1"]["match"] == {"macaddress": "52:54:00:ab:cd:ef"}
    assert cards["eth1"]["gateway4"] == "192.0.2.1"
    assert cards["eth1"]["nameservers"] == {"addresses": ["192.0.2.53"]}
    assert cards["eth2"]["addresses"] == []


def test_the_password_reaches_the_guest_only_as_an_argument() -> None:
    config = config_of(cloud_config(SPEC))
    *_, command = json.loads(json.dumps(config["bootcmd"]))
    assert command[-2:] == ['printf "%s\\n" "$0" | chpasswd -e', f"root:{HASH}"]
    assert config["ssh_pwauth"] is True


def test_another_password_is_another_command() -> None:
    other = spec_with(password_hash="$6$salt$other")
    again = replace(SPEC, setup=replace(SPEC.setup, password_revision=1))
    commands = [config_of(cloud_config(spec))["bootcmd"] for spec in (SPEC, other, again)]
    assert all(commands.count(command) == 1 for command in commands)


def test_without_password_nothing_speaks_of_one() -> None:
    config = config_of(cloud_config(spec_with(password_hash=None)))
    assert json.loads(json.dumps(config["bootcmd"]))[1:] == [USE_SWAP]
    assert not {"ssh_pwauth", "chpasswd", "write_files"} & set(config)


def test_swap_space_is_used_at_each_boot() -> None:
    config = config_of(cloud_config(spec_with(password_hash=None)))
    assert json.loads(json.dumps(config["bootcmd"]))[1:] == [USE_SWAP]


@pytest.mark.parametrize(("others", "new"), [(("compute-100001",), True), ((), False)])
def test_a_copy_of_a_guest_is_another_machine(
    tmp_path: Path, others: tuple[str, ...], new: bool
) -> None:
    """Once, at its first boot."""
    command, *_ = json.loads(json.dumps(config_of(cloud_config(SPEC))["bootcmd"]))
    for name in (*others, "compute-100002"):
        (tmp_path / "instances" / name).mkdir(parents=True)
    (tmp_path / "instance").symlink_to(tmp_path / "instances/compute-100002")
    for name in ("rm", "systemd-machine-id-setup"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $@ >>{tmp_path}/ran\n")
        (tmp_path / name).chmod(0o755)
    text = command[2].replace("/var/lib/cloud", str(tmp_path), 1)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    for _ in range(2):
        subprocess.run([*command[:2], text], check=True, env=env)
    ran = tmp_path / "ran"
    removed = "rm -f /etc/machine-id /var/lib/dbus/machine-id\n"
    assert (ran.read_text() if ran.exists() else "") == (
        f"{removed}systemd-machine-id-setup\n" if new else ""
    )


def parts_of(message: bytes) -> list[tuple[str, bytes]]:
    """Type and content of each part, in the order in which cloud-init handles them."""
    walked = (part for part in email.message_from_bytes(message).walk())
    return [
        (part.get_content_type(), content_of(part)) for part in walked if not part.is_multipart()
    ]


def content_of(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    return content


def test_without_user_data_the_config_stands_alone() -> None:
    assert combined(CONFIG, None) == CONFIG
    assert combined(CONFIG, b"") == CONFIG


@pytest.mark.parametrize(
    "user_data",
    [b"#!/bin/sh\necho hi\n", b"#cloud-config\nx: 1\n", b"\xff\x00--=", b"## template: jinja\n"],
)
def test_plain_user_data_goes_first_unchanged(user_data: bytes) -> None:
    assert parts_of(combined(CONFIG, user_data)) == [
        ("text/plain", user_data),
        ("text/cloud-config", CONFIG),
    ]


@pytest.mark.parametrize("user_data", [None, b"#cloud-config\nx: 1\n"])
def test_a_stackscript_is_a_part_of_its_own(user_data: bytes | None) -> None:
    script = FirstBootScript("#!/bin/sh\n", {})
    parts = parts_of(combined(CONFIG, user_data, script))
    assert parts[-2:] == [("text/cloud-config", CONFIG), ("text/x-shellscript", wrapped(script))]
    assert len(parts) == (2 if user_data is None else 3)


def test_packed_user_data_stays_packed() -> None:
    packed = gzip.compress(b"#cloud-config\nx: 1\n")
    assert parts_of(combined(CONFIG, packed))[0] == ("application/gzip", packed)


_OWN = (
    b'Content-Type: multipart/mixed; boundary="b"\nMIME-Version: 1.0\n\n'
    b"--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--b--\n"
)
_PACKED = gzip.compress(_OWN)


@pytest.mark.parametrize(
    "packed",
    [_PACKED[:-4], _PACKED[:12], gzip.compress(_OWN + bytes(5 * 1024 * 1024))],
    ids=["cut short", "hardly begun", "a trap"],
)
def test_what_cannot_be_unpacked_is_left_to_cloud_init(packed: bytes) -> None:
    assert parts_of(combined(CONFIG, packed))[0] == ("application/gzip", packed)


@pytest.mark.parametrize("own", [_OWN, _PACKED], ids=["plain", "packed"])
def test_parts_of_the_callers_own_message_are_kept(own: bytes) -> None:
    """Also of a packed one, as Terraform's `cloudinit_config` makes them."""
    assert parts_of(combined(CONFIG, own)) == [
        ("text/x-shellscript", b"#!/bin/sh"),
        ("text/cloud-config", CONFIG),
    ]


def test_the_disc_has_the_label_and_names_that_cloud_init_seeks() -> None:
    spec = spec_with(user_data=b"#!/bin/sh\n")
    iso = PyCdlib()
    iso.open_fp(io.BytesIO(nocloud_iso(spec)))
    assert iso.pvd.volume_identifier.strip() == b"CIDATA"
    for name, content in {
        "meta-data": meta_data(spec),
        "user-data": combined(cloud_config(spec), b"#!/bin/sh\n"),
        "network-config": network_config(spec, []),
    }.items():
        read = io.BytesIO()
        iso.get_file_from_iso_fp(read, joliet_path=f"/{name}")
        assert read.getvalue() == content
        again = io.BytesIO()
        iso.get_file_from_iso_fp(again, rr_path=f"/{name}")
        assert again.getvalue() == content
    iso.close()


def test_keys_are_not_in_the_part_that_a_caller_may_replace() -> None:
    assert KEY.encode() not in cloud_config(SPEC)
