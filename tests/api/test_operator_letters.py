"""What operators are told of: once when it begins, and once when it has ended."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from roost.app.letters import LetterSettingsError, bind_letters, letters_of
from roost.app.roost import Roost
from roost.app.secret_files import SecretFileError
from roost.core.conditions import Condition, Found
from roost.core.engine import Folder, Health, Host
from roost.engines.simulated.domains import SimulatedDomains
from roost.engines.webhook.sender import sign
from roost.ids import new_uuid
from roost.jobs.kinds import JobArgs
from roost.resources.account.queries import create_account
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.conditions import conditions as of_hosts
from roost.resources.conditions import jobs, queries
from roost.resources.conditions.jobs import EVERY_MINUTE, WATCH
from roost.settings import Settings
from tests.support.certificates import certificate_for
from tests.support.client import until
from tests.support.invoices import owed
from tests.support.mail import OPERATOR, SENDER, MailServer, mail_server
from tests.support.server import running_roost, simulated
from tests.support.stage import Stage
from tests.support.webhooks import SECRET, WebhookServer, webhook_server


@pytest.fixture
async def hook() -> AsyncIterator[WebhookServer]:
    async with webhook_server() as hook:
        yield hook


@pytest.fixture
async def mails() -> AsyncIterator[MailServer]:
    async with mail_server() as mails:
        yield mails


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "webhook.secret"
    path.write_bytes(SECRET + b"\n")
    return path


@pytest.fixture
def settings(tmp_path: Path, database_url: str, hook: WebhookServer, secret: Path) -> Settings:
    return simulated(
        tmp_path / "state",
        database_url,
        operator_webhook=hook.url,
        operator_webhook_secret_file=secret,
    )


async def look(roost: Roost) -> None:
    """As the schedule does each minute, when it is not looking."""
    resource = f"schedule:{EVERY_MINUTE.name}"
    job = await roost.queue.enqueue(roost.store, WATCH, JobArgs(), resource=resource)

    async def ended() -> str:
        return str(await roost.store.fetchval("select status from job where id = $1", job.id))

    assert await until(ended, lambda status: status in ("done", "failed")) == "done"


async def told(hook: WebhookServer, kind: str, count: int) -> list[tuple[str, str]]:
    async def found() -> list[tuple[str, str]]:
        return hook.of(kind)

    return await until(found, lambda rows: len(rows) >= count)


async def all_told(roost: Roost) -> None:
    """No letter is on its way."""
    sql = "select count(*) from job where kind = 'operator_letter' and finished is null"
    await until(lambda: roost.store.fetchval(sql), lambda count: count == 0)


@asynccontextmanager
async def failing_dns(patch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    async def fail(engine: SimulatedDomains) -> Health:
        return Health(False, "The name server does not answer")

    with patch.context() as within:
        within.setattr(SimulatedDomains, "health", fail)
        yield


async def test_one_letter_for_the_beginning_and_one_for_the_end(
    settings: Settings, hook: WebhookServer, monkeypatch: pytest.MonkeyPatch, mails: MailServer
) -> None:
    more = {
        "smtp_url": f"smtp://127.0.0.1:{mails.port}",
        "mail_from": SENDER,
        "operator_address": OPERATOR,
    }
    monkeypatch.setattr(of_hosts, "_PATIENCE", timedelta())
    everything = Settings.model_validate({**settings.model_dump(by_alias=True), **more})
    async with running_roost(everything) as running:
        async with failing_dns(monkeypatch):
            for _ in range(3):
                await look(running.roost)
        await told(hook, "engine_down", 1)
        await look(running.roost)
        await look(running.roost)
        assert await told(hook, "engine_down", 2) == [("began", "all/dns"), ("ended", "all/dns")]
        await all_told(running.roost)
    began, ended = hook.messages
    assert began["text"] == "dns of all cannot serve: The name server does not answer"
    assert (began["severity"], began["ended"]) == ("critical", None)
    assert ended["ended"] >= began["began"]
    first, second = mails.to(OPERATOR)
    assert first["Subject"] == "[Roost] critical: engine_down all/dns"
    assert second["Subject"] == "[Roost] ended: engine_down all/dns"
    assert second["In-Reply-To"] == first["Message-ID"] != second["Message-ID"]
    assert began["text"] in first.get_content()


async def test_what_ends_soon_is_not_told(
    settings: Settings, hook: WebhookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_roost(settings) as running:
        async with failing_dns(monkeypatch):
            await look(running.roost)
        await look(running.roost)
        store = running.roost.store
        assert await store.fetchval("select count(*) from operator_condition") == 1
        await all_told(running.roost)
    assert hook.messages == []


async def test_disks_jobs_certificates_and_payments(
    settings: Settings, hook: WebhookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = {"local": 1, "us-lake": 15, "br-south": 500}

    async def host(region: str) -> Host:
        return Host((Folder("/srv", free[region] << 30, 1000 << 30),), 1, 2)

    async with running_roost(settings) as running:
        roost = running.roost
        for region, engine in roost.engines.by_region(INSTANCE_PLANE).items():
            monkeypatch.setattr(engine, "host", partial(host, region))
        hostname = await expired_certificate(roost)
        debtor = await overdue_account(roost)
        await failed_job(roost)
        await look(roost)
        await told(hook, "payment_overdue", 1)
        await all_told(roost)
        assert hook.of("disk_full") == [("began", "local:/srv")]
        assert sorted(hook.of("disk_low")) == [
            ("began", "local:/srv"),
            ("began", "us-lake:/srv"),
        ]
        assert hook.of("jobs_failed") == [("began", "compute_boot")]
        assert hook.of("certificate_expired") == [("began", hostname)]
        assert hook.of("payment_overdue") == [("began", f"account {debtor}")]
        free["local"] = 15
        await roost.store.execute("update account set balance = 0")
        await roost.store.execute("delete from object_certificate")
        await roost.store.execute("delete from job where status = 'failed'")
        await look(roost)
        for kind in ("disk_full", "jobs_failed", "certificate_expired", "payment_overdue"):
            assert [event for event, _ in await told(hook, kind, 2)] == ["began", "ended"]
        await all_told(roost)
    assert len(hook.of("disk_low")) == 2


async def failed_job(roost: Roost) -> None:
    await roost.store.execute(
        """
        insert into job (kind, args, step, status, run_at, deadline, created, finished)
        values ('compute_boot', '{}', 'start', 'failed', $1, now(), $1, $1)
        """,
        roost.clock.seconds(),
    )


async def overdue_account(roost: Roost) -> int:
    """It owes an old invoice; another account owes a new one."""
    accounts = list[int]()
    for days in (15, 13):
        now = roost.clock.seconds()
        account_id = await create_account(roost.store, new_uuid(), now)
        await owed(roost.store, account_id, Decimal(5), now - timedelta(days=days))
        accounts.append(account_id)
    return accounts[0]


async def expired_certificate(roost: Roost) -> str:
    """Of a bucket; another one's is still good."""
    hostnames = ("old.example.com", "new.example.com")
    for hostname, days in zip(hostnames, ((-9, -1), (-9, 9)), strict=True):
        bucket_id = await roost.store.fetchval(BUCKET, hostname, roost.clock.seconds())
        made = certificate_for(hostname, days=days)
        await roost.store.execute(
            """
            insert into object_certificate (bucket_id, certificate, private_key, created)
            values ($1, $2, '', $3)
            """,
            bucket_id,
            made.pem,
            roost.clock.seconds(),
        )
    return hostnames[0]


HURRY = "update job set run_at = '-infinity' where kind = 'operator_letter'"
BUCKET = """
insert into object_bucket (account_id, cluster, region, label, hostname, created, engine, acl,
    cors_enabled)
select min(id), 'us-lake-1', 'us-lake', $1, $1, $2, 'simulated', 'private', false
from account returning id
"""


async def test_a_host_that_is_not_seen(
    settings: Settings, hook: WebhookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one that has nothing nobody needs to know."""
    monkeypatch.setattr(of_hosts, "_PATIENCE", timedelta())
    long_ago = "insert into host (name, seen) values ($1, clock_timestamp() - interval '1 hour')"
    async with running_roost(settings) as running:
        store = running.roost.store
        compute_id = await Stage(running.roost).instance("offline")
        for name in ("rack2", "rack3"):
            await store.execute(long_ago, name)
        await store.execute("update compute_instance set host = 'rack2' where id = $1", compute_id)
        await look(running.roost)
        await told(hook, "host_silent", 1)
        await store.execute("update host set seen = clock_timestamp() where name = 'rack2'")
        await look(running.roost)
        found = await told(hook, "host_silent", 2)
        await all_told(running.roost)
    assert found == [("began", "rack2"), ("ended", "rack2")]
    text = next(each["text"] for each in hook.messages if each["kind"] == "host_silent")
    assert "It has 1 x instance, on which nobody works now." in text


async def test_a_webhook_that_fails_is_tried_again_and_followed_nowhere(
    settings: Settings, hook: WebhookServer
) -> None:
    """Nothing that is logged or kept has the URL or the secret in it."""
    hook.statuses = [500, 302, 404, 200]
    with capture_logs() as logs:
        async with running_roost(settings) as running:
            await failed_job(running.roost)
            await look(running.roost)

            async def hurry() -> int:
                await running.roost.store.execute(HURRY)
                return len(hook.messages)

            await until(hurry, lambda count: count == 1)
            await all_told(running.roost)
            rows = await running.roost.store.fetch("select row_to_json(job) as job from job")
    assert (hook.refused, hook.elsewhere, len(hook.messages)) == (3, 0, 1)
    kept = json.dumps([dict(row) for row in rows]) + repr(logs)
    assert "the webhook answered 302" in kept
    assert "hook-4711" not in kept
    assert SECRET.decode() not in kept


async def test_no_more_letters_than_there_is_room_for(
    settings: Settings, hook: WebhookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is told when there is room again."""
    monkeypatch.setattr(jobs, "MOST_LETTERS", 3)
    hook.statuses = [503] * 1000
    sql = "select count(*) from job where kind = 'operator_letter'"
    async with running_roost(settings) as running:
        store, now = running.roost.store, running.roost.clock.seconds()
        many = tuple(Condition("test", f"{n}", "warning", "It is so.") for n in range(8))
        await queries.note(store, Found(many, ("test",)), now)
        for _ in range(2):
            await look(running.roost)
        assert await store.fetchval(sql) == 3
        told_of = "select count(*) from operator_condition where told is not null"
        assert await store.fetchval(told_of) == 3
        hook.statuses.clear()

        async def hurry() -> int:
            await store.execute(HURRY)
            await look(running.roost)
            return len(hook.messages)

        await until(hurry, lambda count: count == len(many))
        await all_told(running.roost)


async def test_without_anybody_to_tell_it_is_only_noted(tmp_path: Path, database_url: str) -> None:
    async with running_roost(simulated(tmp_path, database_url)) as running:
        await failed_job(running.roost)
        await look(running.roost)
        count = await queries.count_open(running.roost.store)
        letters = "select count(*) from job where kind = 'operator_letter'"
        assert await running.roost.store.fetchval(letters) == 0
    assert count == {"jobs_failed": 1}


async def test_a_watch_that_fails_ends_nothing(
    settings: Settings, hook: WebhookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*arguments: object) -> dict[str, int]:
        raise OSError("no such thing")

    async with running_roost(settings) as running:
        await failed_job(running.roost)
        await look(running.roost)
        with monkeypatch.context() as within:
            within.setattr(of_hosts, "count_failed", fail)
            await look(running.roost)
            assert (await queries.count_open(running.roost.store))["jobs_failed"] == 1
        await all_told(running.roost)
    assert hook.of("jobs_failed") == [("began", "compute_boot")]


def test_the_signature_is_what_others_compute() -> None:
    """RFC 4231, test case 2."""
    assert sign(b"Jefe", b"what do ya want for nothing?") == (
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (lambda _: {"operator_webhook": "ftp://hook-4711"}, "ROOST_OPERATOR_WEBHOOK must be"),
        (lambda _: {"operator_webhook": "http://[hook-4711"}, "ROOST_OPERATOR_WEBHOOK must be"),
        (lambda _: {"operator_webhook_secret_file": None}, "ROOST_OPERATOR_WEBHOOK needs"),
        (lambda path: {"operator_webhook_secret_file": path / "none"}, "cannot be read: No such"),
        (lambda path: {"operator_webhook_secret_file": path / "short"}, "must hold 16 to 4096"),
        (lambda _: {"operator_address": OPERATOR}, "ROOST_OPERATOR_ADDRESS needs ROOST_SMTP_URL"),
    ],
)
def test_settings_that_do_not_fit(
    tmp_path: Path, secret: Path, changes: Callable[[Path], dict[str, Any]], said: str
) -> None:
    (tmp_path / "short").write_text("short\n")
    settings = simulated(
        tmp_path,
        "postgresql://",
        **{
            "operator_webhook": "https://example.com/hook-4711",
            "operator_webhook_secret_file": secret,
            **changes(tmp_path),
        },
    )
    with pytest.raises((LetterSettingsError, SecretFileError), match=said) as refused:
        assert (bind_letters(settings), letters_of(settings)) is None
    assert "4711" not in str(refused.value)
