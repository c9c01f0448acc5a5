"""Whether signatures of S3 are right: version 4 in headers and queries, version 2 in both.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import product

from roost.engines.gateway.faults import S3Error, denied, invalid
from roost.engines.gateway.signing import (
    ALGORITHM,
    EMPTY,
    UNSIGNED,
    Seed,
    Signed,
    as_bytes,
    signature_of,
    signing_key,
    trimmed,
)

STREAMS = "STREAMING-"
_SKEW = timedelta(minutes=15)
_EPOCH = datetime.fromtimestamp(0, UTC)
_LONGEST = 7 * 24 * 3600
_MOMENT = re.compile("[0-9]{8}T[0-9]{6}Z")
_V2_QUERIES = frozenset(
    (
        *("acl", "cors", "delete", "lifecycle", "location", "logging", "notification"),
        *("partNumber", "policy", "requestPayment", "tagging", "torrent", "uploadId", "uploads"),
        *("versionId", "versioning", "versions", "website", "attributes", "restore"),
        *(f"response-{each}" for each in ("cache-control", "content-disposition")),
        *(f"response-{each}" for each in ("content-encoding", "content-language")),
        *(f"response-{each}" for each in ("content-type", "expires")),
    )
)

Secret = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who has signed a request."""

    access_key: str | None
    payload: str
    """What the body is said to be: its SHA-256, `UNSIGNED-PAYLOAD` or `STREAMING-…`."""
    seed: Seed | None = None


def verify(signed: Signed, secret: Secret, now: datetime) -> Caller:
    """Raises S3Error unless it is signed by a key that exists, or not at all."""
    query = dict(signed.query)
    authorization = signed.headers.get("authorization")
    if "X-Amz-Signature" in query or "X-Amz-Algorithm" in query:
        return _verify_url(signed, query, secret, now)
    if "Signature" in query and "AWSAccessKeyId" in query:
        return _verify_old_url(signed, query, secret, now)
    if authorization is None:
        return Caller(None, signed.headers.get("x-amz-content-sha256", UNSIGNED))
    if authorization.startswith(ALGORITHM):
        return _verify_header(signed, authorization, secret, now)
    if authorization.startswith("AWS "):
        return _verify_old_header(signed, authorization, secret, now)
    raise invalid("The authorization mechanism you have provided is not supported.")


def _verify_header(signed: Signed, authorization: str, secret: Secret, now: datetime) -> Caller:
    parts = {
        name.strip(): value.strip()
        for name, _, value in (
            each.partition("=") for each in authorization[len(ALGORITHM) :].split(",")
        )
    }
    malformed = S3Error(
        400, "AuthorizationHeaderMalformed", "The authorization header is malformed"
    )
    try:
        access_key, scope = _credential(parts["Credential"])
        names, signature = parts["SignedHeaders"].split(";"), parts["Signature"]
    except (KeyError, ValueError):
        raise malformed from None
    moment = signed.headers.get("x-amz-date") or _old_date(signed.headers.get("date"))
    if abs(_moment(moment) - now) > _SKEW:
        message = "The difference between the request time and the current time is too large."
        raise S3Error(403, "RequestTimeTooSkewed", message)
    if scope.split("/")[0] != moment[:8] or "host" not in names:
        raise malformed
    payload = signed.headers.get("x-amz-content-sha256")
    if payload is None:
        if signed.headers.get("content-length", "0") != "0":
            raise invalid("Missing required header: x-amz-content-sha256", "InvalidRequest")
        payload = EMPTY
    _check_signed_headers(signed, names)
    key = _key_of(access_key, secret, scope)
    for path in signed.paths:
        wanted = signature_of(signed, path, signed.query, names, payload, moment, scope, key)
        if hmac.compare_digest(wanted.encode(), signature.encode(errors="replace")):
            return Caller(access_key, payload, Seed(key, moment, scope, wanted))
    raise _mismatch()


def _verify_url(signed: Signed, query: Mapping[str, str], secret: Secret, now: datetime) -> Caller:
    try:
        if query["X-Amz-Algorithm"] != ALGORITHM:
            raise ValueError
        access_key, scope = _credential(query["X-Amz-Credential"])
        moment, seconds = query["X-Amz-Date"], int(query["X-Amz-Expires"])
        names, signature = query["X-Amz-SignedHeaders"].split(";"), query["X-Amz-Signature"]
    except (KeyError, ValueError):
        message = "The parameters of the signature are not complete or malformed"
        raise invalid(message, "AuthorizationQueryParametersError") from None
    if not 1 <= seconds <= _LONGEST or scope.split("/")[0] != moment[:8] or "host" not in names:
        message = "X-Amz-Expires must be 1 to 604800 seconds, and the scope that of the date"
        raise invalid(message, "AuthorizationQueryParametersError")
    begins = _moment(moment)
    if now > begins + timedelta(seconds=seconds):
        raise denied("Request has expired")
    if now < begins - _SKEW:
        raise denied("Request is not valid yet")
    _check_signed_headers(signed, names)
    said = query.get("X-Amz-Content-Sha256") or signed.headers.get("x-amz-content-sha256")
    rest = [each for each in signed.query if each[0] != "X-Amz-Signature"]
    key = _key_of(access_key, secret, scope)
    for path, payload in product(signed.paths, dict.fromkeys((UNSIGNED, said or UNSIGNED))):
        wanted = signature_of(signed, path, rest, names, payload, moment, scope, key)
        if hmac.compare_digest(wanted.encode(), signature.encode(errors="replace")):
            return Caller(access_key, said or UNSIGNED)
    raise _mismatch()


def _check_signed_headers(signed: Signed, names: Sequence[str]) -> None:
    """Who was given a URL adds no copy source or metadata to what its maker signed."""
    own = {*names, "x-amz-content-sha256"}
    if any(name.startswith("x-amz-") and name not in own for name in signed.headers):
        raise denied("There were headers present in the request which were not signed")


def _verify_old_url(
    signed: Signed, query: Mapping[str, str], secret: Secret, now: datetime
) -> Caller:
    """Version 2; Expires is a moment."""
    expires = query.get("Expires", "")
    if not expires.isdecimal() or len(expires) > 12:
        raise denied("Expires is missing or wrong")
    if now.timestamp() > int(expires):
        raise denied("Request has expired")
    _check_old(signed, expires, _secret_of(query["AWSAccessKeyId"], secret), query["Signature"])
    payload = signed.headers.get("x-amz-content-sha256", UNSIGNED)
    return Caller(query["AWSAccessKeyId"], payload)


def _verify_old_header(signed: Signed, authorization: str, secret: Secret, now: datetime) -> Caller:
    access_key, _, signature = authorization.removeprefix("AWS ").partition(":")
    said = signed.headers.get("x-amz-date", signed.headers.get("date"))
    if abs(_moment(_old_date(said)) - now) > _SKEW:
        message = "The difference between the request time and the current time is too large."
        raise S3Error(403, "RequestTimeTooSkewed", message)
    date = "" if "x-amz-date" in signed.headers else signed.headers.get("date", "")
    _check_old(signed, date, _secret_of(access_key, secret), signature)
    return Caller(access_key, signed.headers.get("x-amz-content-sha256", UNSIGNED))


def _check_old(signed: Signed, date: str, secret: str, signature: str) -> None:
    """Version 2. Clients sign a bucket without an object with and without a `/` behind."""
    paths = list(signed.paths)
    if signed.bucket_of_host is not None:
        paths = [f"/{signed.bucket_of_host}{path}" for path in paths]
    elif signed.path.count("/") == 1 and signed.path != "/":
        paths += [f"{path}/" for path in paths]
    for path in paths:
        wanted = _old_signature(signed, date, secret, path)
        if hmac.compare_digest(wanted.encode(), signature.encode(errors="replace")):
            return
    raise _mismatch()


def _old_signature(signed: Signed, date: str, secret: str, path: str) -> str:
    amazon = "".join(
        f"{name}:{trimmed(value)}\n"
        for name, value in sorted(signed.headers.items())
        if name.startswith("x-amz-")
    )
    own = sorted((name, value) for name, value in signed.query if name in _V2_QUERIES)
    query = "&".join(f"{name}={value}" if value else name for name, value in own)
    head = (signed.headers.get(each, "") for each in ("content-md5", "content-type"))
    text = "\n".join((signed.method, *head, date, "")) + amazon + path
    if query:
        text += f"?{query}"
    digest = hmac.digest(secret.encode(), as_bytes(text), hashlib.sha1)
    return base64.b64encode(digest).decode()


def _credential(text: str) -> tuple[str, str]:
    access_key, date, region, service, end = text.rsplit("/", 4)
    if (service, end) != ("s3", "aws4_request"):
        raise ValueError
    return access_key, f"{date}/{region}/{service}/{end}"


def _key_of(access_key: str, secret: Secret, scope: str) -> bytes:
    return signing_key(_secret_of(access_key, secret), scope)


def _secret_of(access_key: str, secret: Secret) -> str:
    found = secret(access_key)
    if found is None:
        message = "The AWS Access Key Id you provided does not exist in our records."
        raise S3Error(403, "InvalidAccessKeyId", message)
    return found


def _moment(text: str) -> datetime:
    """The moment of `20261231T235959Z`, in a fifth of what `strptime` takes."""
    moment = _EPOCH
    if _MOMENT.fullmatch(text):
        with suppress(ValueError):
            moment = datetime.fromisoformat(text)
    if moment <= _EPOCH:
        raise denied("A valid Date or x-amz-date header is required")
    return moment


def _old_date(text: str | None) -> str:
    if text is None:
        raise denied("A valid Date or x-amz-date header is required")
    if text[:8].isdecimal():
        return text
    try:
        return parsedate_to_datetime(text).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    except (ValueError, OverflowError):
        raise denied("A valid Date or x-amz-date header is required") from None


def _mismatch() -> S3Error:
    message = (
        "The request signature we calculated does not match the signature you provided. "
        "Check your key and signing method."
    )
    return S3Error(403, "SignatureDoesNotMatch", message)
