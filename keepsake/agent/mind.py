"""One agent's mind: it creates the agent's components and starts them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from twisted.internet.defer import Deferred

from keepsake.agent.acting.actor import Actor
from keepsake.agent.acting.acts import Basis
from keepsake.agent.acting.walker import Walker
from keepsake.agent.acting.walks import Walks
from keepsake.agent.attention.impulse import IDLE, Impulse, ImpulseKind
from keepsake.agent.body import AgentRef, Body
from keepsake.agent.memory.books import Books
from keepsake.agent.memory.compacting import Compactions
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.recaller import Recaller
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans.appointments import Appointments
from keepsake.agent.plans.errands import Errands, words_of
from keepsake.agent.plans.plans import Plans
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night import Nights
from keepsake.agent.sleep.night_tasks import NightFacts, NightWork
from keepsake.agent.sleep.sleeper import Sleeper
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of, place_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.surroundings.routes import place_names
from keepsake.agent.thinker import Thinker
from keepsake.agent.turns.aside import AsideAnswer, ask_aside
from keepsake.agent.turns.plan_steps import is_about_to_answer
from keepsake.agent.turns.prompts.prompting import Exchange, preview
from keepsake.agent.unprompted.pair_talk import TalkOfTwo
from keepsake.archive.message_types import MessageType
from keepsake.books.persona import open_lines
from keepsake.books.plan import Plan
from keepsake.errors import KeepsakeError
from keepsake.happening import Person, PersonId
from keepsake.language.perception import names
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.prompt.sections import Rendered
from keepsake.tasks.stated import NOTHING_STATED
from keepsake.tasks.stated_file import keep_stated, read_stated

log = get_logger(Subsystem.BOOKS)

type ActionResult = tuple[bool, str]
"""Whether the command changed anything, and a message for the builder."""


class Mind:
    """The components of one agent, connected to each other. :meth:`begin` starts them.

    Attributes:
        opening: Whether a worker thread is still to open the memory. The memory can be used all
            the same: its first use opens it, or waits for the thread that does.
        closed: Whether :meth:`close` was called.
    """

    def __init__(self, ref: AgentRef, services: Runtime) -> None:
        self.opening = True
        self.closed = False
        self._kept = NOTHING_STATED  # what the file has of the facts that prompts have told
        self._when_open: list[Callable[[], object]] = []
        self.memory_id = ""
        self.workers = services.workers
        self._ref = ref
        books = Books(ref, services)
        self.books = books
        memory = MemoryComponent(ref, books, services)
        self.memory = memory
        self.compactions = Compactions(ref, memory, services)
        recaller = Recaller(ref, books.notes, memory, services)
        tools = MemoryTools(memory, books, recaller, self.compactions, services)
        self.tools = tools
        self.actor = Actor(memory, tools)
        self.walker = Walker(ref.body, services.scheduler)
        self.thinker = Thinker(ref, tools, self.actor, services, lambda: self.walker.walking)
        self.presence = self.thinker.presence
        work = NightWork(memory, books, services)
        self._night_work = work
        nights = Nights(
            ref.name, work.tasks, services, self._prepare_night, after_talk=work.after_talk
        )
        self.sleeper = Sleeper(memory, self.thinker, self.walker, nights, services)
        self.walks = Walks(self.thinker, self.walker, self.actor, tools)
        self.plans = Plans(
            ref.name, books.plans, services, self.thinker.begin_plan, self.walks.seconds_to
        )
        self.appointments = Appointments(
            books,
            self.plans,
            services,
            place=self._place,
            is_here=self._is_here,
            walk=self.walks.go_to,
            speak=self._speak_by_rule,
        )
        self._errands = Errands(
            self.plans, is_here=self._is_here, walk=self.walks.go_to, say=self._say_for_plan
        )
        tools.appointments = self.appointments
        self.thinker.keep_by_rule = self._keep_by_rule
        self.plans.is_by_rule = self._is_by_rule
        self.thinker.unprompted.begin_talk = self._begin_talk
        self._services = services
        self._talk: TalkOfTwo | None = None
        tools.plans = self.plans
        self.plans.set_off = self.walks.set_off
        self.plans.meetings.is_known = lambda name: any(
            names(x.name, name) for x in tools.people_known
        )
        self.plans.steps.is_asked = self._is_asked
        self.actor.walk = self.walks.begin

    def begin(self) -> None:
        """Open the memory in a worker thread; then resume thoughts that players still wait for."""
        self.workers.submit(self._open)

    def when_open(self, call: Callable[[], object]) -> None:
        """Call a function once the memory is open, or could not be opened; on the reactor thread.

        It is called at once if that is so already, and never if the mind is closed before.
        """
        if self.opening:
            self._when_open.append(call)
        else:
            call()

    def _open(self) -> None:
        """Read what thoughts need from the disk; in a worker thread."""
        self.tools.stated = self._kept = read_stated(self.memory.folder)
        with logged(log, "The memory could not be opened", agent=self.memory.name):
            if self.memory.open():
                self.memory.memory.window.leave_out_asides(*self._kept.asides_through)
            self.books.read_for_thoughts()
        self._services.post(self._opened)

    def _opened(self) -> None:
        """Answer who waits, and start the plans, now that the memory is open."""
        if self.closed:
            return
        self.opening = False
        self.compactions.opened()
        self.thinker.resume_unanswered()
        self.plans.start()
        for call in self._when_open:
            call()
        # Only now, so that the memories of other agents are opened first.
        self.workers.submit(self.read_edits)

    def read_edits(self) -> None:
        """Read files that a person has edited, and update the pages of people.

        Called every minute in a worker thread; blocks, never raises.
        """
        if self.closed:
            return
        name = self.memory.name
        self._keep_stated()
        self.memory.read_private()
        with logged(log, "The edited files could not be read", agent=name):
            self.books.read_edits()
        if not self.memory.open():
            return  # it has said why
        with logged(log, "Changed plans could not be recorded", agent=name):
            self.books.plans.record_changes(self.memory.memory.archive.backwards)
        told = "The pages of people could not be updated"
        with logged(log, told, agent=name, subsystem=Subsystem.PEOPLE):
            self.books.update_people(self.memory.memory.archive)

    def _keep_stated(self) -> None:
        """Write what prompts have told, if that has changed, for the next start; blocks."""
        stated = self.tools.stated
        if stated is not self._kept:
            with logged(log, "What prompts have told could not be kept", agent=self.memory.name):
                keep_stated(self.memory.folder, stated)
                self._kept = stated

    def _prepare_night(self) -> None:
        """Read what the night's tasks need of the game."""
        if (agent := self.thinker.body()) is not None:
            profile = str(agent.db.profile or "")
            self._night_work.facts = NightFacts(
                " ".join(open_lines(profile)), str(agent.usual_day()), place_names(agent)
            )

    def _is_asked(self, who: PersonId) -> bool:
        """Return whether another agent here is about to answer this one."""
        agent = self.thinker.body()
        return agent is not None and is_about_to_answer(agent, who)

    # -- what appointments that are kept by rule need

    def _place(self) -> str:
        agent = self.thinker.body()
        return place_of(agent) if agent is not None else ""

    def _is_here(self, person: Person) -> bool:
        agent = self.thinker.body()
        near = people_near(agent) if agent is not None else ()
        return any(identity_of(each) == person.id for each in near)

    def _speak_by_rule(self, words: str, person: Person) -> None:
        """Say a stock phrase to a person, whose words count as answered then."""
        agent = self.thinker.body()
        if agent is not None:
            self.actor.speak(agent, words, person, event=MessageType.COURTESY)
            self.thinker.answered(person.id)

    def _say_for_plan(self, words: str, person: Person, *, plan: int) -> None:
        """Say what a plan says, as the agent's own words, which may get an answer."""
        agent = self.thinker.body()
        if agent is not None:
            self.actor.speak(agent, words, person, basis=Basis(plan=plan))

    def _is_by_rule(self, plan: Plan) -> bool:
        """Return whether a rule carries out a plan: the model cannot act, or only talks."""
        services = self._services
        if not services.acts_unprompted:
            return True
        return services.secret_trial.is_failed and bool(words_of(plan))

    def _keep_by_rule(self, plan: Plan) -> None:
        """Go on with a plan by rule: an errand, or else an appointment."""
        if not self._errands.keep(plan):
            self.appointments.keep(plan)

    def _begin_talk(self, body: Body) -> bool:
        """Begin a talk with another agent who is here; return whether it was begun."""
        other = body.mind
        if not isinstance(other, Mind) or other is self or not TalkOfTwo.may_begin(self, other):
            return False
        me = self.thinker.body()
        if me is None or self.thinker.unprompted.talks_to or other.thinker.unprompted.talks_to:
            return False

        def ended() -> None:
            self._talk = None
            for mind in (self, other):
                mind.thinker.talk_with(None)

        talk = TalkOfTwo(self, other, self._services, ended)
        try:
            if not talk.start():
                return False
        except KeepsakeError as error:
            log.warning("A talk could not begin", agent=self.memory.name, exc_info=error)
            return False
        self._talk = talk
        self.thinker.talk_with(body)
        other.thinker.talk_with(me)
        return True

    # -- questions of builders, researchers and the dashboard

    def preview(
        self, agent: Body, partner: CharacterObject | None = None, words: str = ""
    ) -> Deferred[tuple[Rendered, int]]:
        """Build the prompt of the agent's next thought, with its token budget, after recall.

        The result fails with a KeepsakeError if the memory or a template cannot be read, or no
        model can be asked.

        Args:
            partner: Who says ``words`` to it; None for an unprompted thought.
        """
        impulse = IDLE
        if partner is not None:
            who = identity_of(partner)
            impulse = Impulse(ImpulseKind.ADDRESSED, True, name_of(partner, agent), source_id=who)
        tools = self.tools
        return Deferred.fromCoroutine(preview(agent, impulse, words, tools, self._services))

    def ask_aside(
        self,
        question: str,
        without: Collection[int] = (),
        before: Sequence[Exchange] = (),
        by: Person | None = None,
    ) -> Deferred[AsideAnswer]:
        """Ask the agent a question outside the game, of which it will know nothing.

        Args:
            without: The numbers of memories to leave out of its prompt.
            before: What was asked and answered before in the same talk.
            by: As whom to ask; None for a stranger, to whom nothing private is told.

        The result fails with a KeepsakeError; see :func:`keepsake.agent.turns.aside.ask_aside`.
        """
        tools = self.tools
        asked = ask_aside(self._ref, question, tools, self._services, without, before=before, by=by)
        return Deferred.fromCoroutine(asked)

    # -- commands

    def pause(self, agent: Body) -> ActionResult:
        """Pause the agent: it perceives and remembers, but does not think."""
        if agent.db.paused:
            return False, f"{agent.key} is paused already"
        agent.db.paused = True
        return True, f"{agent.key} is paused: it perceives and remembers, but does not think"

    def resume(self, agent: Body) -> ActionResult:
        """Resume thinking after :meth:`pause`."""
        if not agent.db.paused:
            return False, f"{agent.key} is not paused"
        agent.attributes.remove("paused")
        self.thinker.answer_waiting()
        self.thinker.schedule()
        return True, f"{agent.key} thinks again{', once it wakes' if agent.db.asleep else ''}"

    def put_to_bed(self, agent: Body, who: str) -> ActionResult:
        """Send the agent home to sleep; ``who`` is the person who asked."""
        sleeper = self.sleeper
        if sleeper.asleep:
            return False, f"{agent.key} is asleep already"
        sleeper.go_to_bed(f"{who} said so")
        if sleeper.asleep:
            return True, f"{agent.key} sleeps"
        where = f", to {agent.home.key}" if agent.home is not None else ""
        return True, f"{agent.key} goes home to sleep{where}"

    def wake(self, agent: Body, who: str) -> ActionResult:
        """Wake the agent as rested as after a whole night, or stop it on its way to bed."""
        still = "; it is still paused, and does not think" if agent.db.paused else ""
        if self.sleeper.wake(who, rested=True):
            return True, f"{agent.key} wakes up{still}"
        if self.walker.is_going_to_bed:
            self.walker.stop()
            return True, f"{agent.key} stays up{still}"
        return False, f"{agent.key} is awake{still}"

    def close(self) -> None:
        """Stop thinking, and write the memory to disk."""
        self.closed = True
        if self._talk is not None:
            self._talk.stop()
        self.walks.close()
        self.plans.close()
        self.thinker.close()
        self.sleeper.close()
        self.books.closed = True
        self._keep_stated()
        self.memory.close()
