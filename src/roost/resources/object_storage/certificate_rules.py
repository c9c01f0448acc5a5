"""Whether a bucket's name can be served with a certificate (spec A object storage ssl create)."""

import os
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from roost.errors import invalid

MAX_CERTIFICATE, MAX_KEY = 16_384, 8_192
"""Characters."""
_MOST = 10
"""Certificates of a chain."""
_RSA_BITS = range(2048, 8193)
_FIELDS = ("certificate", "private_key")


def check(certificate: str, private_key: str, hostname: str, now: datetime) -> None:
    """Raises 400 with what is wrong. It takes a processor for some milliseconds. `now` is UTC."""
    first = check_pair(certificate, private_key, now)
    if not any(_covers(name, hostname) for name in names(first)):
        raise invalid(f"The certificate is not for {hostname}", _FIELDS[0])


def check_pair(
    certificate: str, private_key: str, now: datetime, fields: tuple[str, str] = _FIELDS
) -> x509.Certificate:
    """The certificate of the server, of a chain that can be served with the key.

    Raises 400 for one of the `fields`. It takes a processor for some milliseconds. `now` is UTC.
    """
    chain, key = _read_chain(certificate, fields[0]), _read_key(private_key, fields[1])
    if chain[0].public_key() != key.public_key():
        raise invalid("The key is not that of the certificate", fields[1])
    _check_chain(chain, now.replace(tzinfo=UTC), fields[0])
    try:
        server_context(certificate.encode(), private_key.encode())
    except ssl.SSLError as error:
        raise invalid("The certificate is too weak to be served", fields[0]) from error
    return chain[0]


def server_context(certificate: bytes, private_key: bytes) -> ssl.SSLContext:
    """The TLS context of a server with the certificate.

    Raises SSLError for one that OpenSSL refuses.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # OpenSSL's interface wants a path; this one is of no file system.
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(private_key + b"\n" + certificate)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context


def _read_chain(certificate: str, field: str) -> list[x509.Certificate]:
    try:
        chain = x509.load_pem_x509_certificates(certificate.encode())
    except ValueError:
        raise invalid("Must be a certificate in PEM", field) from None
    if len(chain) > _MOST:
        raise invalid(f"Must be at most {_MOST} certificates", field)
    return chain


def _read_key(private_key: str, field: str) -> RSAPrivateKey | EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(private_key.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise invalid("Must be a private key in PEM, without a password", field) from None
    if isinstance(key, RSAPrivateKey) and key.key_size in _RSA_BITS:
        return key
    if isinstance(key, EllipticCurvePrivateKey):
        return key
    raise invalid("Must be an RSA key of 2048 to 8192 bits, or an EC key", field)


def _check_chain(chain: Sequence[x509.Certificate], now: datetime, field: str) -> None:
    for each in chain:
        if now < each.not_valid_before_utc:
            raise invalid("The certificate is not valid yet", field)
        if now >= each.not_valid_after_utc:
            raise invalid("The certificate has expired", field)
    for each, issuer in pairwise(chain):
        try:
            each.verify_directly_issued_by(issuer)
        except (ValueError, TypeError, InvalidSignature):
            reason = "Each certificate must be followed by that of its issuer"
            raise invalid(reason, field) from None


def names(certificate: x509.Certificate) -> list[str]:
    """The names that it is for; none by its subject alone."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        return []
    return found.value.get_values_for_type(x509.DNSName)


def _covers(name: str, hostname: str) -> bool:
    """A star stands for the first label (RFC 6125)."""
    _, _, rest = hostname.partition(".")
    return name.lower() in (hostname, f"*.{rest}")
