"""What the settings say of letters to the operator."""

from urllib.parse import urlsplit

from roost.app.secret_files import read_secret
from roost.core.planes import EVERYWHERE, Binding, Engine
from roost.errors import OperatorError
from roost.resources.conditions.engine import WEBHOOK_PLANE, Letters
from roost.settings import Settings


class LetterSettingsError(OperatorError):
    """Settings that do not fit together."""


def letters_of(settings: Settings) -> Letters:
    """Raises LetterSettingsError for an address without a mail server."""
    if settings.operator_address is not None and settings.smtp_url is None:
        raise LetterSettingsError("ROOST_OPERATOR_ADDRESS needs ROOST_SMTP_URL: a mail server")
    return Letters(settings.operator_address, settings.operator_webhook is not None)


def bind_letters(settings: Settings) -> list[Binding[Engine]]:
    """Raises LetterSettingsError and SecretFileError. Nothing is reached for yet."""
    if settings.operator_webhook is None:
        return []
    url = settings.operator_webhook.get_secret_value()
    if not _is_url(url):
        raise LetterSettingsError("ROOST_OPERATOR_WEBHOOK must be an http:// or https:// URL")
    from roost.engines.webhook.sender import WebhookSender  # With an HTTP client: 0.1 s to load.

    sender = WebhookSender(url, _secret(settings))
    return [Binding(WEBHOOK_PLANE.name, EVERYWHERE, sender, True, sender.host)]


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _secret(settings: Settings) -> bytes:
    name, path = "ROOST_OPERATOR_WEBHOOK_SECRET_FILE", settings.operator_webhook_secret_file
    if path is None:
        raise LetterSettingsError(f"ROOST_OPERATOR_WEBHOOK needs {name}: its messages are signed")
    return read_secret(name, path)
