"""Signatures of S3: what botocore signs is known, and nothing that was changed afterwards."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from botocore.auth import HmacV1Auth, HmacV1QueryAuth, S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.signatures import Caller, verify
from roost.engines.gateway.signing import Signed

KEY, SECRET, HOST = "A" * 20, "s" * 40, "s3.test"
OWN, OTHER = Credentials(KEY, SECRET), Credentials(KEY, "t" * 40)
Signer: TypeAlias = HmacV1Auth | S3SigV4Auth | S3SigV4QueryAuth
KINDS: dict[str, Callable[[Credentials], Signer]] = {
    "v4": lambda own: S3SigV4Auth(own, "s3", "us-east-1"),
    "v4 url": lambda own: S3SigV4QueryAuth(own, "s3", "us-east-1", expires=60),
    "v2": HmacV1Auth,
    "v2 url": lambda own: HmacV1QueryAuth(own, expires=60),
}
every = pytest.mark.parametrize("kind", KINDS)


def made(
    kind: str, method: str = "PUT", target: str = "/pictures/a%20b%2B", who: Credentials = OWN
) -> Signed:
    """A request as it reaches the gateway."""
    request = AWSRequest(method, f"http://{HOST}{target}", headers={"Host": HOST}, data=b"")
    KINDS[kind](who).add_auth(request)
    parts = urlsplit(str(request.url))
    headers = {name.lower(): value for name, value in request.headers.items()}
    query = parse_qsl(parts.query, keep_blank_values=True)
    return Signed(method, unquote(parts.path), None, query, headers, parts.path)


def known(signed: Signed, later: timedelta = timedelta(0)) -> Caller:
    return verify(signed, {KEY: SECRET}.get, datetime.now(UTC) + later)


def refusal(signed: Signed, later: timedelta = timedelta(0)) -> str:
    with pytest.raises(S3Error) as caught:
        known(signed, later)
    assert caught.value.status in (400, 403)
    return caught.value.code


@every
def test_what_its_owner_has_signed(kind: str) -> None:
    assert known(made(kind)).access_key == KEY
    assert known(made(kind, "GET", "/pictures?acl")).access_key == KEY


@every
def test_what_somebody_else_has_signed(kind: str) -> None:
    assert refusal(made(kind, who=OTHER)) == "SignatureDoesNotMatch"
    assert refusal(made(kind, who=Credentials("B" * 20, SECRET))) == "InvalidAccessKeyId"


@every
def test_another_method_name_or_sub_resource(kind: str) -> None:
    signed = made(kind)
    for other in (
        replace(signed, method="DELETE"),
        replace(signed, path="/pictures/c", raw_path="/pictures/c"),
        replace(signed, query=[*signed.query, ("acl", "")]),
        replace(signed, bucket_of_host="secrets"),
    ):
        if other.bucket_of_host is None or kind.startswith("v2"):
            assert refusal(other) == "SignatureDoesNotMatch"


@every
@pytest.mark.parametrize("name", ["x-amz-copy-source", "x-amz-meta-author", "x-amz-acl"])
def test_a_header_that_was_not_signed(kind: str, name: str) -> None:
    """Who was given a URL for one upload copies nothing else with it."""
    signed = made(kind)
    other = replace(signed, headers={**signed.headers, name: "/secrets/plan"})
    assert refusal(other) in ("AccessDenied", "SignatureDoesNotMatch")


@every
def test_it_ends(kind: str) -> None:
    signed = made(kind)
    seconds = 60 if kind.endswith("url") else 15 * 60
    assert known(signed, timedelta(seconds=seconds - 5)).access_key == KEY
    assert refusal(signed, timedelta(seconds=seconds + 5)) in (
        "AccessDenied",
        "RequestTimeTooSkewed",
    )


def test_it_has_not_begun() -> None:
    assert refusal(made("v4"), timedelta(minutes=-16)) == "RequestTimeTooSkewed"
    assert refusal(made("v4 url"), timedelta(minutes=-16)) == "AccessDenied"


TEXTS = st.text(
    st.characters(max_codepoint=0x7E, min_codepoint=0x20) | st.sampled_from("\udc80é=,;/&"),
    max_size=60,
)
PARTS = ("Credential", "SignedHeaders", "Signature")
NAMES = ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature")
DATES = st.sampled_from(["20261127T000000Z", "Mon, 01 Jan 9999 00:00:00 -2359", "٢٠٢٦١١٢٧"])


@given(st.lists(TEXTS, min_size=3, max_size=3), DATES | TEXTS, TEXTS)
def test_any_header_is_refused_with_an_error_of_s3(
    values: list[str], date: str, scope: str
) -> None:
    pairs = zip(PARTS, [f"{KEY}/20261127/{scope}/s3/aws4_request", *values[1:]], strict=True)
    text = ",".join(f"{name}={value}" for name, value in pairs)
    for words in (f"AWS4-HMAC-SHA256 {text}", f"AWS {KEY}:{values[0]}", values[0]):
        headers = {"authorization": words, "host": HOST, "date": date, "x-amz-date": date}
        refusal(Signed("GET", "/", None, [], headers))


@given(st.lists(TEXTS, min_size=6, max_size=6), TEXTS)
def test_any_url_is_refused_with_an_error_of_s3(values: list[str], scope: str) -> None:
    own = ["AWS4-HMAC-SHA256", f"{KEY}/20261127/{scope}/s3/aws4_request"]
    own += ["20261127T000000Z", "60", "host", values[5]]
    for texts in (values, own):
        query = [(f"X-Amz-{name}", value) for name, value in zip(NAMES, texts, strict=True)]
        refusal(Signed("GET", "/", None, query, {"host": HOST}))
    old = [("AWSAccessKeyId", KEY), ("Signature", values[0]), ("Expires", values[1])]
    refusal(Signed("GET", "/", None, old, {"host": HOST}))
