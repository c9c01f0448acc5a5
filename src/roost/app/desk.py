"""What the settings say of support: where attachments are, and who carries letters."""

from roost.engines.attachments.bucket import AttachmentBucket
from roost.engines.attachments.folder import AttachmentFolder
from roost.engines.smtp.mailer import SmtpMailer
from roost.resources.support.engine import AttachmentStore, Desk, Post
from roost.settings import Settings


class DeskError(Exception):
    """Settings that do not fit together."""


def open_desk(settings: Settings) -> Desk:
    """Raises DeskError. Nothing is reached for yet."""
    return Desk(_attachments(settings), _post(settings), settings.attachments_quota)


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


def _post(settings: Settings) -> Post | None:
    if settings.smtp_url is None:
        return None
    if settings.mail_from is None:
        raise DeskError("ROOST_SMTP_URL needs ROOST_MAIL_FROM: the address that letters are from")
    try:
        mailer = SmtpMailer.of(settings.smtp_url.get_secret_value())
    except ValueError:
        raise DeskError(
            "ROOST_SMTP_URL must be smtp://, smtp+starttls:// or smtps://, then"
            " [user:password@]host[:port]"
        ) from None
    return Post(mailer, settings.mail_from, settings.support_address, settings.public_url)
