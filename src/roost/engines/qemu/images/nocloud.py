"""The set-up CD of cloud-init's NoCloud source, for `roost/debian12` and imported cloud images.

All documents are JSON, which is YAML with the strictest quoting. Addresses are set up at every
boot, the password again whenever it differs; all else when the guest boots first.
"""

import hashlib
import io
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address

from roost.engines.qemu.images.documents import Value, document
from roost.engines.qemu.images.setup import SWAP_LABEL
from roost.engines.qemu.images.user_data import combined
from roost.resources.compute.engine import GuestSetup, InstanceSpec
from roost.resources.compute.network_engine import Link, PublicLink, VlanLink, VpcLink

_LABEL = "CIDATA"
_SSHD_CONFIG = "/etc/ssh/sshd_config.d/50-cloud-init.conf"
"""cloud-init's own file: a caller's `ssh_pwauth: false` changes it."""
_USE_SWAP = ("sh", "-c", f"swapon -L {SWAP_LABEL} 2>/dev/null || true")
"""At each boot, where there is such a disk; a line in fstab would outlive the disk."""
_NEW_MACHINE = (
    *("sh", "-c"),
    """\
cd /var/lib/cloud && [ ! -e instance/roost-machine ] &&
[ "$(ls instances | wc -l)" -gt 1 ] &&
rm -f /etc/machine-id /var/lib/dbus/machine-id && systemd-machine-id-setup &&
: >instance/roost-machine || true
""",
)
"""A guest whose disk is a copy of another's is another machine (machine-id(5)): at its first boot
with folders of other instances beside its own. What cloud-init calls the previous instance is this
one when `bootcmd` runs, as an earlier stage has written it already."""
_PASSWORD_LOGIN = "PasswordAuthentication yes\nPermitRootLogin yes\n"  # noqa: S105


def nocloud_iso(spec: InstanceSpec, dns: Sequence[IPv4Address | IPv6Address] = ()) -> bytes:
    """An ISO 9660 image to attach as a read-only CD."""
    return _iso(
        {
            "meta-data": meta_data(spec),
            "user-data": combined(cloud_config(spec), spec.setup.user_data, spec.setup.script),
            "network-config": network_config(spec, dns),
        }
    )


def meta_data(spec: InstanceSpec) -> bytes:
    """Keys belong here: unlike those in user data, the caller's own user data cannot drop them."""
    return document(
        {
            "instance-id": spec.name,
            "local-hostname": spec.setup.hostname,
            "public-keys": list(spec.setup.authorized_keys),
        }
    )


def cloud_config(spec: InstanceSpec) -> bytes:
    """What Roost asks for. Where the caller's own cloud-config says otherwise, that holds."""
    config: dict[str, Value] = {
        "merge_how": [
            {"name": "list", "settings": ["prepend"]},
            {"name": "dict", "settings": ["no_replace", "recurse_list"]},
            {"name": "str", "settings": ["no_replace"]},
        ],
        "manage_etc_hosts": True,
        "disable_root": False,
        "ssh_deletekeys": True,
        "ssh_genkeytypes": ["ed25519"],
        "growpart": {"mode": "auto", "devices": ["/"]},
        "bootcmd": [_NEW_MACHINE, _USE_SWAP, *_password_commands(spec.setup)],
    }
    if spec.setup.root_password_hash is not None:
        config |= {
            "ssh_pwauth": True,
            "chpasswd": {"expire": False},
            "write_files": [{"path": _SSHD_CONFIG, "content": _PASSWORD_LOGIN}],
        }
    return b"#cloud-config\n" + document(config)


def network_config(spec: InstanceSpec, dns: Sequence[IPv4Address | IPv6Address]) -> bytes:
    servers: Value = {"addresses": [str(server) for server in dns]}
    cards = {f"eth{number}": _card(spec, link) for number, link in enumerate(spec.links)}
    for name, card in cards.items():
        card["set-name"] = name
        if "gateway4" in card or len(cards) == 1:
            card["nameservers"] = servers
    return document({"version": 2, "ethernets": cards})


def _card(spec: InstanceSpec, link: Link) -> dict[str, Value]:
    match link:
        case PublicLink():
            return _public_card(spec)
        case VlanLink(mac=mac, interface=interface):
            return _quiet_card(mac, [] if interface is None else [str(interface)])
        case VpcLink():
            return _vpc_card(link)


def _public_card(spec: InstanceSpec) -> dict[str, Value]:
    card: dict[str, Value] = {
        "match": {"macaddress": spec.mac.lower()},
        "dhcp4": False,
        "accept-ra": True,
        "ipv6-address-generation": "eui64",
        "addresses": [str(address.interface) for address in spec.ipv4],
    }
    gateway = next((a.gateway for a in spec.ipv4 if a.gateway is not None), None)
    return card if gateway is None else {**card, "gateway4": str(gateway)}


def _vpc_card(link: VpcLink) -> dict[str, Value]:
    card = _quiet_card(link.mac, [str(link.interface)])
    if link.primary:
        return {**card, "gateway4": str(link.gateway)}
    return {
        **card,
        "routes": [{"to": str(network), "via": str(link.gateway)} for network in link.routes],
    }


def _quiet_card(mac: str, addresses: Sequence[str]) -> dict[str, Value]:
    """Nobody but us says what its addresses are."""
    return {
        "match": {"macaddress": mac.lower()},
        "dhcp4": False,
        "accept-ra": False,
        "addresses": addresses,
    }


def _password_commands(setup: GuestSetup) -> Sequence[Value]:
    """`cloud-init-per` runs it once for each reset, so a password that is changed inside stays.

    cloud-init's own ways to set a hash differ between its releases.
    """
    if setup.root_password_hash is None:
        return []
    digest = hashlib.sha256(setup.root_password_hash.encode()).hexdigest()[:16]
    name = f"root_password_{setup.password_revision}_{digest}"
    script = 'printf "%s\\n" "$0" | chpasswd -e'
    entry = f"root:{setup.root_password_hash}"
    return [["cloud-init-per", "instance", name, "sh", "-c", script, entry]]


def _iso(files: Mapping[str, bytes]) -> bytes:
    # It takes a tenth of a start to import, and most starts make no CD.
    from pycdlib import PyCdlib

    iso = PyCdlib()
    iso.new(interchange_level=3, joliet=3, rock_ridge="1.09", vol_ident=_LABEL)
    for name, content in files.items():
        short = name.replace("-", "").upper()[:8]
        iso.add_fp(
            io.BytesIO(content),
            len(content),
            f"/{short}.;1",
            rr_name=name,
            joliet_path=f"/{name}",
        )
    out = io.BytesIO()
    iso.write_fp(out)
    iso.close()
    return out.getvalue()
