"""What the settings say of support: where attachments are, and who carries emails."""

from roost.engines.attachments.bucket import AttachmentBucket
from roost.engines.attachments.folder import AttachmentFolder
from roost.engines.smtp.mailer import SmtpMailer
from roost.resources.support.engine import AttachmentStore, Mail, SupportServices
from roost.settings import Settings


class SupportSettingsError(Exception):
    """Settings that do not fit together."""


def open_support(settings: Settings) -> SupportServices:
    """Raises SupportSettingsError. Nothing is reached for yet."""
    return SupportServices(_attachments(settings), _mail(settings), settings.attachments_quota)


def _attachments(settings: Settings) -> AttachmentStore:
    if settings.attachments_bucket is None:
        return AttachmentFolder(settings.state / "attachments")
    return AttachmentBucket(
        settings.attachments_bucket,
        settings.attachments_endpoint,
        settings.attachments_region,
        settings.attachments_access_key,
        settings.attachments_secret_key.get_secret_value(),
    )


def _mail(settings: Settings) -> Mail | None:
    if settings.smtp_url is None:
        return None
    if settings.mail_from is None:
        raise SupportSettingsError(
            "ROOST_SMTP_URL needs ROOST_MAIL_FROM: the address that emails are from"
        )
    try:
        mailer = SmtpMailer.of(settings.smtp_url.get_secret_value())
    except ValueError:
        raise SupportSettingsError(
            "ROOST_SMTP_URL must be smtp://, smtp+starttls:// or smtps://, then"
            " [user:password@]host[:port]"
        ) from None
    return Mail(mailer, settings.mail_from, settings.support_address, settings.public_url)
