"""Certificates that configs serve with (reference: NodeBalancer config, ssl_cert)."""

from dataclasses import dataclass, field
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from roost.resources.object_storage.certificate_rules import check_pair, names


@dataclass(frozen=True, slots=True)
class Served:
    """A certificate that can be served with its key."""

    certificate: str
    """PEM, with the chain behind it, and nothing else that was sent with them."""
    private_key: str = field(repr=False)
    commonname: str
    fingerprint: str


def read(certificate: str, private_key: str, now: datetime, prefix: str = "") -> Served:
    """Raises 400 for `ssl_cert` or `ssl_key`, behind the prefix, when they cannot be served.

    It takes a processor for some milliseconds. `now` is UTC.
    """
    fields = f"{prefix}ssl_cert", f"{prefix}ssl_key"
    first = check_pair(certificate, private_key, now, fields)
    fingerprint = first.fingerprint(SHA256()).hex(":").upper()
    return Served(_chain(certificate), private_key, _name(first), fingerprint)


def _chain(certificate: str) -> str:
    """Without keys and parameters, which a server would take from there."""
    chain = x509.load_pem_x509_certificates(certificate.encode())
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in chain)


def _name(certificate: x509.Certificate) -> str:
    """That of its subject, or the first that it is for; none that cannot be shown."""
    try:
        subject = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    except ValueError:  # It is not of the encoding that it says.
        subject = []
    found = (*(str(each.value) for each in subject[:1]), *names(certificate))
    return next((each for each in found if each.isprintable()), "")
