"""Refusals, as S3 clients read them."""

from html import escape

_CONTROL = dict.fromkeys(each for each in range(0x20) if each not in b"\t\n\r")
"""What XML cannot hold."""


class S3Error(Exception):
    """A request that is not done."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.message = message

    def body(self, resource: str, request_id: str) -> bytes:
        message = escape(self.message.translate(_CONTROL), quote=False)
        resource = escape(resource, quote=False)
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{self.code}</Code><Message>{message}</Message>"
            f"<Resource>{resource}</Resource><RequestId>{request_id}</RequestId></Error>"
        ).encode()


def denied(message: str = "Access Denied") -> S3Error:
    return S3Error(403, "AccessDenied", message)


def no_bucket() -> S3Error:
    return S3Error(404, "NoSuchBucket", "The specified bucket does not exist")


def no_object() -> S3Error:
    return S3Error(404, "NoSuchKey", "The specified key does not exist.")


def invalid(message: str, code: str = "InvalidArgument") -> S3Error:
    return S3Error(400, code, message)


def not_built(what: str) -> S3Error:
    return S3Error(501, "NotImplemented", f"{what} is not implemented")


def unavailable() -> S3Error:
    return S3Error(503, "ServiceUnavailable", "The service does not answer. Try again.")
