"""The tenants' command line, without a server: what it makes of words, and what it writes down."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from roost.app.groups import GROUPS
from roost.commands import Command, command_of, find_command, names
from roost.commands.written import Value, as_command, as_curl, fill, hidden
from roost.ctl import profiles
from roost.ctl.command import GENERAL, make, parameter
from roost.ctl.errors import CommandError
from roost.ctl.filters import build_filter
from roost.ctl.main import main
from roost.ctl.profiles import Profile, checked_url
from roost.ctl.show import show_record, show_rows
from roost.ctl.values import read_body
from roost.web.registry import Registry

ENDPOINTS = tuple(Registry(GROUPS.endpoints))
TOKEN = "3f" * 32


def examples() -> Iterator[tuple[str, Mapping[str, Value]]]:
    """The bodies that the documentation shows of each operation."""
    for each in ENDPOINTS:
        config = {} if each.body is None else each.body.model_config
        more = config.get("json_schema_extra")
        if isinstance(more, dict):
            found = more.get("examples", [])
            assert isinstance(found, list)
            yield from ((each.name, body) for body in found if isinstance(body, dict))


def command(name: str) -> Command:
    found = find_command(name)
    assert found is not None
    return found


def body_of(of: Command, words: Sequence[str]) -> Mapping[str, Value]:
    """The body that a command line sends."""
    bodies: list[Mapping[str, Value]] = []

    def perform(_: Command, given: dict[str, object]) -> None:
        fields = {option.name: given[parameter(option.name)] for option in of.options}
        whole = given["body"]
        bodies.append(read_body(of.options, fields, whole if isinstance(whole, str) else None))

    make(of, perform).main(list(words), standalone_mode=False)
    return bodies[0]


def wrong(of: Command, *words: str) -> str:
    with pytest.raises(click.UsageError) as refused:
        body_of(of, words)
    return refused.value.format_message()


def test_what_the_console_writes_is_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example of the documentation, by a shell's own reading of the text."""
    monkeypatch.setattr("roost.ctl.values.ask_secret", lambda _flag: "…")
    tried = 0
    for name, body in examples():
        of = command_of(name)
        text = as_command(of, ["7"] * len(of.arguments), body)
        done = subprocess.run(
            ["bash", "-c", f"roostctl() {{ printf '%s\\0' \"$@\"; }}; {text}"],
            capture_output=True,
            check=True,
        )
        words = done.stdout.decode().split("\0")[:-1]
        assert words[:2] == of.name.split()
        assert body_of(of, words[2:]) == hidden("", body), text
        tried += 1
    assert tried > 50


def test_all_commands_can_be_made() -> None:
    for each in ENDPOINTS:
        of = command_of(each.name)
        made = make(of, lambda _command, _given: None)
        flags = [flag for p in made.params if isinstance(p, click.Option) for flag in p.opts]
        assert len(flags) == len(set(flags)), of.name
        fields = {option.name for option in of.options} | set(of.query)
        assert not fields & GENERAL, of.name
        assert made.get_short_help_str()


def test_groups_list_what_they_have() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    assert all(f"  {group} " in shown for group, own in names().items() if own)
    shown = CliRunner().invoke(main, ["instances", "--help"]).output
    assert "  create " in shown
    assert "Create a compute instance." in shown
    assert CliRunner().invoke(main, ["instance"]).exit_code == 2


def test_values() -> None:
    create = command("instances create")
    given = ("--region", "us-lake", "--type", "g1-nano-1")
    assert body_of(create, given) == {"region": "us-lake", "type": "g1-nano-1"}
    more = ("--tags", "web", "--tags", "db", "--booted", "false", "--firewall-id", "null")
    found = body_of(create, (*given, *more, "--swap_size", "12", "--metadata.user-data", "eA=="))
    assert found["tags"] == ["web", "db"]
    assert (found["booted"], found["firewall_id"], found["swap_size"]) == (False, None, 12)
    assert found["metadata"] == {"user_data": "eA=="}
    assert body_of(create, (*given, "--tags", "[]"))["tags"] == []
    whole = json.dumps({"region": "br-south", "type": "x", "group": "g"})
    assert body_of(create, ("--body", whole, "--type", "y")) == {
        "region": "br-south",
        "type": "y",
        "group": "g",
    }


def test_wrong_values_name_the_option(tmp_path: Path) -> None:
    create = command("instances create")
    needed = ("--region", "a", "--type", "b")
    assert wrong(create, "--region", "a") == "Missing option --type."
    assert wrong(create, *needed, "--swap-size", "much").startswith("--swap-size must be a whole")
    assert wrong(create, *needed, "--booted", "perhaps") == "--booted must be true or false."
    assert wrong(create, *needed, "--interfaces", "{") == "--interfaces must be JSON."
    assert "cannot be read" in wrong(create, *needed, "--label", f"@{tmp_path}/none")
    assert wrong(create, "--body", "[]").startswith("--body must be a JSON object")
    large = tmp_path / "large"
    large.write_bytes(b"x" * (1 << 20) + b"x")
    assert "more than 1048576 bytes" in wrong(create, *needed, "--label", f"@{large}")


def test_secrets_come_from_files_or_are_asked_for(tmp_path: Path) -> None:
    create = command("instances create")
    needed = ("--region", "a", "--type", "b")
    told = wrong(create, *needed, "--root-pass", "hush-hush")
    assert "--root-pass" in told
    assert "hush" not in told
    file = tmp_path / "password"
    file.write_text("hush-hush\n")
    assert body_of(create, (*needed, "--root-pass", f"@{file}"))["root_pass"] == "hush-hush"


def test_files_are_values(tmp_path: Path) -> None:
    key = tmp_path / "id.pub"
    key.write_text("ssh-ed25519 AAAA me\n")
    add = command("ssh-keys add")
    found = body_of(add, ("--label", "@@home", "--ssh-key", f"@{key}"))
    assert found == {"label": "@home", "ssh_key": "ssh-ed25519 AAAA me"}


@pytest.mark.parametrize(
    ("terms", "wanted"),
    [
        (["label=web"], {"label": "web"}),
        (["label~web"], {"label": {"+contains": "web"}}),
        (["id>=7"], {"id": {"+gte": 7}}),
        (["label=7"], {"label": "7"}),
        (["label~7", "tags=true"], {"+and": [{"label": {"+contains": "7"}}, {"tags": "true"}]}),
        (["label!=null"], {"label": {"+neq": None}}),
        (['{"label": "x=y"}'], {"label": "x=y"}),
        (["label=a", "region=b"], {"+and": [{"label": "a"}, {"region": "b"}]}),
    ],
)
def test_filters(terms: Sequence[str], wanted: object) -> None:
    found = build_filter(command("instances list"), terms, None, False)
    assert json.loads(found or "") == wanted


def test_filters_that_cannot_be() -> None:
    instances = command("instances list")
    assert build_filter(instances, [], None, False) is None
    for terms in (["nothing=7"], ["label"], ["{"]):
        with pytest.raises(click.UsageError):
            build_filter(instances, terms, None, False)
    with pytest.raises(click.UsageError, match="order-by"):
        build_filter(instances, [], None, True)


def test_curl_shows_no_secrets() -> None:
    body: dict[str, Value] = {"label": "x", "configs": [{"port": 443, "ssl_key": "hush"}]}
    text = as_curl("POST", "https://roost.example/v4/x", body, {})
    assert "hush" not in text
    assert '"Authorization: Bearer $ROOST_TOKEN"' in text
    assert "-X" not in text
    assert "-X DELETE" in as_curl("DELETE", "https://roost.example/v4/x", None, {})


def test_paths_hold_what_is_said() -> None:
    image = command("images view")
    assert fill(image, image.path, {"imageId": "private/7"}) == "/v4/images/private/7"
    user = command("users view")
    assert fill(user, user.path, {"username": "../x?y"}) == "/v4/account/users/..%2Fx%3Fy"


def test_a_table_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    rows: list[dict[str, Value]] = [
        {"id": 7, "label": "a\x1b[2J", "tags": [], "region": "us-lake", "note": "n" * 40}
    ]
    columns = ("id", "label", "tags", "region", "note")
    show_rows(rows, columns, None)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["ID", "LABEL"],
        ["7", "a\\x1b[2J"],
    ]
    show_rows(rows, columns, ["note", "tags"])
    assert capsys.readouterr().out.splitlines()[1] == f"{'n' * 40}  -"


def test_records_have_dots_in_nested_names(capsys: pytest.CaptureFixture[str]) -> None:
    show_record({"id": 7, "backups": {"schedule": {"day": None}}})
    assert capsys.readouterr().out.splitlines() == [
        "id                    7",
        "backups.schedule.day  -",
    ]


@pytest.fixture
def own_profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("ROOST_URL", "ROOST_TOKEN", "ROOST_CA", "ROOST_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "roost"


def test_profiles_are_kept_for_their_owner(own_profiles: Path) -> None:
    profiles.keep("home", Profile("https://roost.example", TOKEN))
    assert TOKEN not in repr(profiles.choose(None))
    file = own_profiles / "profiles.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(own_profiles.stat().st_mode) == 0o700
    assert profiles.choose("home").token == TOKEN
    file.chmod(0o640)
    with pytest.raises(CommandError, match="others may read"):
        profiles.choose("home")
    file.chmod(0o600)
    file.write_text("{}")
    with pytest.raises(CommandError, match="damaged"):
        profiles.choose("home")
    file.unlink()
    file.mkdir()
    with pytest.raises(CommandError, match="cannot be read"):
        profiles.choose("home")


def test_somebody_without_a_place_for_profiles(
    own_profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_profiles.write_text("")
    with pytest.raises(CommandError, match="cannot be"):
        profiles.keep("home", Profile("https://roost.example", TOKEN))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "expanduser", _homeless)
    with pytest.raises(CommandError, match="HOME"):
        profiles.read()


def _homeless(path: Path) -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_what_a_terminal_has_no_characters_for() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    program = "from roost.ctl.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], env=environment, stdout=-1, timeout=60
    )
    assert (done.returncode, b"\\u2026" in done.stdout) == (0, True)


def test_errors_cannot_command_the_terminal() -> None:
    assert CommandError("the server says \x1b[2J").message == "the server says \\x1b[2J"


def test_a_token_goes_to_no_other_server(
    own_profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles.keep("home", Profile("https://roost.example", TOKEN))
    monkeypatch.setenv("ROOST_URL", "https://other.example")
    with pytest.raises(CommandError, match="another server"):
        profiles.choose(None)
    assert profiles.choose("home").url == "https://roost.example"
    monkeypatch.setenv("ROOST_TOKEN", "other")
    assert profiles.choose(None) == Profile("https://other.example", "other")


def test_profiles_come_and_go(own_profiles: Path) -> None:
    for name in ("home", "work"):
        profiles.keep(name, Profile(f"https://{name}.example", TOKEN))
    assert profiles.read().current == "work"
    assert CliRunner().invoke(main, ["auth", "use", "home"]).exit_code == 0
    shown = CliRunner().invoke(main, ["auth", "list"]).output
    assert "*  home     https://home.example" in shown
    assert TOKEN not in shown
    profiles.drop("home")
    assert profiles.read().current == "work"
    assert CliRunner().invoke(main, ["auth", "use", "home"]).exit_code == 3


@pytest.mark.parametrize(
    "text",
    [
        *("roost.example", "ftp://x", "https://", "https://u:p@x", "https://x?y"),
        *("http://x:99999", "http://a..b", "http://x/\u00fc"),
    ],
)
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(CommandError, match="must be like"):
        checked_url(text)


def test_addresses() -> None:
    assert checked_url("https://roost.example/v4/") == "https://roost.example"
    assert checked_url("http://127.0.0.1:8080") == "http://127.0.0.1:8080"


def test_a_command_imports_neither_the_server_nor_what_it_does_not_need() -> None:
    program = """
import sys
from click.testing import CliRunner
from roost.ctl.main import main
assert CliRunner().invoke(main, ["instances", "create", "--help"]).exit_code == 0
heavy = {"asyncio", "pydantic", "roost.web", "roost.settings", "roost.ctl.browser"}
later = {"http.client", "ssl", "roost.ctl.call"}
assert not (heavy | later) & set(sys.modules), (heavy | later) & set(sys.modules)
assert CliRunner().invoke(main, ["instances", "list", "--curl"]).exit_code == 0
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    environment = {**os.environ, "ROOST_URL": "http://127.0.0.1:1", "ROOST_TOKEN": "x"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(shell: str) -> None:
    assert "_ROOSTCTL_COMPLETE" in CliRunner().invoke(main, ["completion", shell]).output
    asked = {
        "_ROOSTCTL_COMPLETE": "bash_complete",
        "COMP_WORDS": "roostctl volumes re",
        "COMP_CWORD": "2",
    }
    done = CliRunner().invoke(main, [], prog_name="roostctl", env=asked)
    assert done.output == "plain,resize\n"


def test_ctrl_c_ends_it_as_it_ends_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("roost.ctl.call.perform", interrupted)
    assert CliRunner().invoke(main, ["regions", "list"]).exit_code == 130
