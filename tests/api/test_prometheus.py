"""The rules and the dashboard in `examples`: whether they name what a server shows, and whether
the rules tell of what they are for and of nothing else. Prometheus' own promtool reads them."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.support.client import Json, until
from tests.support.figures import busy_lab, scrape

EXAMPLES = Path(__file__).parents[2] / "examples"
RULES = EXAMPLES / "prometheus/roost.rules.yml"
DASHBOARD = EXAMPLES / "grafana/roost.json"

GIB = 1 << 30
OF_PROMETHEUS = {"up": {"job", "instance"}}
"""What Prometheus adds itself."""
ADDED = {"instance", "job"}

Series = Mapping[str, str]
"""Values of each minute, as promtool writes them."""


@dataclass(frozen=True)
class Case:
    fires: Series
    silent: Series
    minutes: int = 10


def one(series: str, fires: str, silent: str, minutes: int = 10) -> Case:
    return Case({series: fires}, {series: silent}, minutes)


def host(what: str, free: str, free_enough: str, size: int, minutes: int = 15) -> Case:
    label = '{region="local",folder="/srv"}' if what == "disk" else '{region="local"}'
    name = f"roost_host_{what}"
    whole = {f"{name}_bytes{label}": f"{size}x500"}
    left = f"{name}_free_bytes{label}"
    return Case({**whole, left: free}, {**whole, left: free_enough}, minutes)


_CALL = 'plane="instances",engine="qemu",operation="start"'
_HEALTH = 'roost_engine_call_seconds_bucket{plane="volumes",engine="qemu",operation="health"'
_SHARE = '{share="requests"}'

CASES = {
    "RoostDown": one('up{job="roost"}', "0x10", "0 0 1x8"),
    "RoostDatabaseDown": one("roost_database_up", "0x10", "1 0 1x8"),
    "RoostNoWorker": one("roost_workers", "0x10", "2x10"),
    "RoostNameServerDown": one(
        'roost_engine_up{region="all",plane="dns",engine="powerdns"}', "0x10", "1x10"
    ),
    "RoostEngineDown": Case(
        {'roost_engine_up{region="local",plane="volumes",engine="qemu"}': "0x10"},
        {'roost_engine_up{region="all",plane="dns",engine="powerdns"}': "0x10"},
    ),
    "RoostErrors": Case(
        {
            'roost_http_requests_total{operation="a",status="500"}': "0+10x20",
            'roost_http_requests_total{operation="a",status="200"}': "0+90x20",
        },
        {
            'roost_http_requests_total{operation="a",status="500"}': "0+1x20",
            'roost_http_requests_total{operation="a",status="200"}': "0+99x20",
        },
        20,
    ),
    "RoostRefusals": one(
        'roost_rate_limit_refusals_total{limit="general"}', "0+120x30", "0+6x30", 30
    ),
    "RoostDiskNearlyFull": host("disk", f"{3 * GIB}x20", f"{15 * GIB}x20", 1000 * GIB),
    "RoostDiskLow": host("disk", f"{15 * GIB}x20", f"{3 * GIB}x20", 1000 * GIB),
    "RoostDiskFillsUp": host(
        "disk", f"{400 * GIB}-{GIB // 2}x450", f"{400 * GIB}x450", 1000 * GIB, 440
    ),
    "RoostMemoryLow": host("memory", f"{GIB}x20", f"{8 * GIB}x20", 64 * GIB),
    "RoostGuestsReboot": Case(
        {'roost_guest_reboots_total{region="local",action="lassie_reboot"}': "0+1x60"},
        {'roost_guest_reboots_total{region="local",action="host_reboot"}': "0+1x60"},
        60,
    ),
    "RoostNameServerRestarts": one(
        "roost_name_server_restarts_total", "0x10 1 2 3 4x50", "0x10 1x50", 60
    ),
    "RoostJobsFailed": one('roost_jobs_failed_last_hour{kind="compute_boot"}', "1x10", "_x10"),
    "RoostJobsWait": one('roost_job_queue_age_seconds{kind="compute_boot"}', "301x10", "299x10"),
    "RoostJobHangs": Case(
        {'roost_job_running_age_seconds{kind="compute_boot"}': "30000x10"},
        {'roost_job_running_age_seconds{kind="ticket_mail"}': "30000x10"},
    ),
    "RoostJobsOverdue": one('roost_jobs_overdue_total{kind="a"}', "0 0 1x20", "1x20", 20),
    "RoostUndoFailed": one('roost_job_undo_failures_total{kind="a"}', "0 0 1x20", "1x20", 20),
    "RoostWorkerLost": one('roost_job_lost_leases_total{kind="a"}', "0 0 3x10", "3x10"),
    "RoostEngineFaults": Case(
        {
            f'roost_engine_faults_total{{{_CALL},fault="EngineError"}}': "0+1x40",
            f"roost_engine_call_seconds_count{{{_CALL}}}": "0+2x40",
        },
        {
            f'roost_engine_faults_total{{{_CALL},fault="EngineError"}}': "0+1x40",
            f"roost_engine_call_seconds_count{{{_CALL}}}": "0+100x40",
        },
        40,
    ),
    "RoostEngineSlow": Case(
        {
            _HEALTH + ',le="2.5"}': "0x40",
            **dict.fromkeys((_HEALTH + ',le="5.0"}', _HEALTH + ',le="+Inf"}'), "0+1x40"),
        },
        dict.fromkeys(
            (_HEALTH + ',le="0.005"}', _HEALTH + ',le="5.0"}', _HEALTH + ',le="+Inf"}'), "0+1x40"
        ),
        40,
    ),
    "RoostDatabaseSlow": one("roost_database_answer_seconds", "0.7x10", "0.01x10"),
    "RoostDatabaseBusy": Case(
        {
            f"roost_database_connections{_SHARE}": "16x20",
            f"roost_database_connections_limit{_SHARE}": "16x20",
        },
        {
            f"roost_database_connections{_SHARE}": "16 12x20",
            f"roost_database_connections_limit{_SHARE}": "16x20",
        },
        20,
    ),
    "RoostDatabaseConnections": Case(
        {
            "roost_database_server_connections": "95x10",
            "roost_database_server_connections_limit": "100x10",
        },
        {
            "roost_database_server_connections": "80x10",
            "roost_database_server_connections_limit": "100x10",
        },
    ),
    "RoostLongTransaction": one("roost_database_transaction_age_seconds", "700x10", "59x10"),
}


def promtool(*arguments: str) -> None:
    """Fails with what it says."""
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    assert shutil.which("promtool"), "scripts/setup.py --tests installs Prometheus"


def alerts() -> list[Json]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def plotted() -> Iterator[tuple[str, str]]:
    """Expressions of the dashboard and their legends, for any region."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"].replace("$region", ".*"), target["legendFormat"]


def named(expression: str) -> Iterator[tuple[str, set[str]]]:
    """The metrics of an expression, each with the labels that it is asked for."""
    grouped = set[str]()
    for labels in re.findall(r"\b(?:by|without|on)\s*\(([^)]*)\)", expression):
        grouped |= {label.strip() for label in labels.split(",")}
    bare = re.sub(r'"[^"]*"', '""', expression)
    for name, selectors in re.findall(r"\b(roost_\w+|up)\b(?:\{([^}]*)\})?", bare):
        yield name, grouped | set(re.findall(r"(\w+)\s*[=!]", selectors))


def test_promtool_reads_the_rules() -> None:
    promtool("check", "rules", str(RULES))


def test_promtool_reads_the_dashboard(tmp_path: Path) -> None:
    """As rules that keep what they come to; only those are checked by it."""
    rules = [{"record": f"panel:{at}", "expr": each} for at, (each, _) in enumerate(plotted())]
    assert len(rules) > 30
    file = tmp_path / "dashboard.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(file))


def test_panels_have_places_and_legends_of_their_own() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    for expression, legend in plotted():
        grouped = {label for _, labels in named(expression) for label in labels}
        assert set(re.findall(r"\{\{(\w+)\}\}", legend)) <= grouped, expression


async def test_a_server_shows_all_that_they_name(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expressions = [rule["expr"] for rule in alerts()] + [each for each, _ in plotted()]
    wanted = [found for expression in expressions for found in named(expression)]
    async with busy_lab(tmp_path, database_url, monkeypatch) as lab:
        found = await until(
            lambda: scrape(lab.running), lambda it: bool(it.values("roost_conditions"))
        )
    shown = {name: labels | ADDED for name, labels in found.labels.items()} | OF_PROMETHEUS
    assert {name for name, _ in wanted} <= set(shown)
    assert [(name, labels) for name, labels in wanted if not labels <= shown[name]] == []


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    assert set(CASES) == {rule["alert"] for rule in alerts()}
    assert {rule["labels"]["severity"] for rule in alerts()} == {"critical", "warning"}
    trials = [
        trial(name, series, case.minutes, fires)
        for name, case in CASES.items()
        for series, fires in ((case.fires, True), (case.silent, False))
    ]
    whole = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": trials}
    file = tmp_path / "tests.yml"
    file.write_text(json.dumps(whole))
    promtool("test", "rules", str(file))


def trial(alert: str, series: Series, minutes: int, fires: bool) -> Json:
    expression = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})'
    samples = [{"labels": "{}", "value": 1}] if fires else []
    at_end = {"expr": expression, "eval_time": f"{minutes}m", "exp_samples": samples}
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": each} for name, each in series.items()],
        "promql_expr_test": [at_end],
    }
