"""Signatures of S3 (AWS Signature Version 4), by a library that is loaded when one is made."""

from collections.abc import Mapping
from dataclasses import dataclass

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

REGION = "us-east-1"
"""Which signatures name; the server takes any."""


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs with one key."""

    access_key: str
    secret_key: str

    def headers(self, method: str, url: str, body: bytes) -> Mapping[str, str]:
        """Those of the request, with its signature."""
        request = AWSRequest(method=method, url=url, data=body)
        S3SigV4Auth(self._credentials, "s3", REGION).add_auth(request)
        return dict(request.headers.items())

    def url(self, method: str, url: str, seconds: int, content_type: str | None) -> str:
        """The URL with a signature, for whoever has it and for so long."""
        headers = {} if content_type is None else {"Content-Type": content_type}
        request = AWSRequest(method=method, url=url, headers=headers)
        S3SigV4QueryAuth(self._credentials, "s3", REGION, seconds).add_auth(request)
        return str(request.url)

    @property
    def _credentials(self) -> Credentials:
        return Credentials(self.access_key, self.secret_key)
