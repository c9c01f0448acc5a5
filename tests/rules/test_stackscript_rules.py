"""What StackScripts ask whoever deploys them (reference: StackScript)."""

import pytest
from pydantic_core import PydanticCustomError

from roost.resources.stackscripts.records import UserDefinedField
from roost.resources.stackscripts.rules import check_script, find_fields

BANG = "#!/bin/bash\n"
SITE = '<UDF name="site" label="Name"/>'


@pytest.mark.parametrize(
    ("tags", "fields"),
    [
        ("", []),
        ("# nothing of the sort: <UDFx name=, <u, a < b", []),
        (f"# {SITE}", [{"name": "site", "label": "Name"}]),
        ("# <UDF name='site' label='Name'>", [{"name": "site", "label": "Name"}]),
        ("# <udf NAME = \"site\" LABEL= 'Name' />", [{"name": "site", "label": "Name"}]),
        ('# <UDF label="a &quot;b&quot; > c" name="x" />', [{"name": "x", "label": 'a "b" > c'}]),
        (
            '# <UDF name="a" label="A" oneof="x,y" default="y" example="x" />'
            ' <UDF name="B_2" label="B" manyof="1,2"/>',
            [
                {"name": "a", "label": "A", "default": "y", "example": "x", "oneOf": "x,y"},
                {"name": "B_2", "label": "B", "manyOf": "1,2"},
            ],
        ),
        ('# <UDF name="a" label="A" default="" />', [{"name": "a", "label": "A", "default": ""}]),
    ],
)
def test_fields(tags: str, fields: list[UserDefinedField]) -> None:
    assert find_fields(BANG + tags) == fields


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("", "Must begin with a shebang line"),
        ("echo\n#!/bin/sh", "Must begin with a shebang line"),
        (BANG + 'source <ssinclude StackScriptID="1">', "Line 2 includes another StackScript"),
        (BANG + "# <UDF name='a' label='A'", "The UDF tag on line 2 has no end"),
        (BANG + "# <UDF name='a\" label='A'>", "The UDF tag on line 2 has no end"),
        (BANG + "# <UDF name=a label='A'>", "The UDF tag on line 2 has no end"),
        (BANG + "# <UDF label='A'>", "Each UDF tag needs a name of up to 64"),
        (BANG + "# <UDF name='2' label='A'>", "Each UDF tag needs a name of up to 64"),
        (BANG + "# <UDF name='a;b' label='A'>", "Each UDF tag needs a name of up to 64"),
        (BANG + f"# <UDF name='{'a' * 65}' label='A'>", "Each UDF tag needs a name of up to 64"),
        (BANG + "# <UDF name='a'>", "The UDF tag a needs a label"),
        (BANG + "# <UDF name='a' label=''>", "The UDF tag a needs a label"),
        (BANG + "# <UDF name='a' label='A' size='2'>", "The UDF tag a cannot have size"),
        (BANG + f"# <UDF name='a' label='{'A' * 256}'>", "label of the UDF tag a is longer"),
        (BANG + f"# <UDF name='a' label='A' oneof='{'A' * 4097}'>", "oneof of the UDF tag a"),
        (BANG + "# <UDF name='a' label='A' oneof='x' manyof='y'>", "cannot have both oneof"),
        (BANG + "# <UDF name='a' label='A' oneof='x,y' default='z'>", "is not one of its choices"),
        (BANG + f"# {SITE}\n# {SITE.replace('site', 'SITE')}", "Two UDF tags have the name SITE"),
        (BANG + "".join(SITE.replace("site", f"s{n}") for n in range(101)), "at most 100 UDF tags"),
    ],
)
def test_scripts_that_are_refused(script: str, reason: str) -> None:
    with pytest.raises(PydanticCustomError, match=reason):
        check_script(script)
