"""Records of each type: canonical ones, valid ones that are written otherwise, and invalid ones.

`{zone}` in a text is the name of the domain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from roost.resources.domains.name_rules import HOST_REASON, NAME_REASON, RECORD_NAME_REASON
from roost.resources.domains.record_rules import (
    APEX_REASON,
    IODEF_REASON,
    IPV4_REASON,
    IPV6_REASON,
    ISSUER_REASON,
    MAPPED_REASON,
    SERVICE_REASON,
)
from roost.resources.domains.zone_rules import SIZE_REASON
from tests.support.client import Json

DOTTED = "Must have at least two labels, and the last one must not be a number"
LONG = "a" * 63
LONG_NAME = ".".join([LONG, LONG, LONG, "b" * 57 + ".com"])
"""253 characters."""


@dataclass(frozen=True, slots=True)
class Valid:
    """What is sent, and what is answered for it where that differs."""

    sent: Json
    rdata: str
    """What DNS answers, in presentation format."""
    owner: str | None = None
    """Below the domain; the same as the name that was sent when None."""
    shown: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invalid:
    sent: Json
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    canonical: tuple[Valid, ...]
    other: tuple[Valid, ...]
    invalid: tuple[Invalid, ...]


def _bad(sent: Json, field: str, reason: str) -> Invalid:
    return Invalid(sent, ((field, reason),))


def _target(target: str, rdata: str | None = None, **more: Json) -> Valid:
    return Valid({"name": "a", "target": target, **more}, rdata or target)


_NOT_SRV = "Must only be given for an SRV record"
_NOT_MX = "Must only be given for an MX or SRV record"
_NOT_CAA = "Must only be given for a CAA record"

_ADDRESS_NAMES = (
    Valid({"name": "*", "target": "192.0.2.1"}, "192.0.2.1"),
    Valid({"name": "*.a", "target": "192.0.2.1"}, "192.0.2.1"),
    Valid({"name": "_a.b-c.1", "target": "192.0.2.1"}, "192.0.2.1"),
    Valid({"name": LONG, "target": "192.0.2.1"}, "192.0.2.1"),
)
_ODD_NAMES = (
    Valid({"target": "192.0.2.1"}, "192.0.2.1", "", {"name": ""}),
    Valid({"name": "@", "target": "192.0.2.1"}, "192.0.2.1", "", {"name": ""}),
    Valid({"name": "WWW", "target": "192.0.2.1"}, "192.0.2.1", "www"),
    Valid({"name": "www.{zone}", "target": "192.0.2.1"}, "192.0.2.1", "www", {"name": "www"}),
    Valid({"name": "www.{zone}.", "target": "192.0.2.1"}, "192.0.2.1", "www", {"name": "www"}),
    Valid({"name": "{zone}", "target": "192.0.2.1"}, "192.0.2.1", "", {"name": ""}),
    Valid({"name": "*.{zone}", "target": "192.0.2.1"}, "192.0.2.1", "*", {"name": "*"}),
)
_BAD_NAMES = (
    *(
        _bad({"name": name, "target": "192.0.2.1"}, "name", RECORD_NAME_REASON)
        for name in ("-a", "a-", "a..b", ".a", "a b", "a.*", "**", "*a", "a/b", "b" * 64, "a\\.b")
    ),
    _bad({"name": "a" * 101, "target": "192.0.2.1"}, "name", "Length must be 0-100 characters"),
    _bad(
        {"name": "b\u00fccher", "target": "192.0.2.1"},
        "name",
        "Must be in its ASCII form: xn--bcher-kva",
    ),
    _bad({"name": "a.example.net.", "target": "192.0.2.1"}, "name", "Must lie within the domain"),
)

_HOSTS = ("mail.example.com", "a.b", "1.2.example", LONG_NAME)
_UNDERSCORED = _target("_x._y.example.com", "_x._y.example.com.")
_OTHER_HOSTS = (
    ("mail.example.com.", "mail.example.com."),
    ("Mail.EXAMPLE.com", "mail.example.com."),
    (f"{LONG_NAME}.", f"{LONG_NAME}."),
)
_BAD_HOSTS = (
    *(
        (text, NAME_REASON)
        for text in ("a..b.com", ".com", "a b.com", "-a.com", "*.a.com", "c" * 64 + ".com", "a/b.c")
    ),
    ("mail", DOTTED),
    ("192.0.2.1", DOTTED),
    ("2001:db8::1", NAME_REASON),
    (f"a.{LONG_NAME}", "Must have at most 253 characters"),
    ("b\u00fccher.example", "Must be in its ASCII form: xn--bcher-kva.example"),
    ("BU\u0308CHER.example", "Must be in its ASCII form: xn--bcher-kva.example"),
    ("\uff42.example", NAME_REASON),
    ("", "target is required"),
)


def _hosts(prefix: str = "", **more: Json) -> tuple[Valid, ...]:
    return tuple(_target(host, f"{prefix}{host}.", **more) for host in _HOSTS)


def _other_hosts(prefix: str = "", **more: Json) -> tuple[Valid, ...]:
    return tuple(_target(sent, f"{prefix}{rdata}", **more) for sent, rdata in _OTHER_HOSTS)


def _bad_hosts(**more: Json) -> tuple[Invalid, ...]:
    return (
        *(_bad({"name": "a", "target": t, **more}, "target", r) for t, r in _BAD_HOSTS),
        _bad({"name": "a", **more}, "target", "target is required"),
    )


_A = Table(
    canonical=(
        *(_target(text) for text in ("192.0.2.1", "0.0.0.0", "255.255.255.255")),
        *_ADDRESS_NAMES,
    ),
    other=_ODD_NAMES,
    invalid=(
        *(
            _bad({"name": "a", "target": target}, "target", IPV4_REASON)
            for target in (
                *("192.0.2", "192.0.2.256", "192.0.2.01", "192.0.2.1.", "192.0.2.1/32", " 1.2.3.4"),
                *("2001:db8::1", "www.example.com", "0x7f.1", "[remote_address]", "1.2.3.4\n"),
            )
        ),
        _bad({"name": "a"}, "target", "target is required"),
        _bad({"name": "a", "target": ""}, "target", "target is required"),
        *_BAD_NAMES,
        _bad({"target": "192.0.2.1", "priority": 1}, "priority", _NOT_MX),
        _bad({"target": "192.0.2.1", "weight": 1}, "weight", _NOT_SRV),
        _bad({"target": "192.0.2.1", "port": 1}, "port", _NOT_SRV),
        _bad({"target": "192.0.2.1", "service": "sip"}, "service", _NOT_SRV),
        _bad({"target": "192.0.2.1", "protocol": "tcp"}, "protocol", _NOT_SRV),
        _bad({"target": "192.0.2.1", "tag": "issue"}, "tag", _NOT_CAA),
        Invalid(
            {"name": "-", "target": "x", "priority": 256, "weight": -1, "ttl_sec": -1},
            (
                ("name", RECORD_NAME_REASON),
                ("target", IPV4_REASON),
                ("priority", "Must be 0-255"),
                ("weight", "Must be 0-65535"),
                ("ttl_sec", "Must be 0-2419200"),
            ),
        ),
    ),
)

_AAAA = Table(
    canonical=(_target("2001:db8::1"), _target("::"), _target("ff02::1:ff00:0")),
    other=(
        _target("2001:DB8::1", "2001:db8::1"),
        _target("2001:db8:0:0:0:0:0:1", "2001:db8::1"),
        _target("2001:0db8::0001", "2001:db8::1"),
        _target("2001:DB8::192.0.2.1", "2001:db8::c000:201"),
    ),
    invalid=(
        *(
            _bad({"name": "a", "target": target}, "target", IPV6_REASON)
            for target in (
                *("192.0.2.1", "2001:db8::1::", "2001:db8::g", "2001:db8::1%eth0"),
                *("2001:db8::1/64", "2001:db8::1.", "[2001:db8::1]", "www.example.com"),
            )
        ),
        *(
            _bad({"name": "a", "target": target}, "target", MAPPED_REASON)
            for target in ("::ffff:192.0.2.1", "::FFFF:c000:201")
        ),
        _bad({"name": "a"}, "target", "target is required"),
    ),
)

_NS = Table(
    canonical=_hosts(),
    other=(
        *_other_hosts(),
        Valid({"name": "", "target": "ns.example.net"}, "ns.example.net.", ""),
        Valid(
            {"name": "sub.{zone}", "target": "ns.example.net"},
            "ns.example.net.",
            "sub",
            {"name": "sub"},
        ),
    ),
    invalid=(
        *_bad_hosts(),
        _bad({"name": "a", "target": "n_s.example.com"}, "target", HOST_REASON),
        _bad({"name": "*", "target": "a.b"}, "name", "Must not be a wildcard"),
        _bad({"name": "*.a", "target": "a.b"}, "name", "Must not be a wildcard"),
    ),
)

_MX = Table(
    canonical=(
        *_hosts("10 ", priority=10),
        Valid({"name": "", "target": "mail.example.com", "priority": 0}, "0 mail.example.com.", ""),
        _target("mail.example.com", "255 mail.example.com.", priority=255),
        Valid({"name": "", "target": ""}, "0 .", ""),
        Valid({"name": "*.a", "target": "m.example.com", "priority": 1}, "1 m.example.com."),
    ),
    other=(
        *_other_hosts("0 "),
        Valid({"name": "@", "target": "", "priority": 0}, "0 .", "", {"name": ""}),
    ),
    invalid=(
        *_bad_hosts(priority=1),
        _bad({"name": "a", "target": "m_x.example.com"}, "target", HOST_REASON),
        *(
            _bad({"name": "a", "target": "a.b", "priority": priority}, "priority", reason)
            for priority, reason in (
                (256, "Must be 0-255"),
                (-1, "Must be 0-255"),
                ("1", "Must be an integer"),
                (1.5, "Must be an integer"),
            )
        ),
        _bad(
            {"name": "", "target": "", "priority": 5},
            "priority",
            "Must be 0 where the target is empty",
        ),
        _bad({"name": "a", "target": "a.b", "port": 25}, "port", _NOT_SRV),
    ),
)

_CNAME = Table(
    canonical=(
        *_hosts(),
        _UNDERSCORED,
        Valid({"name": "*", "target": "www.example.com"}, "www.example.com."),
        Valid({"name": "k1._domainkey", "target": "k1.mail.example"}, "k1.mail.example."),
    ),
    other=(
        *_other_hosts(),
        Valid({"name": "WwW", "target": "www.example.com"}, "www.example.com.", "www"),
    ),
    invalid=(
        *_bad_hosts(),
        _bad({"target": "www.example.com"}, "name", "name is required"),
        _bad({"name": "", "target": "www.example.com"}, "name", "name is required"),
        _bad({"name": "@", "target": "www.example.com"}, "name", APEX_REASON),
        _bad({"name": "{zone}", "target": "www.example.com"}, "name", APEX_REASON),
        _bad({"name": "{zone}.", "target": "www.example.com"}, "name", APEX_REASON),
    ),
)

_TXT = Table(
    canonical=(
        _target("v=spf1 -all", '"v=spf1 -all"'),
        _target("x" * 255, f'"{"x" * 255}"'),
        _target("a; b $c @ (d)", '"a; b $c @ (d)"'),
        Valid({"name": "", "target": "apex"}, '"apex"', ""),
        Valid({"name": "_dmarc", "target": "v=DMARC1; p=none"}, '"v=DMARC1; p=none"'),
        Valid({"name": "*", "target": "wild"}, '"wild"'),
    ),
    other=(
        _target("x" * 256, f'"{"x" * 255}" "x"'),
        _target("y" * 511, f'"{"y" * 255}" "{"y" * 255}" "y"'),
        _target('say "hi" \\ there', '"say \\"hi\\" \\\\ there"'),
        _target("caf\u00e9", '"caf\\195\\169"'),
        _target(
            "\u00e9" * 128, f'"{chr(92)}195{chr(92)}169' + "\\195\\169" * 126 + '\\195" "\\169"'
        ),
        _target(" spaces ", '" spaces "'),
        _target("tab\tline\n", '"tab\\009line\\010"'),
        _target('"v=DMARC1; p=none"', '"v=DMARC1; p=none"'),
        _target('"one" "two"', '"one" "two"'),
        _target('"one"  \t"\\"two\\"\\\\ \\195\\169" ""', '"one" "\\"two\\"\\\\ \\195\\169" ""'),
        _target(f'"{"x" * 256}"', f'"{"x" * 255}" "x"'),
        _target(' "one""two"\n', '"one" "two"'),
        _target('""', '""'),
        *(
            _target(odd, '"' + odd.replace("\\", "\\\\").replace('"', '\\"') + '"')
            for odd in ('"', 'a"', '"a', '"a" b', '"a"b"', '"a\\"', '"\\256"')
        ),
        _target("z" * 65_000, " ".join([f'"{"z" * 255}"'] * 254 + [f'"{"z" * 230}"'])),
    ),
    invalid=(
        _bad({"name": "a"}, "target", "target is required"),
        _bad({"name": "a", "target": ""}, "target", "target is required"),
        _bad(
            {"name": "long", "target": "x" * 65_400},
            "target",
            SIZE_REASON,
        ),
        _bad({"name": "a", "target": "x" * 65536}, "target", "Length must be 0-65535 characters"),
        _bad({"name": "a", "target": 7}, "target", "Must be a string"),
        _bad({"name": "a", "target": "x", "port": 1}, "port", _NOT_SRV),
    ),
)

_SIP: Json = {"service": "sip", "protocol": "tcp", "priority": 10, "weight": 5, "port": 5060}
_SIP_SHOWN: Json = {"name": "_sip._tcp", "service": "_sip", "protocol": "_tcp"}


def _srv(rdata: str, owner: str = "_sip._tcp", shown: Json | None = None, **sent: Json) -> Valid:
    return Valid({**_SIP, **sent}, rdata, owner, {**_SIP_SHOWN, **(shown or {})})


def _bad_srv(field: str, reason: str, **sent: Json) -> Invalid:
    wanted = {**_SIP, "target": "sip.example.com", **sent}
    return _bad({k: v for k, v in wanted.items() if v is not None}, field, reason)


_SRV = Table(
    canonical=(
        _srv("10 5 5060 sip.example.com.", target="sip.example.com"),
        _srv("0 0 0 sip.example.com.", target="sip.example.com", priority=0, weight=0, port=0),
        _srv(
            "255 65535 65535 a.b.",
            target="a.b",
            priority=255,
            weight=65535,
            port=65535,
        ),
        _srv("10 5 5060 .", target="."),
        _srv(
            "10 5 5060 a.b.",
            "_service_test._tcp",
            {"name": "_service_test._tcp", "service": "_service_test"},
            target="a.b",
            service="service_test",
        ),
        _srv("10 5 5060 8.8.8.8.", target="8.8.8.8"),
    ),
    other=(
        _srv("10 5 5060 sip.{zone}.", target="sip", shown={"target": "sip.{zone}"}),
        _srv("10 5 5060 sip.example.com.", target="SIP.example.com."),
        _srv("10 5 5060 a.b.", target="a.b", service="_sip", protocol="_tcp"),
        _srv("10 5 5060 a.b.", target="a.b", name="ignored"),
        *(
            _srv(
                "10 5 5060 a.b.",
                owner,
                {"name": owner, "service": None, "protocol": None},
                target="a.b",
                name=name,
                service=None,
                protocol=None,
            )
            for name, owner in (
                *(
                    ("", ""),
                    ("sip", "sip"),
                    ("_sip._tcp", "_sip._tcp"),
                    ("_a_b._c.{zone}", "_a_b._c"),
                ),
            )
        ),
        _srv(
            "10 5 5060 a.b.",
            "voice",
            {"name": "voice", "protocol": None},
            target="a.b",
            name="voice",
            protocol="",
        ),
        _srv(
            "10 5 5060 a.b.",
            "_x-y._udp",
            {"name": "_X-y._UDP", "service": "_X-y", "protocol": "_UDP"},
            target="a.b",
            service="X-y",
            protocol="UDP",
        ),
        _srv(
            "10 5 5060 a.b.",
            "_sip._tcp.voice",
            {"name": "_sip._tcp.voice"},
            target="a.b",
            name="_sip._tcp.voice",
        ),
    ),
    invalid=(
        *(
            _bad_srv(name, f"{name} is required", **{name: None})
            for name in ("target", "priority", "weight", "port")
        ),
        _bad_srv("priority", "Must be 0-255", priority=256),
        _bad_srv("weight", "Must be 0-65535", weight=65536),
        _bad_srv("port", "Must be 0-65535", port=-1),
        _bad_srv("name", RECORD_NAME_REASON, name="-a", service=None),
        *(
            _bad_srv("service", SERVICE_REASON, service=service)
            for service in ("a b", "-a", "a-", "a.b", "__a", "_")
        ),
        _bad_srv("service", "Length must be 0-64 characters", service="s" * 65),
        _bad_srv("protocol", SERVICE_REASON, protocol="t.p"),
        _bad_srv("target", NAME_REASON, target="a..b"),
        _bad_srv("target", NAME_REASON, target="*.a.b"),
    ),
)

_PTR = Table(
    canonical=(*_hosts(), _UNDERSCORED),
    other=(*_other_hosts(), Valid({"name": "7", "target": "host.example"}, "host.example.")),
    invalid=_bad_hosts(),
)


def _caa(tag: str, target: str, rdata: str | None = None, name: str = "a") -> Valid:
    sent = {"name": name, "tag": tag, "target": target}
    return Valid(sent, rdata or f'0 {tag} "{target}"')


def _bad_caa(tag: str, target: str, reason: str) -> Invalid:
    return _bad({"name": "a", "tag": tag, "target": target}, "target", reason)


_CAA = Table(
    canonical=(
        _caa("issue", "letsencrypt.org"),
        _caa("issue", ";"),
        _caa("issue", "ca.example; account=230123"),
        _caa("issue", "ca.example;a=1;b=2"),
        _caa("issuewild", "ca.example"),
        _caa("issuewild", ";"),
        _caa("iodef", "mailto:security@example.com"),
        _caa("iodef", "https://iodef.example.com/report?x=1"),
        _caa("iodef", "http://iodef.example.com"),
        _caa("iodef", "iodef.example.com"),
        _caa("issue", "none"),
        _caa("issue", "ca.example", name=""),
    ),
    other=(
        _caa("issue", "CA.Example"),
        _caa("issue", "ca.example ; "),
        Valid(
            {"name": "@", "tag": "issue", "target": "ca.example"},
            '0 issue "ca.example"',
            "",
            {"name": ""},
        ),
    ),
    invalid=(
        _bad({"name": "a", "target": "ca.example"}, "tag", "tag is required"),
        _bad(
            {"name": "a", "tag": "contact", "target": "ca.example"},
            "tag",
            "Must be one of issue, issuewild, iodef",
        ),
        _bad({"name": "a", "tag": "issue"}, "target", "target is required"),
        _bad_caa("issue", "", "target is required"),
        *(
            _bad_caa("issue", target, ISSUER_REASON)
            for target in (
                *(
                    "*.ca.example",
                    "ca.example.",
                    "ca example",
                    "ca.example; x",
                    "a.b;x=\u00e9",
                ),
                *("https://ca.example", "192.0.2.1", '"ca.example"', "ca.example x=1"),
            )
        ),
        _bad_caa("issuewild", "*.ca.example", ISSUER_REASON),
        *(
            _bad_caa("iodef", target, IODEF_REASON)
            for target in (
                *("ftp://example.com", "mailto:", "mailto:me", "https://", "security@example.com"),
                *("example.com.", "http://a b", 'http://a/"'),
            )
        ),
    ),
)

TABLES: Mapping[str, Table] = {
    "A": _A,
    "AAAA": _AAAA,
    "NS": _NS,
    "MX": _MX,
    "CNAME": _CNAME,
    "TXT": _TXT,
    "SRV": _SRV,
    "PTR": _PTR,
    "CAA": _CAA,
}


def filled(value: Json, zone: str) -> Json:
    """With the domain's name in place."""
    if isinstance(value, str):
        return value.replace("{zone}", zone)
    if isinstance(value, dict):
        return {key: filled(item, zone) for key, item in value.items()}
    return value
