"""Executes an agent's command in the world, and records it as a memory.

An agent acts like a player: :meth:`Actor.do` archives the act, and then types the game's command,
such as ``talk Tom Good evening``. The command shows its line to everybody in the room. Players read
it; other agents get it by their ``msg``, which finds in :attr:`Actor.current` what the act is.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import succeed
from twisted.python.failure import Failure

from keepsake.agent.acting.acts import NO_BASIS, Act, Basis, CurrentAct
from keepsake.agent.acting.happening_ids import new_id
from keepsake.agent.acting.journey import Journey
from keepsake.agent.acting.what_is_done import facts_for_others, memories_behind, what_is_done
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans.shown_plans import Known
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of, place_of, spellings_of
from keepsake.agent.surroundings.people import find_person, people_near, persons_near
from keepsake.agent.surroundings.routes import persons_in_reach, place_names
from keepsake.archive.records import MemoryFacts, MemoryKind
from keepsake.books.plan_deeds import Seen
from keepsake.happening import (
    ME,
    Deed,
    KnownVerb,
    Manner,
    Person,
    PersonId,
    Pose,
    Result,
    Speech,
    What,
    addressees_of,
)
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.prompt.verbs import PRIVATE, Command, find_named
from keepsake.tasks.deed import spoken_to

log = get_logger(Subsystem.ACTING)


class Actor:
    """Executes the commands of one agent.

    Attributes:
        leader: The database number of the character that it follows; None if it follows nobody.
        current: What the game carries out now; None if that is nothing.
        unheard: How many spoken acts did not reach anybody since the server started.
    """

    def __init__(self, memory: MemoryComponent, tools: MemoryTools) -> None:
        self.leader: int | None = None
        self._memory = memory
        self._tools = tools
        self.current: CurrentAct | None = None
        self.unheard = 0
        # Starts a walk to the place or person that words name; returns it, or why there is none.
        self.walk: Callable[[Body, str, int], Journey | str] = lambda *_: "there is no way"

    def speak(
        self,
        agent: Body,
        words: str,
        partner: Person | None,
        *,
        whispered: bool = False,
        event: str = "",
        reason: str = "",
        basis: Basis = NO_BASIS,
    ) -> Act:
        """Say words to somebody. The words are always speech, never parsed as a command.

        Args:
            partner: To whom; None for everybody here.
            whispered: Whether only the partner may hear them.
            event: The ``event`` of a stock phrase; empty for the agent's own words.
            reason: The agent's private reason.
            basis: What the answer rests on.
        """
        if whispered and partner is None:
            return Act(None, "Others are here, and may not hear it")
        here = persons_near(agent)
        # By the present name: the partner may have another one since the prompt was built, and
        # somebody else the partner's.
        now = next((each for each in here if partner and partner.is_same(each)), None)
        if whispered and partner is not None:
            if now is None:
                return Act(None, f"{partner.name} has gone, and nobody else may hear it")
            command = spoken_to(KnownVerb.WHISPER, now.name, words, reason)
        else:
            command = Command(KnownVerb.SAY, words, reason, words=words)
        return self.do(agent, command, now or partner, event=event, basis=basis)

    def do(
        self,
        agent: Body,
        command: Command,
        to: Person | None = None,
        *,
        event: str = "",
        basis: Basis = NO_BASIS,
        confided: bool = False,
        passed: MemoryFacts | None = None,
    ) -> Act:
        """Execute a command, under the same rules as a player's.

        Args:
            to: The addressee of words that name none; None if there is none.
            event: The ``event`` of a stock phrase; empty for the agent's own words.
            basis: What the answer rests on.
            confided: Whether it may hold whispered words. Then search words are not archived.
            passed: For words that pass something on: the memories behind it, as in
                :attr:`Memory.chain` and :attr:`Memory.origins`. Everybody who hears them keeps it.
        """
        if command.verb == KnownVerb.WAIT:
            return Act(command)
        what = what_is_done(agent, command, to)
        hidden = confided and command.verb != KnownVerb.WHISPER
        redact = command.words if hidden and command.verb == KnownVerb.RECALL else ""
        if redact:
            what = Deed(actor=ME, verb=command.verb, shown=f"{command.verb} …")
        witnesses = self._witnesses(agent, command, what, basis)
        happening = new_id()
        facts = facts_for_others(passed or MemoryFacts(), basis)
        # Archive the act before its execution, because its results are archived too.
        number = self._remember(
            agent,
            what,
            basis,
            happening=happening,
            reason="" if hidden else command.reason,
            event=event,
            witnesses=witnesses,
            passed=facts,
        )
        if command.verb in PRIVATE:
            return self._use_tool(
                agent,
                command,
                what,
                act=number,
                redact=redact,
                basis=basis,
                witnesses=witnesses,
            )
        if command.verb == KnownVerb.WALK:
            return self._begin_walk(agent, command, number, witnesses)
        addressees = addressees_of(what)
        addressee = find_person(agent, addressees[0].name) if addressees else None
        act = CurrentAct(command, what, number, happening, addressee, facts=facts, plan=basis.plan)
        return self._do_in_game(agent, act)

    def _remember(
        self,
        agent: Body,
        what: What,
        basis: Basis,
        *,
        happening: str,
        reason: str,
        event: str,
        witnesses: tuple[PersonId, ...] | None,
        passed: MemoryFacts,
    ) -> int:
        """Remember an act with what it rests on; return the number of the memory."""
        seen = basis.seen
        window = self._memory.memory.context().window if seen else ()
        # The answer does not cover perceptions that came after its prompt was built.
        late = any(m.number > seen and m.kind is MemoryKind.PERCEPTION for m in window)
        return self._memory.remember(
            what,
            place=place_of(agent),
            happening=happening,
            reason=reason,
            event=event,
            answers=seen if late else 0,
            plan=basis.plan,
            rests_on=memories_behind(what, basis, window),
            witnesses=witnesses,
            allowed_by=basis.allowed_by,
            errand=basis.carried.errand if basis.carried is not None else "",
            chain=passed.get("chain", ""),
            origins=passed.get("origins", ()),
        )

    def _use_tool(
        self,
        agent: Body,
        command: Command,
        what: What,
        *,
        act: int,
        redact: str,
        basis: Basis,
        witnesses: tuple[PersonId, ...] | None,
    ) -> Act:
        """Have the memory carry out a tool call; see :meth:`MemoryTools.perform`."""
        if command.verb == KnownVerb.PLAN:
            self._tools.commitments.places = place_names(agent)
            self._tools.commitments.in_reach = persons_in_reach(agent)
        if command.verb == KnownVerb.DONE:
            carried = {name_of(each, agent): spellings_of(each, agent) for each in agent.contents}
            window = self._memory.memory.context().window
            self._tools.commitments.seen = Seen(window, carried, self._tools.people_known)
        result = self._tools.perform(
            command,
            place_of(agent),
            act=act,
            to=what.to[0] if isinstance(what, Deed) and what.to else None,
            redact=redact,
            seen=basis.seen,
            known=Known(basis.audience, basis.due, basis.partner, basis.named),
            witnesses=witnesses,
            aloud=basis.aloud,
        )
        return Act(command, result=result, memory_number=act)

    def _begin_walk(
        self,
        agent: Body,
        command: Command,
        number: int,
        witnesses: tuple[PersonId, ...] | None,
    ) -> Act:
        """Start a walk through several exits, or remember why there is no way."""
        begun = self.walk(agent, command.words, number)
        if isinstance(begun, Journey):
            return Act(command, memory_number=number, journey=begun)
        shown = f"You tried to walk to {command.words}: {begun}"
        refusal = Result(verb=KnownVerb.WALK, act=number, done=False, shown=shown)
        self._memory.remember(refusal, place=place_of(agent), witnesses=witnesses)
        return Act(command, memory_number=number)

    def _do_in_game(self, agent: Body, act: CurrentAct) -> Act:
        """Run the game's command for an act, as if the agent had typed it."""
        command = act.command
        self.current = act
        typed = self._game_command(agent, command, act.what)
        can_type = not isinstance(act.what, Speech) or _has_command(agent, typed.verb)
        # Words that cannot be typed have not arrived when the act ends, and are said by at_say.
        done = agent.execute_cmd(typed.line) if can_type else succeed(None)
        return Act(
            command, result=done.addBoth(self._end, agent, act), memory_number=act.memory_number
        )

    def _witnesses(
        self, agent: Body, command: Command, what: What, basis: Basis
    ) -> tuple[PersonId, ...] | None:
        """Return who else may know of an act; None for everybody.

        An act whose prompt held private words may hold them, too. A tool call is perceived by
        nobody, and so is a walk whose words name no place. Words and gestures are perceived by
        those who are here: if all of these are confidants, the act stays private. Any
        other deed is seen by all who are here.
        """
        confidants = basis.confidants
        if confidants is None and basis.carried is not None and basis.carried.senders:
            # Nothing private was in its prompt: who sent the agent may know what is whispered.
            return tuple(sorted({*basis.carried.senders, *(x.id for x in addressees_of(what))}))
        if confidants is None:
            confidants = self._memory.private.confidants_of(basis.rests_on)
        if confidants is None:
            return None
        near = frozenset(map(identity_of, people_near(agent)))
        is_private = command.verb in PRIVATE or bool(basis.allowed_by)
        if isinstance(what, Speech | Pose) and not basis.allowed_by:
            is_private = near <= confidants
        elif command.verb == KnownVerb.WALK:
            is_private = find_named(command.words, tuple(place_names(agent))) is None
        return tuple(sorted(confidants)) if is_private else None

    def _end(self, result: object, agent: Body, act: CurrentAct) -> None:
        """End an act. Words that did not arrive are said again in the game's own way."""
        if isinstance(result, Failure):
            told = "A command failed"
            log.error(told, agent=agent.key, command=act.command.line, exc_info=result.value)
        try:
            if not act.arrived and people_near(agent):
                self._say_again(agent, act)
        finally:
            self.current = None

    def _say_again(self, agent: Body, act: CurrentAct) -> None:
        """Say words by the game's ``at_say``; report it if nobody hears them then either."""
        assert isinstance(act.what, Speech)
        whisper = act.what.manner is Manner.WHISPER
        if not (whisper and act.addressee is None):  # nobody else may hear a whisper
            with logged(log, "Words could not be said by at_say", agent=agent.key):
                agent.say_by_hook(act.what.words, act.addressee, whisper=whisper)
        if act.arrived:
            return
        self.unheard += 1
        shown = "Your words did not reach anybody."
        verb = act.command.verb
        what = Result(verb=verb, act=act.memory_number, done=False, shown=shown)
        self._memory.remember(what, place=place_of(agent), happening=act.happening)
        told = f"The words of {agent.key} did not reach anybody: check its say, talk and at_say"
        log.error(told, agent=agent.key, place=place_of(agent))

    def _game_command(self, agent: Body, command: Command, what: What) -> Command:
        """Return the game's command that carries out an act."""
        to = addressees_of(what)
        match command.verb:
            case KnownVerb.SAY if to and to[0].id and _has_command(agent, KnownVerb.TALK):
                return spoken_to(KnownVerb.TALK, to[0].name, command.words)
            case KnownVerb.FOLLOW:
                if (leader := find_person(agent, command.to)) is not None:
                    self.leader = leader.id
                return Command(KnownVerb.EMOTE, f"goes with {command.to} from now on.")
            case KnownVerb.STAY:
                self.leader = None
                return Command(KnownVerb.EMOTE, "stays here.")
        return command


def _has_command(agent: Body, name: str) -> bool:
    """Return whether the agent's command set has a command."""
    return any(each == name for each in agent.cmdset.current or ())
