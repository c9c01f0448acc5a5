"""What the API offers: the caller's security questions (reference: Profile)."""

from roost.core.events import log
from roost.core.identity import UserType
from roost.resources.security_questions import queries
from roost.resources.security_questions.bodies import AnswerQuestions
from roost.resources.security_questions.records import AnswersRow, QuestionsRow
from roost.resources.security_questions.rules import QUESTIONS
from roost.resources.users.entity import PROFILE
from roost.secrets import Box
from roost.web.call import Call
from roost.web.registry import endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_PROXIES: tuple[UserType, ...] = ("proxy",)
_PATH = "/profile/security-questions"


@endpoint("GET", _PATH, scopes=_READ, refuses=_PROXIES, returns=QuestionsRow)
async def view_security_questions(call: Call) -> QuestionsRow:
    """View the security questions, with the answers that you gave.

    Operators ask them before they reset a password.
    """
    answers, box = await queries.read(call.db, call.identity.user_id), call.get(Box)
    return {
        "security_questions": [
            {
                "id": number,
                "question": question,
                "response": box.open(answers[number]).decode() if number in answers else None,
            }
            for number, question in QUESTIONS.items()
        ]
    }


@endpoint(
    "POST",
    _PATH,
    scopes=_WRITE,
    refuses=_PROXIES,
    body=AnswerQuestions,
    returns=AnswersRow,
    events=("profile_update",),
)
async def answer_security_questions(call: Call, body: AnswerQuestions) -> AnswersRow:
    """Answer three security questions, in place of those that you answered before.

    Nobody but you and the operator sees the answers.
    """
    given, box = body.security_questions, call.get(Box)
    sealed = {each.question_id: box.seal(each.response.encode()) for each in given}
    await queries.replace(call.db, call.identity.user_id, sealed)
    entity = PROFILE.entity(label=call.identity.username)
    await log.notify(call, "profile_update", entity)
    return {
        "security_questions": [
            {
                "question_id": each.question_id,
                "response": each.response,
                "security_question": QUESTIONS[each.question_id],
            }
            for each in given
        ]
    }
