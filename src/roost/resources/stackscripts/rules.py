"""What a StackScript is: a script with `<UDF …/>` tags in its comments (reference: StackScript)."""

import re
from collections.abc import Iterator
from html import unescape

from roost.resources.stackscripts.records import UserDefinedField
from roost.web.fields import refuse

MAX_SCRIPT = 65_535
"""Characters."""
MAX_FIELDS = 100
MAX_TEXT = 255
"""Characters of each attribute of a field, but of lists of choices."""
MAX_CHOICES = 4096
"""Characters of a list of choices."""
ANY_IMAGE = "any/all"

_TAG = re.compile(r"<udf\s", re.IGNORECASE)
_INCLUDE = re.compile(r"<ssinclude\s", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\s*([a-z]{1,16})\s{0,8}=\s{0,8}("[^"]*"|'[^']*')""", re.IGNORECASE)
_END = re.compile(r"\s*/?>")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_ATTRIBUTES = {"name", "label", "default", "example", "oneof", "manyof"}


def check_script(script: str) -> str:
    """A script that says in its first line what runs it, and whose fields make sense."""
    if not script.startswith("#!"):
        raise refuse("Must begin with a shebang line")
    if found := _INCLUDE.search(script):
        line = script.count("\n", 0, found.start()) + 1
        raise refuse(f"Line {line} includes another StackScript, which is not possible")
    find_fields(script)
    return script


def find_fields(script: str) -> list[UserDefinedField]:
    """What whoever deploys the script is asked. Refuses tags that cannot be meant."""
    fields = dict[str, UserDefinedField]()
    for attributes in _tags(script):
        field = _field(attributes)
        if field["name"].lower() in fields:
            raise refuse(f"Two UDF tags have the name {field['name']}")
        fields[field["name"].lower()] = field
        if len(fields) > MAX_FIELDS:
            raise refuse(f"Can have at most {MAX_FIELDS} UDF tags")
    return list(fields.values())


def _tags(script: str) -> Iterator[dict[str, str]]:
    for tag in _TAG.finditer(script):
        attributes, place = dict[str, str](), tag.end()
        while found := _ATTRIBUTE.match(script, place):
            attributes[found[1].lower()] = unescape(found[2][1:-1])
            place = found.end()
        if _END.match(script, place) is None:
            raise refuse(f"The UDF tag on line {script.count(chr(10), 0, place) + 1} has no end")
        yield attributes


def _field(attributes: dict[str, str]) -> UserDefinedField:
    name = attributes.get("name", "")
    if _NAME.fullmatch(name) is None:
        raise refuse("Each UDF tag needs a name of up to 64 letters, digits and underscores")
    _check_attributes(name, attributes)
    field = UserDefinedField(name=name, label=attributes["label"])
    if "default" in attributes:
        field["default"] = attributes["default"]
    if "example" in attributes:
        field["example"] = attributes["example"]
    if "oneof" in attributes:
        field["oneOf"] = attributes["oneof"]
    if "manyof" in attributes:
        field["manyOf"] = attributes["manyof"]
    return field


def _check_attributes(name: str, attributes: dict[str, str]) -> None:
    if not attributes.get("label"):
        raise refuse(f"The UDF tag {name} needs a label")
    for attribute, value in attributes.items():
        most = MAX_CHOICES if attribute in ("oneof", "manyof") else MAX_TEXT
        if attribute not in _ATTRIBUTES:
            raise refuse(f"The UDF tag {name} cannot have {attribute}")
        if len(value) > most:
            raise refuse(f"{attribute} of the UDF tag {name} is longer than {most} characters")
    if "oneof" in attributes and "manyof" in attributes:
        raise refuse(f"The UDF tag {name} cannot have both oneof and manyof")
    default, choices = attributes.get("default"), attributes.get("oneof")
    if default and choices is not None and default not in choices.split(","):
        raise refuse(f"The default of the UDF tag {name} is not one of its choices")
