"""Which certificates a bucket can be served with (spec A object storage ssl create)."""

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from tests.support.certificates import Made, certificate_for, private_pem

from roost.errors import ApiError
from roost.resources.object_storage.certificate_rules import check

HOST = "photos.us-lake-1.objects.roost.internal"
NOW = datetime.now(UTC).replace(tzinfo=None)
OWN = certificate_for(HOST)
AUTHORITY = certificate_for()


def problem(certificate: str, private_key: str) -> tuple[str | None, str] | None:
    """Field and reason of the refusal."""
    try:
        check(certificate, private_key, HOST, NOW)
    except ApiError as error:
        [found] = error.problems
        return found.field, found.reason
    return None


@pytest.mark.parametrize(
    "made",
    [
        OWN,
        certificate_for("other.example", HOST.upper()),
        certificate_for(f"*.{HOST.partition('.')[2]}"),
        certificate_for(HOST, key=ec.generate_private_key(ec.SECP384R1())),
        certificate_for(HOST, key=rsa.generate_private_key(65537, 2048)),
    ],
)
def test_accepted(made: Made) -> None:
    assert problem(made.pem, made.key_pem) is None


def test_a_chain_in_its_order() -> None:
    leaf = certificate_for(HOST, issuer=AUTHORITY)
    assert problem(leaf.pem + AUTHORITY.pem, leaf.key_pem) is None
    order = ("certificate", "Each certificate must be followed by that of its issuer")
    assert problem(leaf.pem + OWN.pem, leaf.key_pem) == order
    key = ("private_key", "The key is not that of the certificate")
    assert problem(AUTHORITY.pem + leaf.pem, leaf.key_pem) == key


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (certificate_for(HOST, days=(-3, -1)), "The certificate has expired"),
        (certificate_for(HOST, days=(1, 3)), "The certificate is not valid yet"),
        (certificate_for("other.example"), f"The certificate is not for {HOST}"),
        (certificate_for("*.objects.roost.internal"), f"The certificate is not for {HOST}"),
        (certificate_for("*"), f"The certificate is not for {HOST}"),
        (AUTHORITY, f"The certificate is not for {HOST}"),
    ],
)
def test_certificates_that_are_refused(made: Made, reason: str) -> None:
    assert problem(made.pem, made.key_pem) == ("certificate", reason)


@pytest.mark.parametrize("text", ["x", "-----BEGIN CERTIFICATE-----\n", OWN.key_pem, "\u2028"])
def test_what_is_no_certificate(text: str) -> None:
    assert problem(text, OWN.key_pem) == ("certificate", "Must be a certificate in PEM")


def test_a_chain_without_end() -> None:
    assert problem(OWN.pem * 11, OWN.key_pem) == (
        "certificate",
        "Must be at most 10 certificates",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "Must be a private key in PEM, without a password"),
        (OWN.pem, "Must be a private key in PEM, without a password"),
        (private_pem(OWN.key, b"secret"), "Must be a private key in PEM, without a password"),
        (AUTHORITY.key_pem, "The key is not that of the certificate"),
        (
            private_pem(rsa.generate_private_key(65537, 1024)),
            "Must be an RSA key of 2048 to 8192 bits, or an EC key",
        ),
        (
            private_pem(ed25519.Ed25519PrivateKey.generate()),
            "Must be an RSA key of 2048 to 8192 bits, or an EC key",
        ),
    ],
)
def test_keys_that_are_refused(text: str, reason: str) -> None:
    assert problem(OWN.pem, text) == ("private_key", reason)
