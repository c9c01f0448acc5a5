"""Who carries text messages: the operator's program, in the lab nobody."""

from roost.engines.messages.command import CommandSender
from roost.engines.messages.kept import KeptMessages
from roost.resources.phone.engine import Messages
from roost.settings import Settings


def open_messages(settings: Settings) -> Messages:
    if settings.sms_command is not None:
        return Messages(CommandSender(settings.sms_command.absolute()))
    return Messages(KeptMessages() if settings.lab else None)
