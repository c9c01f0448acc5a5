"""The API's words as people read them."""

import re
from functools import lru_cache

from markupsafe import Markup, escape

_KNOWN = {
    "acl": "ACL",
    "cidr": "CIDR",
    "cpu": "CPU",
    "csv": "CSV",
    "dns": "DNS",
    "dnssec": "DNSSEC",
    "euuid": "EUUID",
    "gpu": "GPU",
    "gpus": "GPUs",
    "highmem": "high memory",
    "id": "ID",
    "io": "I/O",
    "ip": "IP",
    "ips": "IPs",
    "ipv4": "IPv4",
    "ipv6": "IPv6",
    "nat": "NAT",
    "nodebalancer": "NodeBalancer",
    "nodebalancers": "NodeBalancers",
    "oauth": "OAuth",
    "pass": "password",
    "pdf": "PDF",
    "rdns": "reverse name",
    "soa": "SOA",
    "ssh": "SSH",
    "sshkeys": "SSH keys",
    "ssl": "TLS",
    "stackscript": "StackScript",
    "stackscripts": "StackScripts",
    "tfa": "two-factor",
    "ttl": "TTL",
    "url": "URL",
    "uuid": "UUID",
    "vcpus": "processors",
    "vlan": "VLAN",
    "vpc": "VPC",
}
_CODE = re.compile("`([^`]+)`")


@lru_cache(1024)
def words(name: str) -> str:
    """A name of a field, or of a state or action, as a title."""
    found = [_KNOWN.get(word, word) for word in name.replace("-", "_").split("_")]
    text = " ".join(word for word in found if word)
    return text[:1].upper() + text[1:]


def prose(text: str) -> Markup:
    """A text of the API's document: what is in backticks is code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - it is escaped
