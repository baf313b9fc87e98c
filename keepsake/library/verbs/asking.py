"""Asking the agent: the prompt of an answer, and the answer itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory as Record
from keepsake.errors import KeepsakeError
from keepsake.happening import ME, Manner
from keepsake.language.perception import one_line
from keepsake.library.happenings import Speech, Who, person_of
from keepsake.library.results import Answer, MemoryPrompt
from keepsake.library.verbs.remembering import Remembering

if TYPE_CHECKING:  # templates and forms are loaded with the first prompt
    from keepsake.library.prompting import Talk


class Asking(Remembering):
    """The verbs ``prompt`` and ``answer``."""

    def prompt(
        self,
        words: str,
        *,
        by: Who,
        whisper: bool = False,
        here: Sequence[Who] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
        budget: int = 0,
    ) -> MemoryPrompt:
        """Return the prompt for an answer to ``words``; blocks. Nothing is remembered.

        The arguments are those of :meth:`answer`. ``budget``: The most tokens; 0 for what the
        model allows, or 8,000 without one.

        Raises:
            KeepsakeError: An argument cannot be used.
        """
        from keepsake.library.prompting import Prompting  # noqa: PLC0415 - loads templates

        with self._gate.together():
            opened = self._opened
            prompting = Prompting(opened)
            target = self._parts.answerer.target
            if budget:
                target = replace(target, prompt_tokens=budget)
            form = prompting.form(target)
            number = opened.archive.last_number + 1
            asked = self._speech(words, by, whisper=whisper)
            question = replace(self._record(asked, place), number=number)
            talk = self._talk(question, by, whisper=whisper, here=here, facts=facts)
            recalled = prompting.recall(talk, form)
            built = prompting.build(talk, form, recalled, extra=question)
        prompt = built.prompt
        only_for = None if built.confidants is None else tuple(sorted(built.confidants))
        messages = [{"role": m.role, "content": m.text} for m in prompt.request.messages]
        return MemoryPrompt(
            messages or [{"role": "user", "content": prompt.rendered.text}],
            prompt.rendered.text,
            built.tokens,
            prompt.budget,
            tuple(each for each in prompt.rests_on if each < number),
            only_for,
        )

    def answer(
        self,
        words: str,
        *,
        by: Who,
        whisper: bool = False,
        here: Sequence[Who] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
        on_line: Callable[[str], object] | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Answer:
        """Remember what somebody says to the agent, and what its model answers; blocks.

        Answers of one memory come one after the other. Everything else may be called meanwhile.

        Args:
            words: What is said.
            by: Who says it.
            whisper: Whether nobody else hears it; then the answer is for that person alone, too.
            here: Who else hears the answer. Give it if several people talk in one place. Only
                those words that all of them know in confidence can be in the prompt; None for no
                confidential words at all, unless it is a whisper.
            place: Where it is: a channel, a room.
            facts: Lines about the moment that only this prompt shows: ``It rains.``
            on_line: Takes each line of the answer as soon as it is complete, in this thread.
            is_cancelled: Returns whether the answer is no longer needed; called often.

        Raises:
            ModelError: There was no answer. What was said is remembered all the same.
            ArchiveUnwritable: Nothing was remembered, or the answer was not.
            KeepsakeError: An argument cannot be used.
        """
        with ExitStack() as held:
            held.enter_context(self._gate.together())
            self._parts.answerer.check()
            held.enter_context(self._turn)
            from keepsake.library.answering import TalkAnswering  # noqa: PLC0415 - templates

            asked = self._speech(words, by, whisper=whisper)
            question = self._opened.add(self._record(asked, place))
            talk = self._talk(question, by, whisper=whisper, here=here, facts=facts)
            return TalkAnswering(self._opened).answer(talk, on_line, is_cancelled)

    def _speech(self, words: str, by: Who, *, whisper: bool) -> Speech:
        if self._reader.person(by) == ME:
            raise KeepsakeError(f"{self.name} cannot ask itself", "Name somebody else in by=")
        manner = Manner.WHISPER if whisper else Manner.SAY
        return Speech(by, words, to=[ME], manner=manner)

    def _talk(
        self,
        question: Record,
        by: Who,
        *,
        whisper: bool,
        here: Sequence[Who] | None,
        facts: Sequence[str],
    ) -> Talk:
        from keepsake.library.prompting import Talk  # noqa: PLC0415 - loads templates

        partner = person_of(by)
        others = self._reader.people(here or ())
        people = dict.fromkeys((partner, *(each for each in others if each != ME)))
        audience: Audience = NO_PRIVATE_WORDS
        if whisper:
            audience = frozenset({partner.id})
        elif here is not None:
            audience = frozenset(each.id for each in people)
        return Talk(
            partner,
            question,
            tuple(people),
            audience,
            whispered=whisper,
            place=question.place,
            facts=tuple(map(one_line, facts)),
        )
