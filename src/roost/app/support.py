"""What the settings say of support: where attachments are, and who carries emails."""

from roost.core.planes import EVERYWHERE, Binding, Engine
from roost.engines.attachments.folder import AttachmentFolder
from roost.engines.smtp.mailer import SmtpMailer
from roost.errors import OperatorError
from roost.resources.support.engine import (
    ATTACHMENT_PLANE,
    MAIL_PLANE,
    AttachmentStore,
    Mail,
    SupportRules,
)
from roost.settings import Settings


class SupportSettingsError(OperatorError):
    """Settings that do not fit together."""


def bind_support(settings: Settings) -> list[Binding[Engine]]:
    """Raises SupportSettingsError. Nothing is reached for yet."""
    store, where = attachments(settings)
    bound: list[Binding[Engine]] = [Binding(ATTACHMENT_PLANE.name, EVERYWHERE, store, True, where)]
    if settings.smtp_url is not None:
        mailer = _mailer(settings.smtp_url.get_secret_value())
        where = f"{mailer.host}:{mailer.port}"
        bound.append(Binding(MAIL_PLANE.name, EVERYWHERE, mailer, True, where))
    return bound


def support_rules(settings: Settings) -> SupportRules:
    """Raises SupportSettingsError for a mail server without a sender."""
    mail = None
    if settings.smtp_url is not None:
        if settings.mail_from is None:
            raise SupportSettingsError(
                "ROOST_SMTP_URL needs ROOST_MAIL_FROM: the address that emails are from"
            )
        mail = Mail(settings.mail_from, settings.support_address, settings.public_url)
    return SupportRules(mail, settings.attachments_quota)


def attachments(settings: Settings) -> tuple[AttachmentStore, str]:
    """The place of attachments, and where that is."""
    if settings.attachments_bucket is None:
        folder = settings.state / "attachments"
        return AttachmentFolder(folder), f"files in {folder}"
    from roost.engines.attachments.bucket import AttachmentBucket  # 4 MB of memory.

    bucket = AttachmentBucket(
        settings.attachments_bucket,
        settings.attachments_endpoint,
        settings.attachments_region,
        settings.attachments_access_key,
        settings.attachments_secret_key.get_secret_value(),
    )
    return bucket, f"the bucket {settings.attachments_bucket}"


def _mailer(url: str) -> SmtpMailer:
    try:
        return SmtpMailer.of(url)
    except ValueError:
        raise SupportSettingsError(
            "ROOST_SMTP_URL must be smtp://, smtp+starttls:// or smtps://, then"
            " [user:password@]host[:port]"
        ) from None
