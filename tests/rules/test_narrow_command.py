"""`roost token narrow` and `roost token restrictions`, which ask no server."""

from click.testing import CliRunner, Result

from roost.cli import main
from roost.core.narrowing.chain import public_key, read

TOKEN = "ab" * 32


def ran(*arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(main, ["token", *arguments], input=given)


def test_narrowing_again() -> None:
    once = ran("narrow", '{"read_only": true}', given=f"{TOKEN}\n").output.strip()
    twice = ran("narrow", '{"tags": ["ci"]}', '{"label_prefix": "a"}', "--token", once).output
    assert read(twice.strip()).is_of(public_key(TOKEN))
    shown = ran("restrictions", given=twice)
    assert shown.output == '{"read_only":true}\n{"tags":["ci"]}\n{"label_prefix":"a"}\n'


def test_what_is_refused() -> None:
    for arguments, given, code, reason in (
        (("narrow", '{"moon": 1}'), TOKEN, 2, "moon is not known"),
        (("narrow", "{}"), TOKEN, 2, "a restriction must say something"),
        (("narrow", '{"read_only": true}'), "roost1.no", 2, "not a narrowed token"),
        (("narrow", '{"read_only": true}'), "", 2, "there is no token to narrow"),
        (("narrow",), TOKEN, 2, "Missing argument"),
        (("restrictions",), TOKEN, 1, "this is not a narrowed token"),
    ):
        result = ran(*arguments, given=given)
        assert (result.exit_code, reason in result.output) == (code, True), result.output
