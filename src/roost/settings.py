"""What an operator sets, from the environment (prefix `ROOST_`) or the command line."""

from ipaddress import ip_network
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_ADDRESS = r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+$"

_ADDRESS_OF_DOMAIN = r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$"


MAIN_HOST = "main"
"""The host that runs all work which belongs to no other one."""


class Settings(BaseSettings):
    """Every setting with its default; `docs/operating.md` explains them."""

    model_config = SettingsConfigDict(env_prefix="ROOST_", populate_by_name=True)

    state: Path = Path(".roost")
    listen: str = "127.0.0.1:8080"
    metrics_listen: str | None = Field(
        default=None, description="HOST:PORT at which a worker shows /metrics; default: nowhere"
    )
    dialects: str = Field(
        default="",
        max_length=1000,
        pattern=r"^[^,=]*(=[^,=]*(,[^,=]*=[^,=]*)*)?$",
        description="NAME=HOST:PORT, with commas: where the API is in another cloud's words too",
    )
    tls_cert: Path | None = Field(
        default=None, description="PEM of the certificate that listeners show; default: no TLS"
    )
    tls_key: Path | None = Field(default=None, description="PEM of its key")
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/?#]+$",
        description="where browsers and OAuth clients reach the server; default: where it listens",
    )
    admin_email: str = Field(
        default="admin@localhost.localdomain",
        max_length=128,
        pattern=_ADDRESS_OF_DOMAIN,
        description="of the account and the user that the first start makes",
    )
    engines: Literal["auto", "simulated", "local"] = "auto"
    catalog: Path | None = None
    host: str = Field(
        default=MAIN_HOST,
        pattern=r"^[a-z0-9][a-z0-9-]{0,30}$",
        description="name of the machine whose guests this process serves",
    )
    host_listen: str | None = Field(
        default=None, description="ADDRESS:PORT at which its worker takes what other hosts send"
    )
    payments: Literal["simulated", "manual", "stripe"] = Field(
        default="simulated",
        description="simulated: cards are charged without money; manual: the operator records "
        "payments; stripe: cards are charged there",
    )
    stripe_key_file: Path | None = Field(
        default=None, description="holds the secret key of the account at Stripe"
    )
    stripe_webhook_secret_file: Path | None = Field(
        default=None, description="holds what Stripe signs its messages with; default: none come"
    )
    stripe_url: str = Field(
        default="https://api.stripe.com",
        pattern=r"^(https://[^/?#]+|http://127\.0\.0\.1:[0-9]{1,5})$",
        description="where its API is",
    )
    cancel_survey: str = Field(
        default="",
        pattern=r"^(https?://[!-~]+)?$",
        description="link that who cancels an account is shown; empty: none",
    )
    suspend_days: int | None = Field(
        default=None,
        ge=0,
        le=3650,
        description="that a payment is past due until services rest; default: they never do",
    )
    canceled_days: int = Field(
        default=90, ge=0, le=36500, description="that users of canceled accounts are kept"
    )
    invoice_issuer: str = Field(
        default="",
        max_length=500,
        description="who charges, on PDF invoices: name; address; tax id, with semicolons",
    )
    invoice_font: Path | None = Field(
        default=None, description="TrueType file for scripts that the own font lacks"
    )
    lab: bool = False
    worker: bool = True
    database_url: str | None = Field(default=None, validation_alias="DATABASE_URL")
    database_connections: int = Field(default=16, ge=1, description="of requests")
    database_timeout: float = Field(
        default=5.0, gt=0, description="seconds of a request's statement, or of a pause after it"
    )
    job_connections: int = Field(default=16, ge=1, description="of jobs and commands")
    job_slots: int = Field(default=16, ge=1)
    job_lease: float = Field(default=10.0, description="seconds until a silent worker is replaced")
    images: Path | None = Field(default=None, description="default: images in the state")
    key_file: Path | None = Field(default=None, description="default: secret.key in the state")
    rate_limit_scale: float = Field(default=1.0, ge=0, description="0 switches limits off")
    trusted_proxies: str | None = Field(
        default=None, description="addresses whose X-Forwarded-For is believed"
    )
    max_connections: int = Field(
        default=4096, ge=1, description="open at once; at most half of the files it may open"
    )
    connections_per_address: int = Field(
        default=256, ge=1, description="open at once from one address that is no trusted proxy"
    )
    monitors: str = Field(
        default="127.0.0.0/8,::1/128",
        description="networks, with commas, that may see /metrics and the details of /healthz",
    )
    dns_engine: Literal["auto", "simulated", "powerdns"] = "auto"
    dns_listen: str | None = Field(
        default=None, description="HOST:PORT, with commas; default: a free port of 127.0.0.1"
    )
    dns_database_url: str | None = Field(
        default=None, description="PostgreSQL of the own PowerDNS; default: a file in the state"
    )
    powerdns_url: str | None = Field(
        default=None, description="API of a PowerDNS that the operator runs"
    )
    powerdns_key_file: Path | None = Field(default=None, description="holds the key of its API")
    dns_nameservers: str = Field(
        default="ns1.roost.internal,ns2.roost.internal",
        description="names, with commas, that master zones have as name servers",
    )
    dns_private_networks: str = Field(
        default="", description="private networks, with commas, that zones may come from"
    )
    rdns_domain: str = Field(
        default="ip.roost.internal", description="the zone of addresses' default names"
    )
    rdns_resolver: str | None = Field(
        default=None, description="who is asked for forward DNS; default: the own name server"
    )
    objects_engine: Literal["auto", "simulated", "seaweedfs"] = "auto"
    objects_clusters_file: Path | None = Field(
        default=None, description="says where SeaweedFS clusters of regions are, that you run"
    )
    objects_tls_listen: str | None = Field(
        default=None, description="ADDRESS:PORT at which buckets with a certificate are served"
    )
    objects_min_free_gb: int = Field(
        default=2, ge=0, le=1_000_000, description="GB of their disk that objects leave free"
    )
    databases_listen: str = Field(
        default="127.0.0.1",
        pattern=r"^[0-9A-Fa-f:.]{2,45}$",
        description="address that managed databases listen on",
    )
    databases_domain: str = Field(
        default="db.roost.internal",
        pattern=r"^[a-z0-9]([a-z0-9-]{0,62}\.)+[a-z0-9-]{1,62}$",
        max_length=150,
        description="the zone of the names of managed databases",
    )
    databases_host: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$",
        description="name or address that clients call them by; default: one of the own zone each",
    )
    databases_replicas_listen: str | None = Field(
        default=None,
        pattern=r"^[0-9.]{7,15}$",
        description="IPv4 address at which clusters' replicas are reached",
    )
    databases_replicas_host: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$",
        description="name or address that clients call replicas by; default: likewise",
    )
    databases_verify: Literal["off", "daily", "weekly"] = Field(
        default="weekly",
        description="how often each backup of a managed database is restored to see that it can be",
    )
    max_body: int = Field(default=1024 * 1024, description="bytes of a JSON request body")
    access_log: bool = True
    sms_command: Path | None = Field(
        default=None, description="program that sends text messages: number as argument, text in"
    )
    smtp_url: SecretStr | None = Field(
        default=None, description="smtp://, smtp+starttls:// or smtps://[user:password@]host[:port]"
    )
    mail_from: str | None = Field(default=None, pattern=_ADDRESS)
    support_address: str | None = Field(default=None, pattern=_ADDRESS)
    operator_address: str | None = Field(
        default=None, pattern=_ADDRESS, description="is told of what goes wrong, by email"
    )
    operator_webhook: SecretStr | None = Field(
        default=None, description="URL that is told of what goes wrong"
    )
    operator_webhook_secret_file: Path | None = Field(
        default=None, description="holds what its messages are signed with"
    )
    webhook_networks: str = Field(
        default="",
        description="networks that webhooks of accounts may reach beside the Internet, by http too",
    )
    traces: str | None = Field(
        default=None, description="URL of a collector of OpenTelemetry that is sent traces"
    )
    attachments_bucket: str | None = Field(default=None, description="default: in the state")
    attachments_endpoint: str | None = Field(default=None, pattern=r"^https?://")
    attachments_region: str = "us-east-1"
    attachments_access_key: str = ""
    attachments_secret_key: SecretStr = SecretStr("")
    attachments_quota: int = Field(
        default=1024**3, ge=0, description="bytes of all attachments of an account"
    )
    simulated_latency: float = Field(default=1.0, ge=0, description="seconds of a transition")

    @property
    def image_folder(self) -> Path:
        return self.images or self.state / "images"

    @property
    def sealing_key(self) -> Path:
        """The file with the key that seals what is secret in the database and on disk."""
        return self.key_file or self.state / "secret.key"

    @field_validator("trusted_proxies", "monitors")
    @classmethod
    def _check_networks(cls, value: str | None) -> str | None:
        for name in filter(None, (name.strip() for name in (value or "").split(","))):
            if name != "*":
                ip_network(name)
        return value
