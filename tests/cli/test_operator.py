"""An operator's day: instances, jobs, events and engines of all accounts on the command line."""

import asyncio
import json
import uuid
from collections.abc import Iterator

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner, Result

from roost.app.operator import events, jobs
from roost.app.state import open_store
from roost.cli import main
from roost.core.events.listing_queries import ListedEvent, Wanted
from roost.settings import Settings
from tests.cli.process import Json, Server, wait_until

COLOURED = "\x1b[31mred\u202e"


def invoke(server: Server, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--state", str(server.state)])


def told(server: Server, *arguments: str) -> str:
    done = invoke(server, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(server: Server, *arguments: str) -> Json:
    return json.loads(told(server, *arguments, "--json"))


def refused(server: Server, *arguments: str) -> str:
    done = invoke(server, *arguments)
    assert (done.exit_code, done.stdout) == (1, ""), done.output
    (said,) = done.stderr.splitlines()
    return said.removeprefix("Error: ")


async def query(server: Server, sql: str, *args: object) -> Json:
    async with open_store(Settings(state=server.state)) as store:
        return await store.fetchval(sql, *args)


def make_job(server: Server, kind: str, status: str, **more: object) -> int:
    """A job far in the future of the clock, so that no worker takes it meanwhile."""
    account = rows(server, "instance", "list")[0]["account_id"] if not more.pop("own", False) else 0
    row = {"attempt": 0, "error": None, "phase": "forward", "resource": None, "of": 1} | more
    sql = """
        insert into job (kind, args, step, resource, account_id, status, attempt, error, phase,
            run_at, deadline, created)
        values ($1, $2, $3, $4, nullif($5, 0), $6, $7, $8, $9, '2200-01-01',
            clock_timestamp() + interval '1 day', '2020-01-01')
        returning id
    """
    values = (row["resource"], account, status, row["attempt"], row["error"], row["phase"])
    args = json.dumps({"compute_id": row["of"]})
    job_id: int = asyncio.run(query(server, sql, kind, args, row.get("step", "boot"), *values))
    return job_id


@pytest.fixture(scope="module")
def compute_id(server: Server) -> int:
    return server.instance(label=f"night-{uuid.uuid4().hex[:8]}")


def test_instances_are_found(server: Server, compute_id: int) -> None:
    (row,) = [each for each in rows(server, "instance", "list") if each["id"] == compute_id]
    seen = server.send("GET", f"/compute/instances/{compute_id}")[1]
    for key in ("label", "region", "status", "ipv4", "type", "image", "ipv6"):
        assert row[key] == seen[key]
    assert row["host"] == "main"
    account = str(row["account_id"])
    for option, value, other in (
        ("--label", row["label"][:10].upper(), "no-such"),
        ("--region", "us-lake", "us-nowhere"),
        ("--status", "running", "resizing"),
        ("--account", account, "1"),
    ):
        assert compute_id in [
            each["id"] for each in rows(server, "instance", "list", option, value)
        ]
        assert rows(server, "instance", "list", option, other) == []
    table = told(server, "instance", "list", "--label", row["label"]).splitlines()
    assert table[0].split() == ["ID", "ACCOUNT", "ID", "LABEL", *table[0].split()[4:]]
    assert table[1].split()[:3] == [str(compute_id), account, row["label"]]


def test_long_lists_are_bounded(server: Server, compute_id: int) -> None:
    server.instance(label=f"night-{uuid.uuid4().hex[:8]}")
    done = invoke(server, "instance", "list", "--limit", "1")
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == "There are more than 1: raise --limit, or ask for less.\n"
    assert "action" in rows(server, "event", "tail", "--limit", "1"), "one object a line"


def test_an_instance_is_shown_with_its_guest(server: Server, compute_id: int) -> None:
    row = rows(server, "instance", "show", str(compute_id))
    assert row["guest"]["power"] == "running"
    assert row["guest"]["disks"] == [disk["id"] for disk in row["disks"]]
    assert {event["action"] for event in row["last_events"]} >= {"compute_create"}
    assert row["jobs"] == []
    text = told(server, "instance", "show", str(compute_id))
    assert "power running" in text
    assert "compute_create" in text
    assert refused(server, "instance", "show", "7") == "there is no instance 7"
    assert refused(server, "instance", "console", "7") == "there is no instance 7"
    assert isinstance(told(server, "instance", "console", str(compute_id)), str)


def test_what_users_write_does_not_command_the_terminal(server: Server, compute_id: int) -> None:
    before = asyncio.run(
        query(server, "select label from compute_instance where id = $1", compute_id)
    )
    name = "update compute_instance set label = $2 where id = $1"
    asyncio.run(query(server, name, compute_id, COLOURED))
    event = "update event set message = $2 where entity_id = $1"
    asyncio.run(query(server, event, str(compute_id), COLOURED))
    try:
        for words in (
            ("instance", "list"),
            ("instance", "show", str(compute_id)),
            ("event", "tail", "--limit", "1000"),
        ):
            text = told(server, *words)
            assert "\\x1b[31mred\\u202e" in text
            assert "\x1b" not in text + told(server, *words, "--json")
            assert "\u202e" not in text + told(server, *words, "--json")
    finally:
        asyncio.run(query(server, name, compute_id, before))


def test_jobs_are_listed_and_shown(server: Server, compute_id: int) -> None:
    name = f"compute:{compute_id}-shown"
    first = make_job(server, "compute_boot", "waiting", attempt=2, error="full", resource=name)
    second = make_job(server, "compute_boot", "queued", resource=name)
    listed = rows(server, "job", "list", "--resource", name)
    assert [(each["id"], each["waits_for"]) for each in listed] == [(second, first), (first, None)]
    (only,) = rows(server, "job", "list", "--resource", name, "--status", "waiting")
    assert (only["id"], only["error"], only["attempt"]) == (first, "full", 2)
    assert len(rows(server, "job", "list", "--resource", name, "--older", "10m")) == 2
    assert rows(server, "job", "list", "--resource", name, "--older", "9999d") == []
    assert rows(server, "job", "list", "--resource", name, "--kind", "volume_create") == []
    assert rows(server, "job", "list", "--resource", name, "--account", "1") == []
    shown = rows(server, "job", "show", str(first))
    assert shown["steps"]
    assert shown["attempts_at_most"] >= 1
    assert shown["next_attempt"] == "2200-01-01T00:00:00"
    assert f"waits for         {first}" in told(server, "job", "show", str(second))
    assert "full" in told(server, "job", "list", "--resource", name)
    for job_id in (first, second):
        asyncio.run(query(server, "delete from job where id = $1", job_id))


def test_a_job_is_tried_again_at_once(server: Server, compute_id: int) -> None:
    job_id = make_job(server, "compute_boot", "waiting", attempt=1, error="full", step="gone")
    assert told(server, "job", "retry", str(job_id)) == f"job {job_id} is tried now\n"

    def ended() -> bool:
        return rows(server, "job", "show", str(job_id))["finished"] is not None

    wait_until(ended)
    assert refused(server, "job", "retry", str(job_id)).startswith(f"job {job_id} has failed")


@pytest.mark.parametrize(
    ("status", "attempt", "message"),
    [
        ("queued", 0, "is queued and has not been tried yet"),
        ("waiting", 0, "waits, but not because it failed"),
        ("done", 0, "is done already"),
        ("cancelled", 0, "is canceled already"),
        ("failed", 0, "has failed, and what it did was undone: ask for the same thing again"),
    ],
)
def test_what_cannot_be_tried_again(
    server: Server, compute_id: int, status: str, attempt: int, message: str
) -> None:
    job_id = make_job(server, "compute_boot", status, attempt=attempt)
    assert refused(server, "job", "retry", str(job_id)) == f"job {job_id} {message}"
    asyncio.run(query(server, "delete from job where id = $1", job_id))


def test_a_queued_job_is_canceled_with_its_event(server: Server, compute_id: int) -> None:
    """Behind another one, which a worker will not take."""
    name = f"compute:{compute_id}"
    ahead = make_job(server, "compute_boot", "waiting", attempt=1, resource=name)
    status, _ = server.send("POST", f"/compute/instances/{compute_id}/reboot", {})
    assert status == 200
    (job,) = rows(server, "job", "list", "--resource", name, "--status", "queued")
    assert job["waits_for"] == ahead
    assert [each["id"] for each in rows(server, "instance", "show", str(compute_id))["jobs"]] == [
        ahead,
        job["id"],
    ]
    said = told(server, "job", "cancel", str(job["id"]))
    assert said == f"job {job['id']} is canceled\n"
    shown = rows(server, "job", "show", str(job["id"]))
    assert (shown["status"], shown["error"]) == ("cancelled", jobs.REASON)
    event = server.send("GET", f"/account/events/{job['event_id']}")[1]
    assert (event["status"], event["message"]) == ("failed", jobs.REASON)
    again = refused(server, "job", "cancel", str(job["id"]))
    assert again == f"job {job['id']} is canceled already"
    asyncio.run(query(server, "delete from job where id = $1", ahead))
    wait_until(lambda: server.status(compute_id) in ("running", "offline"))


def test_a_waiting_job_is_stopped_by_a_worker(server: Server) -> None:
    own = server.instance(label=f"night-{uuid.uuid4().hex[:8]}")
    job_id = make_job(server, "compute_boot", "waiting", attempt=1, error="full", of=own)
    said = told(server, "job", "cancel", str(job_id))
    assert said == f"job {job_id} is being stopped and undone\n"
    wait_until(lambda: rows(server, "job", "show", str(job_id))["status"] == "cancelled")


def test_what_cannot_be_canceled(server: Server, compute_id: int) -> None:
    assert refused(server, "job", "cancel", "7") == "there is no job 7"
    assert refused(server, "job", "retry", "7") == "there is no job 7"
    assert refused(server, "job", "show", "7") == "there is no job 7"
    for kind, own, message in (
        ("compute_boot", True, "(compute_boot) is Roost's own, and belongs to no account"),
        ("firewall_apply", False, "cannot be canceled: nothing undoes a firewall_apply"),
        ("of_old", False, "is of the kind of_old, which this release does not know"),
    ):
        job_id = make_job(server, kind, "queued", own=own)
        assert refused(server, "job", "cancel", str(job_id)) == f"job {job_id} {message}"
        assert rows(server, "job", "show", str(job_id))["status"] == "queued"
        asyncio.run(query(server, "delete from job where id = $1", job_id))


def test_events_are_found_by_who_and_what(server: Server, compute_id: int) -> None:
    event = rows(server, "event", "tail", "--resource", f"compute:{compute_id}", "--limit", "1")
    assert (event["entity_id"], event["username"]) == (str(compute_id), "admin")
    for words in (("--user", "nobody"), ("--resource", "compute:7"), ("--resource", "volume:7")):
        assert told(server, "event", "tail", *words).strip() == ""
    lines = told(server, "event", "tail", "--user", "admin", "--since", "1d").splitlines()
    assert lines
    assert all(" admin " in line for line in lines)


def test_what_all_accounts_have_is_listed(server: Server, compute_id: int) -> None:
    """By each filter; one is shown with what is done with it."""
    body = {"label": f"night-{uuid.uuid4().hex[:8]}", "size": 20, "region": "us-lake"}
    volume = server.send("POST", "/volumes", body)[1]
    zone = f"night-{uuid.uuid4().hex[:8]}.example.org"
    body = {"domain": zone, "type": "master", "soa_email": "me@example.org"}
    domain = server.send("POST", "/domains", body)[1]
    body = {"label": f"night-{uuid.uuid4().hex[:8]}", "region": "us-lake"}
    balancer = server.send("POST", "/nodebalancers", body)[1]
    for kind, found, action in (
        ("volume", volume, "volume_create"),
        ("nodebalancer", balancer, "nodebalancer_create"),
        ("domain", domain, "dns_zone_create"),
    ):
        (row,) = [each for each in rows(server, kind, "list") if each["id"] == found["id"]]
        name = "domain" if kind == "domain" else "label"
        assert row[name] == found[name]
        part = found[name][3:].upper()
        assert [each["id"] for each in rows(server, kind, "list", f"--{name}", part)] == [
            found["id"]
        ]
        assert rows(server, kind, "list", "--account", "1") == []
        shown = rows(server, kind, "show", str(found["id"]))
        assert {event["action"] for event in shown["last_events"]} == {action}
        assert refused(server, kind, "show", "7") == f"there is no {kind} 7"
    assert rows(server, "volume", "list", "--host", "main", "--label", volume["label"])
    assert rows(server, "volume", "list", "--host", "attic") == []
    for kind in ("database", "bucket"):
        assert rows(server, kind, "list", "--region", "us-lake") == []
        assert rows(server, kind, "list", "--label", "'; drop table volume; --") == []
        assert refused(server, kind, "show", "7") == f"there is no {kind} 7"


def test_who_uses_most(server: Server, compute_id: int) -> None:
    instances = rows(server, "instance", "list", "--limit", "1000")
    account = rows(server, "instance", "show", str(compute_id))["account_id"]
    volumes = rows(server, "volume", "list", "--account", str(account))
    own = [each for each in instances if each["account_id"] == account]
    for by in ("vcpus", "memory", "instances", "disk", "volumes", "objects", "sent", "owed"):
        listed = rows(server, "account", "top", "--by", by)
        amounts = [float(row[by]) for row in listed]
        assert amounts == sorted(amounts, reverse=True)
        (row,) = [each for each in listed if each["account_id"] == account]
        assert row["instances"] == len(own)
        assert row["vcpus"] == sum(each["vcpus"] for each in own)
        assert row["volumes"] == sum(each["size"] for each in volumes)


def test_schedules_do_not_hide_other_jobs(server: Server, compute_id: int) -> None:
    listed = rows(server, "job", "list", "--limit", "1000")
    assert any(job["resource"] == f"compute:{compute_id}" for job in listed)
    every_minute = "compute_capacity"
    kinds = {job["kind"] for job in rows(server, "job", "list", "--scheduled", "--limit", "1000")}
    assert every_minute in kinds
    assert every_minute not in {job["kind"] for job in listed}
    assert rows(server, "job", "list", "--kind", every_minute)


def test_events_are_followed(server: Server, compute_id: int) -> None:
    async def follow(label: str) -> list[str]:
        """The statuses of a new instance's first event, as they come."""
        found: list[str] = []
        async with asyncio.timeout(60), open_store(Settings(state=server.state)) as store:
            following = events.tail(store, Wanted(), 1, follow=True)
            await anext(following)
            making = asyncio.create_task(asyncio.to_thread(server.instance, label=label))
            async for event in following:
                if is_creation(event, label):
                    found.append(event.status)
                    if event.status == "finished":
                        break
            await making
        return found

    def is_creation(event: ListedEvent, label: str) -> bool:
        return (event.action, event.label) == ("compute_create", label)

    found = asyncio.run(follow(f"night-{uuid.uuid4().hex[:8]}"))
    assert found[-1] == "finished"
    assert len(found) == len(set(found)), "each status once"


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (("account", "list"), {"id", "parent_id", "users", "suspended", "email"}),
        (("account", "limit", "show", "{account}"), {"limit", "used", "allowed", "set_by"}),
        (("account", "credit", "list", "{account}"), {"id", "usd", "reason", "created"}),
        (("account", "canceled"), {"id", "canceled", "balance", "has", "comments"}),
        (("token", "list"), {"id", "username", "prefix", "scopes", "expiry"}),
        (("oauth-client", "list"), {"id", "status", "redirect_uri"}),
        (("maintenance", "list"), {"id", "compute_id", "type", "when", "status"}),
        (("ticket", "list", "--closed"), {"id", "status", "summary", "assignee"}),
        (("promo", "list"), {"code", "credit", "monthly_cap", "redeemed"}),
        (("image", "list"), {"id", "boot", "setup", "virtual_size"}),
    ],
)
def test_lists_for_scripts(server: Server, words: tuple[str, ...], keys: set[str]) -> None:
    first = rows(server, "account", "list")[0]
    found = rows(server, *(word.format(account=first["id"]) for word in words))
    assert isinstance(found, list)
    assert all(keys <= row.keys() for row in found)
    assert not any("hash" in key or "secret" in key for row in found for key in row)


def test_engines_are_listed(server: Server, compute_id: int) -> None:
    listed = rows(server, "engine", "list")
    lake = {row["plane"]: row for row in listed if row["region"] == "us-lake"}
    guests = lake["instances"]
    assert (guests["kind"], guests["healthy"], guests["in_use"]) == ("simulated", True, True)
    assert told(server, "engine", "list").split()[:4] == ["REGION", "PLANE", "ENGINE", "KIND"]


@pytest.mark.parametrize(
    ("shell", "sign"),
    [("zsh", "compdef"), ("fish", "complete --no-files"), ("bash", "complete -o nosort")],
)
def test_completion(shell: str, sign: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert sign in done.stdout
    assert "_ROOST_COMPLETE" in done.stdout


def test_completion_knows_commands_and_values() -> None:
    complete = BashComplete(main, {}, "roost", "_ROOST_COMPLETE")
    assert [each.value for each in complete.get_completions([], "ins")] == ["instance"]
    assert {"list", "show", "retry", "cancel"} == {
        each.value for each in complete.get_completions(["job"], "")
    }
    statuses = complete.get_completions(["job", "list", "--status"], "wait")
    assert [each.value for each in statuses] == ["waiting"]


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize("words", [(), *commands(main)], ids=" ".join)
def test_what_is_written_wrongly_is_told_in_one_line(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, [*words, "--no-such-option"])
    assert (done.exit_code, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("Error: No such option '--no-such-option'.")


@pytest.mark.parametrize(
    "words",
    [
        ("no-such",),
        ("job", "no-such"),
        ("top", "--interval", "0"),
        ("instance", "show"),
        ("instance", "show", "one"),
        ("instance", "show", str(2**63)),
        ("instance", "list", "--status", "sleeping"),
        ("instance", "list", "--limit", "0"),
        ("instance", "list", "--limit", "10001"),
        ("instance", "console", "1", "--bytes", "0"),
        ("job", "show", "0"),
        ("job", "cancel", "-1"),
        ("job", "retry", "1", "2"),
        ("job", "list", "--older", "10"),
        ("job", "list", "--older", "1000000d"),
        ("job", "list", "--status", "canceled"),
        ("event", "tail", "--account", "x"),
        ("event", "tail", "--status", "x"),
        ("engine", "list", "--engines", "x"),
        ("completion", "powershell"),
        ("account", "limit", "show", str(2**63)),
        ("account", "parent", "0", "1"),
        ("maintenance", "cancel", str(2**63)),
        ("token", "revoke", str(2**63)),
    ],
    ids=" ".join,
)
def test_wrong_input(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.stdout) == (2, "")
    (said,) = done.stderr.splitlines()
    assert said.startswith("Error: ")


def test_hosts(server: Server) -> None:
    wait_until(lambda: "us-lake" in rows(server, "host", "list")[0]["regions"])
    (row,) = rows(server, "host", "list")
    assert (row["name"], row["state"], row["alive"]) == ("main", "up", True)
    assert told(server, "host", "list").startswith("NAME")
    held = rows(server, "host", "show", "main")["held"]
    assert {each["id"] for each in held} == {
        each["id"] for each in rows(server, "instance", "list")
    }
    assert refused(server, "host", "show", "attic") == "there is no host attic"
    assert refused(server, "host", "drain", "attic") == "there is no host attic"
    assert refused(server, "host", "forget", "main") == "the main host stays"
    for command, words in (
        (("fence", "main", "--off"), "the main host cannot be fenced: the server is on it"),
        (("fence", "attic", "--off"), "there is no host attic"),
        (("take-over", "attic", "--host", "main"), "there is no host attic"),
        (
            ("take-over", "main", "--host", "attic"),
            "host main is not fenced: its guests may run there",
        ),
    ):
        assert refused(server, "host", *command) == words
    assert refused(server, "instance", "migrate", "999999999") == "there is no instance 999999999"
    told(server, "host", "drain", "main", "--stay")
    assert rows(server, "host", "list")[0]["state"] == "draining"
    assert told(server, "host", "undrain", "main") == "host main is up\n"
