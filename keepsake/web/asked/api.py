"""The API of short answers, and of the questions that typed words may mean."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import P, Query, QueryEx, Router

from keepsake.web.actions import AGENT_PATH
from keepsake.web.asked import answering
from keepsake.web.asked.of_all import answer_of_all
from keepsake.web.asked.offers import offers
from keepsake.web.asked.shapes import AnswerView, OfferView, QuestionKind
from keepsake.web.shapes import LARGEST, answers

router = Router()


@router.get(f"{AGENT_PATH}/answer", response=answers(AnswerView))
def answer(
    request: HttpRequest,
    number: int,
    of: Query[QuestionKind],
    about: QueryEx[str, P(max_length=1000)] = "",
) -> AnswerView:
    """The short answer to a question about an agent.

    ``about``: whom it knows, whom it spoke to or in which words, or a time: ``Thursday evening``.
    """
    return answering.answer(number, of, about)


@router.get("/answer", response=answers(AnswerView))
def answer_about_all(
    request: HttpRequest, of: Query[QuestionKind], about: QueryEx[str, P(max_length=1000)] = ""
) -> AnswerView:
    """The short answer to a question about no agent in particular: who, where, knows.

    ``about``: the words of which somebody knows; who is somewhere, empty for everybody; or of whom
    the agents know something.
    """
    return answer_of_all(of, about)


@router.get("/asked", response=answers(list[OfferView]))
def asked(
    request: HttpRequest,
    q: QueryEx[str, P(max_length=1000)] = "",
    agent: QueryEx[int | None, P(ge=1, le=LARGEST)] = None,
) -> list[OfferView]:
    """The questions that typed words may mean, the likeliest first: ``Mira yesterday 19:30``.

    ``agent``: whose page they were typed on; without it an agent must be named.
    """
    return offers(q, agent)
