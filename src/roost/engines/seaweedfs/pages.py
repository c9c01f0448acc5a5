"""Pages of lists of objects as a cluster's S3 answers them, and names that it keeps as they are."""

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import unquote_plus
from xml.etree.ElementTree import Element

from defusedxml import ElementTree

from roost.resources.object_storage.engine import ObjectPage, StoredObject


def is_clean(name: str) -> bool:
    """Whether the server keeps an object under the name as it is."""
    return "\\" not in name and not {"", ".", ".."} & set(name.removesuffix("/").split("/"))


def read_page(body: bytes) -> ObjectPage:
    """The server writes names as they are in a URL, so that XML can hold all of them."""
    root = ElementTree.fromstring(body)
    objects = sorted((*_objects(root), *_prefixes(root)), key=lambda each: each.name)
    if root.findtext("{*}IsTruncated") != "true" or not objects:
        return ObjectPage(tuple(objects), None)
    marker = unquote_plus(root.findtext("{*}NextMarker") or "")
    return ObjectPage(tuple(objects), marker or objects[-1].name)


def _objects(root: Element) -> Iterator[StoredObject]:
    for each in root.iterfind("{*}Contents"):
        modified = datetime.fromisoformat(each.findtext("{*}LastModified") or "")
        yield StoredObject(
            unquote_plus(each.findtext("{*}Key") or ""),
            (each.findtext("{*}ETag") or "").strip('"'),
            modified.astimezone(UTC).replace(tzinfo=None, microsecond=0),
            int(each.findtext("{*}Size") or 0),
        )


def _prefixes(root: Element) -> Iterator[StoredObject]:
    for each in root.iterfind("{*}CommonPrefixes"):
        yield StoredObject(unquote_plus(each.findtext("{*}Prefix") or ""))
