"""All job kinds of Roost through all that the harness knows (DESIGN, section 4)."""

from collections.abc import AsyncIterator
from typing import TypeVar

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost, open_roost
from roost.core.limits.queries import set_limit
from roost.jobs import Environment, WorkerSettings
from roost.resources.account.queries import first_account
from roost.resources.compute.backups import rules
from roost.resources.payments.engine import Gateways
from roost.services import Services
from tests.golden.gaps import check_gaps
from tests.jobs import (
    address_scenarios,
    backup_scenarios,
    billing_scenarios,
    cancellation_scenarios,
    compute_scenarios,
    condition_scenarios,
    database_scenarios,
    disk_scenarios,
    domain_scenarios,
    firewall_scenarios,
    forgetting_scenarios,
    image_scenarios,
    kept_scenarios,
    lifecycle_scenarios,
    maintenance_scenarios,
    move_scenarios,
    nodebalancer_scenarios,
    oauth_scenarios,
    object_scenarios,
    payment_scenarios,
    retention_scenarios,
    support_scenarios,
    suspension_scenarios,
    transfer_scenarios,
    upload_scenarios,
    usage_scenarios,
    volume_move_scenarios,
    volume_scenarios,
)
from tests.jobs.harness import Scenario, Trial, pairs, without_scenario
from tests.support.database import DatabaseServer
from tests.support.gateway import RecordingGateway
from tests.support.mail import OPERATOR, SENDER, STAFF, MailServer, mail_server
from tests.support.server import simulated
from tests.support.stage import Stage
from tests.support.webhooks import SECRET, WebhookServer, webhook_server

SCENARIOS = (
    *address_scenarios.SCENARIOS,
    *backup_scenarios.SCENARIOS,
    *billing_scenarios.SCENARIOS,
    *cancellation_scenarios.SCENARIOS,
    *compute_scenarios.SCENARIOS,
    *condition_scenarios.SCENARIOS,
    *database_scenarios.SCENARIOS,
    *disk_scenarios.SCENARIOS,
    *domain_scenarios.SCENARIOS,
    *firewall_scenarios.SCENARIOS,
    *forgetting_scenarios.SCENARIOS,
    *image_scenarios.SCENARIOS,
    *kept_scenarios.SCENARIOS,
    *upload_scenarios.SCENARIOS,
    *lifecycle_scenarios.SCENARIOS,
    *maintenance_scenarios.SCENARIOS,
    *move_scenarios.SCENARIOS,
    *nodebalancer_scenarios.SCENARIOS,
    *oauth_scenarios.SCENARIOS,
    *object_scenarios.SCENARIOS,
    *payment_scenarios.SCENARIOS,
    *retention_scenarios.SCENARIOS,
    *volume_move_scenarios.SCENARIOS,
    *volume_scenarios.SCENARIOS,
    *support_scenarios.SCENARIOS,
    *suspension_scenarios.SCENARIOS,
    *transfer_scenarios.SCENARIOS,
    *usage_scenarios.SCENARIOS,
)

Service = TypeVar("Service")


class StageServices(Services):
    """Those of a Roost, and what those work with who set up a scenario."""

    def __init__(self, roost: Roost, mails: MailServer, webhooks: WebhookServer) -> None:
        gateway = RecordingGateway()
        super().__init__(Stage(roost), mails, webhooks, gateway, Gateways(gateway))
        self._own = (Stage, MailServer, WebhookServer, RecordingGateway, Gateways)
        self._others = roost.services

    def get(self, kind: type[Service]) -> Service:
        return super().get(kind) if kind in self._own else self._others.get(kind)


@pytest.fixture(scope="module")
async def mails() -> AsyncIterator[MailServer]:
    async with mail_server() as mails:
        yield mails


@pytest.fixture(scope="module")
async def webhooks() -> AsyncIterator[WebhookServer]:
    async with webhook_server() as webhooks:
        yield webhooks


@pytest.fixture(scope="module")
async def roost(
    database_server: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
    mails: MailServer,
    webhooks: WebhookServer,
) -> AsyncIterator[Roost]:
    """Without a worker of its own."""
    state = tmp_path_factory.mktemp("roost")
    secret = state / "webhook.secret"
    secret.write_bytes(SECRET)
    async with database_server.database() as url:
        settings = simulated(
            state,
            url,
            smtp_url=f"smtp://127.0.0.1:{mails.port}",
            mail_from=SENDER,
            support_address=STAFF,
            operator_address=OPERATOR,
            operator_webhook=webhooks.url,
            operator_webhook_secret_file=secret,
            dns_private_networks="127.0.0.0/8",
        )
        async with open_roost(settings) as roost:
            account_id = await first_account(roost.store)
            assert account_id is not None
            for name in GROUPS.limit_kinds:  # All trials are of one account.
                await set_limit(roost.store, account_id, name, None)
            yield roost


@pytest.fixture(autouse=True)
def one_window(roost: Roost, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window for backups that is open when a trial begins, also when it ends."""
    opened = rules.window_at(roost.clock.now())
    monkeypatch.setattr(rules, "window_at", lambda now: opened)


@pytest.fixture
async def environment(
    roost: Roost, mails: MailServer, webhooks: WebhookServer
) -> AsyncIterator[Environment]:
    """Each trial's checks look at everything: they find nothing of the trials before."""
    yield Environment(
        store=roost.store,
        queue=roost.queue,
        services=StageServices(roost, mails, webhooks),
        settings=WorkerSettings(slots=4, lease=1.0, grace=1.0),
        faults=roost.faults,
        metrics=roost.job_metrics,
    )
    await Stage(roost).clear()


TRIALS = [
    pytest.param(scenario, trial, marks=[pytest.mark.e2e] if trial.is_repeated else [])
    for scenario, trial in pairs(SCENARIOS)
]


@pytest.mark.parametrize(("scenario", "trial"), TRIALS, ids=str)
async def test_jobs(environment: Environment, scenario: Scenario, trial: Trial) -> None:
    await trial.run(environment, scenario)


def test_no_kind_is_left_out(roost: Roost) -> None:
    check_gaps("unproven_jobs", without_scenario(roost.queue.kinds.by_name, SCENARIOS))
