"""What jobs that send an email come to, for the harness."""

from dataclasses import dataclass

from tests.support.mail import MailServer


@dataclass(frozen=True)
class EmailCase:
    """An email may come twice after a crash, but then it is the same one."""

    mails: MailServer
    address: str
    subject: str
    job_id: int

    async def check_done(self) -> None:
        assert self._found() == {self.subject}

    async def check_failed(self) -> None:
        assert self._found() <= {self.subject}

    def _found(self) -> set[str]:
        return {email["Subject"] for email in self.mails.to(self.address)}
