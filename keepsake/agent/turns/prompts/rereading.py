"""Lets a model read what a search found for a question about several talks, before it answers.

It picks the memories that help, and says what else to search for: one call. Without an answer in
time, what the search found counts as it is.
"""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.memory.search_results import LONGEST, line_of, reread_result
from keepsake.agent.turns.asking import ModelCall, whole_answer
from keepsake.agent.turns.state import Turn
from keepsake.errors import KeepsakeError
from keepsake.events.values import RecallPurpose
from keepsake.language.perception import shorten
from keepsake.logs import Subsystem, get_logger
from keepsake.models.profiles import ModelProfile
from keepsake.ports import Generation, GenerationRequest
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.recall.finding import SearchResult
from keepsake.tasks.questions.reread import MOST_SHOWN, NO_CHOICE, Choice, FoundLine, Reread
from keepsake.tasks.task import AnswerRefused

log = get_logger(Subsystem.RECALL)

PICKED = "picked by the model"
"""The reason of a memory that the model picked."""
_FURTHER = "further search"


async def reread(turn: Turn, recalled: SearchResult | None) -> SearchResult | None:
    """Return the results of a turn's search, as a model has read them if the question asks for it.

    It asks for it if the answer probably stands in several talks
    (:attr:`SearchResult.is_about_several`). What it chose stays after a look-up of the same turn.
    If it chose nothing, it is asked again then.
    """
    words = turn.context.words
    if turn.reread is not None and turn.reread[0] == words:
        return turn.reread[1]
    seconds = turn.services.recall_config.reread
    if recalled is None or not (seconds and words and recalled.is_about_several):
        return recalled
    reading = _Reading(turn, recalled)
    choice = await reading.choice(seconds)
    if choice == NO_CHOICE:
        return recalled
    result = await reading.result(choice)
    turn.reread = (words, result)
    return result


class _Reading:
    """One reading of a search's results.

    Args:
        recalled: The results, as the search returned them.
    """

    def __init__(self, turn: Turn, recalled: SearchResult) -> None:
        self._turn = turn
        self._recalled = recalled
        self._shown: list[Hit] = []

    async def choice(self, seconds: float) -> Choice:
        """Return what the model chooses; nothing if it does not answer within ``seconds``."""
        turn = self._turn
        key = f"reread-{turn.ref.number}"
        try:
            prompts = turn.services.prompts["reread"].current
            self._shown = self._may_show()
            task = Reread(
                prompts,
                turn.context.words,
                [FoundLine(line_of(hit, LONGEST), (hit.document.first,)) for hit in self._shown],
                f"{turn.services.clock.now().astimezone():%-d %B %Y}",
                turn.context.partner.name if turn.context.partner is not None else "",
            )

            def request(profile: ModelProfile, _: float) -> GenerationRequest:
                return profile.request(task.ask(profile, ""))

            call = ModelCall(turn.services, key, turn.priority, request)
            turn.call = call
            alarm = turn.services.scheduler.later(seconds, call.give_up)
            try:
                outcome = await whole_answer(call, turn.wait)
            finally:
                alarm.cancel()
            return task.read(outcome.text) if isinstance(outcome, Generation) else NO_CHOICE
        except AnswerRefused as refused:
            log.info(f"What was found is shown as it is: {refused}", agent=turn.thoughts.name)
        except KeepsakeError as error:  # no such profile, no model
            log.info(f"No model read what was found: {error}", agent=turn.thoughts.name)
        return NO_CHOICE

    def _may_show(self) -> list[Hit]:
        """Return the memories that the model reads: what the audience may hear, best first."""
        turn = self._turn
        private = turn.tools.memory.private
        heard = self._recalled.heard_by(private, turn.context.audience)
        return heard.of(DocumentKind.MEMORY)[:MOST_SHOWN]

    async def result(self, choice: Choice) -> SearchResult:
        """Search further, and return all results in the order that the model gave them."""
        turn = self._turn
        numbers = [hit.document.first for hit in self._shown]
        holds = turn.tools.memory.private.confidants_of(numbers) is not None
        holds |= turn.context.whispered
        further = list[SearchResult]()
        for words in choice.searches:
            found = await turn.wait(
                turn.tools.recaller.recall(
                    words,
                    purpose=RecallPurpose.FURTHER,
                    audience=turn.context.audience,
                    asker=turn.context.partner,
                    holds_private=holds,
                )
            )
            if found is not None:
                further.append(_because(found, _FURTHER if holds else f"{_FURTHER}: {words}"))
        picked = [_with_reason(self._shown[place], PICKED) for place in choice.picked]
        return reread_result(self._recalled, picked, len(self._shown), further)


def _because(found: SearchResult, reason: str) -> SearchResult:
    """Return the results, each with a reason more."""
    return replace(found, hits=tuple(_with_reason(hit, reason) for hit in found.hits))


def _with_reason(hit: Hit, reason: str) -> Hit:
    return replace(hit, reasons=(shorten(reason, LONGEST), *hit.reasons))
