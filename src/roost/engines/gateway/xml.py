"""Answers and bodies in XML."""

import re
from collections.abc import Iterable
from html import escape
from xml.etree.ElementTree import Element

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from roost.engines.gateway.faults import invalid

_PLAIN = re.compile(r"[ !#-%'-;=?-~]*")
"""What needs no look at each character."""
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


def document(root: str, parts: Iterable[str]) -> bytes:
    text = "".join(parts)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<{root} xmlns="{NAMESPACE}">{text}</{root}>'.encode()


def tag(name: str, value: str | int | bool) -> str:
    """An element. Characters that XML cannot hold are written as references, as S3 does."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{name}>{safe(text)}</{name}>"


def safe(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = escape(text, quote=False).replace('"', "&quot;").replace("\r", "&#13;")
    if escaped.isprintable():
        return escaped
    return "".join(
        f"&#x{ord(each):x};" if ord(each) < 0x20 and each not in "\t\n" else each
        for each in escaped
    )


def parsed(body: bytes) -> Element:
    """Raises S3Error."""
    try:
        root: Element = ElementTree.fromstring(body)
    except (ElementTree.ParseError, DefusedXmlException, ValueError):
        message = "The XML you provided was not well-formed or did not validate"
        raise invalid(message, "MalformedXML") from None
    return root


def replaced(body: bytes, values: dict[str, str | None]) -> bytes:
    """An answer of the server behind with other texts in some of its elements."""
    text = body.decode()
    for name, value in values.items():
        before, start, rest = text.partition(f"<{name}>")
        inside, end, after = rest.partition(f"</{name}>")
        if start and end:
            text = before + ("" if value is None else tag(name, value)) + after
        del inside
    return text.encode()
