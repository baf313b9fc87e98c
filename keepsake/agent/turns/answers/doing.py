"""Does one part of an answer: says words, makes a gesture, executes a deed, or refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keepsake.agent.acting.acts import Act, Basis, Carried
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.surroundings.people import people_near, persons_near
from keepsake.agent.turns.abilities import available_verbs
from keepsake.agent.turns.answers.errand import (
    NOT_FOR_OTHERS,
    errand_at,
    errand_of,
    read_words,
    why_unsaid,
)
from keepsake.agent.turns.consent.passing import carried_by, pass_on, say_as_asked
from keepsake.agent.turns.consent.question import leave_for
from keepsake.agent.turns.consent.wanted import WordsFor, all_words
from keepsake.agent.turns.context import secrecy, speaks_to
from keepsake.agent.turns.state import Turn
from keepsake.archive.message_types import MessageType
from keepsake.events.values import GuardOp
from keepsake.happening import KnownVerb, Person, Result
from keepsake.prompt.verbs import PRIVATE, Command, Options, Verb
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.deed import read_deed
from keepsake.tasks.guard import SpeechFault, SpeechGuard


class Doing:
    """Does the parts of one answer, each where and when the agent is.

    Args:
        guard: Checks the words; None for words by rule, and for deeds alone.

    Attributes:
        context: Whom the answer is to. It changes where a walk ends.
    """

    def __init__(self, turn: Turn, guard: SpeechGuard | None) -> None:
        self.context = turn.context
        self._turn = turn
        self._guard = guard
        self._state = turn.attempt
        self._tools = turn.tools
        self._actor = turn.actor

    async def pass_on(
        self, part: AnswerPart, wanted: WordsFor, behind: Sequence[AnswerPart]
    ) -> Act | None:
        """Say words to somebody who does not know what the prompt held, if that is allowed.

        Args:
            part: The part that says them.
            behind: The parts of the answer that follow it.
        """
        leave = await leave_for(self._turn, wanted, all_words(wanted, behind))
        if wanted.aloud and (leave is None or leave.tells):
            return self.act(part)  # another prompt, for others, finds the words anew
        if leave is None:
            self._turn.hides_replies = True
            return self.act(part)
        if self._has_gone(wanted.to):  # while the model was asked
            to = wanted.to.name
            return self.refused(wanted.verb, f"You did not say your words to {to}: {to} has gone")
        if self._tells_secret(wanted.words, aloud=wanted.aloud):
            return Act(None, SpeechFault.SECRET)
        whispers = wanted.verb == KnownVerb.WHISPER
        is_aloud = wanted.aloud and not whispers
        if not whispers and (fault := self._fault(wanted.words, aloud=is_aloud, to=wanted.to)):
            return Act(None, fault, is_step=fault != SpeechFault.JUST_SAID)
        if wanted.aloud:
            return say_as_asked(self._turn, wanted)
        return pass_on(self._turn, wanted, leave)

    def act(self, part: AnswerPart) -> Act | None:
        """Do a part; return None if its words were refused."""
        private = self._tools.memory.private
        whispered, confided = secrecy(
            self._turn.agent, self.context, private, holds=self.holds_private
        )
        match part.kind:
            case PartKind.DEED:
                return self._do_deed(part, whispered=whispered, confided=confided)
            case PartKind.EMOTE:
                return self._gesture(part, whispered=whispered)
            case PartKind.SPEECH:
                to = self.context.partner
                if to is None and not whispered:
                    window = self._tools.memory.memory.context().window
                    to = speaks_to(self._turn.agent, self.context, window)
                return self._speak(part, to, whispered=whispered)

    def _speak(self, part: AnswerPart, partner: Person | None, *, whispered: bool) -> Act | None:
        """Say plain words to a person, or to all; return None if they were refused."""
        state = self._state
        fault = self._fault(part.text, aloud=not whispered, to=partner)
        if fault == SpeechFault.JUST_SAID:  # what is done with it may still be to be done
            return Act(None, fault, is_step=False)
        if fault:
            self.log_guard(GuardOp.DROPPED if state.acts else GuardOp.REFUSED, part, fault)
            state.fault = fault
            return None
        if partner is not None and self._has_gone(partner):
            return self._left_unsaid(part.text, partner)
        if (whispered and partner is None) or self._is_untold(partner):
            return self.refused(KnownVerb.SAY, f"You did not say it: {NOT_FOR_OTHERS}")
        return self._actor.speak(
            self._turn.agent,
            part.text,
            partner,
            whispered=whispered,
            event="" if self._guard else MessageType.COURTESY,
            reason=part.reason,
            basis=self._basis_of_plain(partner, whispered=whispered),
        )

    def _left_unsaid(self, words: str, partner: Person) -> Act:
        """Plan to say words that are for somebody else by now, if that was asked for; else refuse.

        Args:
            partner: Who was answered, and is not here.
        """
        state = self._state
        journey = state.journey
        if journey is not None:
            whom = journey.person
            errand = (
                self._as_errand(f"{KnownVerb.TALK} {whom.name} = {words}")
                if whom is not None
                else self._as_errand_here(words)
            )
            if errand is not None:
                return errand
        walked = journey is not None and bool(self.holds_private)
        why = NOT_FOR_OTHERS if walked else f"{partner.name} has gone"
        return self.refused(KnownVerb.SAY, f"You did not say it: {why}")

    def _is_untold(self, person: Person | None) -> bool:
        """Return whether somebody does not know all that the prompt held in private."""
        known = self._state.basis.confidants
        if person is None or known is None or not self.holds_private:
            return False
        return person.id not in known

    def _near(self, name: str) -> Person | None:
        """Return the person here whom the agent knows by that name; None for nobody."""
        return next((x for x in persons_near(self._turn.agent) if x.name == name), None)

    def _has_gone(self, person: Person) -> bool:
        """Return whether a person whose identity is known is not here any more."""
        near = map(identity_of, people_near(self._turn.agent))
        return bool(person.id) and person.id not in near

    def _gesture(self, part: AnswerPart, *, whispered: bool) -> Act:
        """Do a gesture, unless the scene has changed or others would see what is private."""
        agent = self._turn.agent
        if self._state.place is not None and agent.location is not self._state.place:
            return Act(None, "You are somewhere else by now", is_step=False)
        partner = self.context.partner
        others = (
            each for each in people_near(agent) if not partner or identity_of(each) != partner.id
        )
        seen = whispered and any(others)
        seen = seen or any(map(self._is_untold, persons_near(agent)))
        if seen and self._guard is not None:
            return Act(None, "A gesture would show others what was whispered", is_step=False)
        if self._tells_secret(part.text):
            return Act(None, SpeechFault.SECRET, is_step=False)
        gesture = Command(KnownVerb.EMOTE, part.text, part.reason, words=part.text)
        if self._guard is None:  # by rule, it is the answer, and tells nothing
            event = MessageType.COURTESY
            return self._actor.do(agent, gesture, partner, event=event, basis=self._state.basis)
        return self._actor.do(agent, gesture, basis=self._state.basis)

    def _do_deed(self, part: AnswerPart, *, whispered: bool, confided: bool) -> Act | None:
        """Execute a line of the answer that begins with ``>``; return None for refused words."""
        agent = self._turn.agent
        able = self.able
        read = read_deed(part.text, *able)
        if isinstance(read, Command):
            failed = next(filter(None, (act.failure for act in self._state.acts)), "")
            if read.verb == KnownVerb.DONE and failed:
                told = f"You did not end the plan, because this was not done: {failed}"
                return self.refused(read.verb, told)
            if read.verb == KnownVerb.WAIT and read.words and failed:  # nobody comes for that
                return Act(None, "You did not wait: what you would wait for has failed")
            if fault := self._fault_of_words(read):
                return Act(None, fault, is_step=fault != SpeechFault.JUST_SAID)
            if read.verb not in PRIVATE and self._deed_tells_secret(read):
                return Act(None, SpeechFault.SECRET)
            basis = self._basis_of(read)
            return self._actor.do(agent, read, basis=basis, confided=confided)
        if confided and read.verb == KnownVerb.TALK and read.verb not in self._tools.withheld:
            words = read_words(part.text, able[1].people)
            if words is not None:  # to somebody who may know what the answer says
                spoken = replace(part, text=words.words, reason=words.reason)
                return self._speak(spoken, self._near(words.to), whispered=whispered)
        errand = self._as_errand(part.text)
        if errand is not None:
            return errand
        why = why_unsaid(part.text, read.verb, agent, self._tools) if confided else read.reason
        return self.refused(read.verb, why)

    def _basis_of(self, read: Command) -> Basis:
        """Return what a deed rests on: an open errand's whisper is known to who asked for it."""
        basis = self._state.basis
        person = self._near(read.to) if read.verb == KnownVerb.WHISPER else None
        if person is None or basis.confidants is not None:
            return basis
        return replace(basis, carried=carried_by(self._turn, person, read.words))

    def _basis_of_plain(self, partner: Person | None, *, whispered: bool) -> Basis:
        """Return what plain words rest on: an answer to carried words is for who sent them, too."""
        basis = self._state.basis
        errand = self.context.errand
        is_answer = partner is not None and partner.id == basis.partner and whispered
        if not (errand and is_answer and self._state.writes_deeds) or self._guard is None:
            return basis
        return replace(basis, carried=Carried(errand))

    @property
    def able(self) -> tuple[tuple[Verb, ...], Options]:
        """The verbs that the agent may use now, and what their words may name."""
        agent = self._turn.agent
        return available_verbs(agent, self.context, self._tools, holds=self.holds_private)

    def verb_of(self, part: AnswerPart) -> str:
        """Return the verb of a deed, as it is understood now."""
        return read_deed(part.text, *self.able).verb

    @property
    def holds_private(self) -> bool | None:
        """Whether the prompt held private words; None for an answer by rule, which has none."""
        return None if self._guard is None else self._state.basis.confidants is not None

    def _as_errand(self, line: str) -> Act | None:
        """Make a plan to say words that cannot be said now; None if there is no such plan."""
        return self._planned(errand_of(line, self._turn.agent, self._tools, self._state.basis))

    def _as_errand_here(self, words: str) -> Act | None:
        """Make a plan to say words here that cannot be said now; None if there is no such plan."""
        agent = self._turn.agent
        place = place_of(agent)
        return self._planned(errand_at(place, words, agent, self._tools, self._state.basis))

    def _planned(self, errand: Command | None) -> Act | None:
        """Make a plan of an errand, unless the answer has made one: then it is that one's step."""
        if errand is None or self.plans_made:
            return None
        basis = self._state.basis
        return self._actor.do(self._turn.agent, errand, basis=basis, confided=True)

    @property
    def plans_made(self) -> set[int]:
        """The numbers of the memories of the plans that the answer has made."""
        done = [(act.command, act.memory_number) for act in self._state.acts]
        return {n for command, n in done if command is not None and command.verb == KnownVerb.PLAN}

    def refused(self, verb: str, told: str) -> Act:
        """Remember that a deed was refused, and why."""
        agent = self._turn.agent
        basis = self._state.basis
        known = basis.confidants
        if known is not None and not known:  # nobody knows all; it tells nothing of it
            known = self._state.impulse.confided or basis.audience
        self._tools.memory.remember(
            Result(verb=verb, done=False, shown=told),
            place=place_of(agent),
            witnesses=None if known is None else tuple(sorted(known)),
        )
        return Act(None, told)

    def _fault(self, words: str, *, aloud: bool = True, to: Person | None = None) -> str:
        """Return why the guard refuses words; empty if it does not.

        Args:
            aloud: Whether others hear them.
            to: To whom they are said; None for everybody.
        """
        if self._guard is None:
            return ""
        aloud = aloud and not self._may_confide(to)
        return self._guard.fault(words, aloud=aloud, to=to.key if to is not None else "")

    def _fault_of_words(self, read: Command) -> str:
        """Return why the guard refuses the words of a deed; empty if it does not, or it has none.

        Of a whisper, only whether it has just been whispered.
        """
        if read.verb not in (KnownVerb.TALK, KnownVerb.WHISPER):
            return ""
        is_whisper = read.verb == KnownVerb.WHISPER
        fault = self._fault(read.words, aloud=not is_whisper, to=self._near(read.to))
        return fault if not is_whisper or fault == SpeechFault.JUST_SAID else ""

    def _may_confide(self, to: Person | None) -> bool:
        """Return whether nobody else hears what is said to a person, by a model to be trusted.

        Some personas say to whom a secret may be told; a model that keeps others' secrets decides
        that. One that does not would recite it to whoever asks.
        """
        if to is None or [each.id for each in persons_near(self._turn.agent)] != [to.id]:
            return False
        return self._turn.services.secret_trial.is_passed

    def _tells_secret(self, words: str, *, aloud: bool = True) -> bool:
        """Return whether the guard finds a secret of the persona in words."""
        return self._guard is not None and self._guard.gives_away(words, aloud=aloud)

    def _deed_tells_secret(self, read: Command) -> bool:
        aloud = read.verb != KnownVerb.WHISPER and not self._may_confide(self._near(read.to))
        return self._tells_secret(read.words, aloud=aloud)

    def log_guard(self, op: GuardOp, part: AnswerPart, reason: str) -> None:
        """Log that a part was changed or not carried out."""
        self._turn.thoughts.guard(self._state.impulse, op, part.text, reason)
