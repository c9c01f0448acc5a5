"""The rules of object storage as pure functions (spec A object storage)."""

import re
from collections.abc import Collection, Mapping
from html import escape

from roost.resources.object_storage.engine import Acl
from roost.web.fields import refuse

LABEL_PATTERN = "[a-z0-9][a-z0-9-]{1,61}[a-z0-9]"
_RESERVED_STARTS = ("xn--", "sthree-", "amzn-s3-demo-")
_RESERVED_ENDS = ("-s3alias", "--ol-s3", "--x-s3", "--table-s3")
"""Of names that S3 keeps for itself, so that its servers and clients refuse some of them."""
MAX_NAME = 1024
_MAX_PART = 255
"""Bytes of a name, and of its parts between `/`."""
_MEANINGFUL = frozenset('*?$"\\')
"""Characters that policies of S3 do not take for themselves."""
_MAX_POLICY = 8000
_POLICY_EXTRA = 100
"""Bytes that a policy has for names of objects, and for each beside its name."""

_S3 = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
_GROUP = "http://acs.amazonaws.com/groups/global/"
_GRANTED: Mapping[Acl, tuple[tuple[str, str], ...]] = {
    "private": (),
    "public-read": (("AllUsers", "READ"),),
    "authenticated-read": (("AuthenticatedUsers", "READ"),),
    "public-read-write": (("AllUsers", "READ"), ("AllUsers", "WRITE")),
}


def check_new_label(label: str) -> str:
    """The label of a bucket that is to be made. Raises a problem."""
    for text in _RESERVED_STARTS:
        if label.startswith(text):
            raise refuse(f"Must not begin with {text}, which S3 reserves")
    for text in _RESERVED_ENDS:
        if label.endswith(text):
            raise refuse(f"Must not end with {text}, which S3 reserves")
    return label


def is_new_label(label: str) -> bool:
    """Whether a bucket of this name may be made."""
    reserved = label.startswith(_RESERVED_STARTS) or label.endswith(_RESERVED_ENDS)
    return not reserved and re.fullmatch(LABEL_PATTERN, label) is not None


def check_name(name: str) -> str:
    """The name of an object that every S3 client and engine understands alike."""
    if not 1 <= len(name.encode()) <= MAX_NAME:
        raise refuse(f"Length must be 1-{MAX_NAME} bytes")
    if "\0" in name:
        raise refuse("Must not have null characters")
    parts = name.removesuffix("/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise refuse("Must not begin with /, and have no part that is empty, . or ..")
    if any(len(part.encode()) > _MAX_PART for part in parts):
        raise refuse(f"Length of each part between / must be at most {_MAX_PART} bytes")
    return name


def check_acl_name(name: str) -> str:
    """Check the name of an object that gets an ACL of its own."""
    if _MEANINGFUL & set(name) or not name.isprintable():
        raise refuse(
            "An object whose name has * ? $ \" \\ or control characters has the bucket's ACL"
        )
    return check_name(name)


def have_room(names: Collection[str]) -> bool:
    """Whether S3 can hold so many ACLs of objects for one bucket."""
    return sum(len(name.encode()) + _POLICY_EXTRA for name in names) <= _MAX_POLICY


def acl_xml(acl: Acl, owner: str) -> str:
    """An AccessControlPolicy, as S3 clients read it."""
    grants = "".join(
        f'<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Group">'
        f"<URI>{_GROUP}{group}</URI></Grantee><Permission>{permission}</Permission></Grant>"
        for group, permission in _GRANTED[acl]
    )
    identity = f"<ID>{escape(owner, quote=False)}</ID>"
    return (
        f"<AccessControlPolicy {_S3}><Owner>{identity}</Owner><AccessControlList>"
        f'<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        f' xsi:type="CanonicalUser">{identity}</Grantee>'
        f"<Permission>FULL_CONTROL</Permission></Grant>"
        f"{grants}</AccessControlList></AccessControlPolicy>"
    )


def cors_xml(enabled: bool) -> str:
    """A CORSConfiguration with a rule for every origin, or with none."""
    methods = "".join(
        f"<AllowedMethod>{method}</AllowedMethod>"
        for method in ("GET", "PUT", "POST", "DELETE", "HEAD")
    )
    rule = (
        f"<CORSRule><AllowedOrigin>*</AllowedOrigin>{methods}"
        "<AllowedHeader>*</AllowedHeader></CORSRule>"
    )
    return f"<CORSConfiguration {_S3}>{rule if enabled else ''}</CORSConfiguration>"


def bucket_path(cluster: str, label: str) -> str:
    """What names a bucket among all."""
    return f"{cluster}/{label}"
