"""When the next step of a plan that was begun comes, and whose answer it waits for.

A step comes some seconds after the last one, or when somebody has answered, or has not for too
long. Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from keepsake.agent.plans.due import Due, Silence
from keepsake.agent.plans.pace import FruitlessSteps
from keepsake.agent.plans.pending_steps import PendingSteps
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plans import PlanBook
from keepsake.happening import Person, PersonId
from keepsake.language.perception import names
from keepsake.ports import Scheduler

STEP_SECONDS = 4.0
"""Seconds after a deed before a plan of several steps goes on, so that its result is perceived."""
ANSWER_SECONDS = 30.0
"""Seconds for which a plan waits for the answer of another agent: about two calls of a model, since
the other one may be in a thought. Without an answer the plan goes on."""
MOST_WAITS = 3
"""How many times more a plan waits for another agent that is about to answer. Its model may be
slow, players come first, and a step before that could only wait again."""
PLAYER_SECONDS = 90.0
"""Seconds for which a plan waits after words to a player, who reads, thinks and types. It goes on
sooner if the player leaves, or if the agent answers with a deed."""


class NextSteps:
    """The next step of an agent's plan that was begun.

    Args:
        book: The plans as a file.
        wake: Begins a thought about the step.

    Attributes:
        waits: What plans that were begun wait for, by number, as the agent wrote it: ``for Bob``.
            It is forgotten at a restart, after which each such plan goes on.
        resting: The numbers of the plans whose last step only waited, for nobody by name.
        whys: Why each plan goes on, or what came of its last step, by number.
        silences: Who had not answered when the last step of a plan was due, by number.
        is_asked: Returns whether another agent here is about to answer this one, by identity.
        fruitless: The steps that brought nothing new; after several the next one comes later.
        talks_with: The player to whom the agent has spoken for its plan, and who may answer; empty
            for nobody.
    """

    def __init__(self, book: PlanBook, scheduler: Scheduler, wake: Callable[[Due], None]) -> None:
        self._book = book
        self._wake = wake
        self._pending = PendingSteps(scheduler)
        self.is_asked: Callable[[PersonId], bool] = lambda _: False
        self.waits: dict[int, str] = {}
        self.resting: set[int] = set()
        self.whys: dict[int, str] = {}
        self.silences: dict[int, Silence] = {}
        self.fruitless = FruitlessSteps()
        self.talks_with: PersonId = ""
        self._awaited: PersonId = ""  # the agent whose answer a plan waits for; empty for none
        self._asked_for = 0  # the number of that plan
        self._asked = set[PersonId]()  # agents to whom the agent spoke since its last step
        # by plan: the agents who were asked or told something for it
        self._told: dict[int, set[PersonId]] = {}
        # by plan: the agents whose words went to it, or were answered for it
        self._heard: dict[int, set[PersonId]] = {}
        self._to_answer: dict[PersonId, Person] = {}  # whose words went to a step, still to be done

    @property
    def begun(self) -> Plan | None:
        """The plan that was begun and has not ended; None if there is none."""
        return next(iter(self._all_begun), None)

    @property
    def _all_begun(self) -> list[Plan]:
        """The plans that were begun and have not ended, in the order of the book."""
        return [each for each in self._book.current if each.state is PlanState.DOING]

    def close(self) -> None:
        """Let no step come any more."""
        self._pending.close()

    # -- when it comes

    def go_on(self, plan: Plan, why: str, *, at_pace: bool = False) -> None:
        """Think of the next step of a plan that was begun, once the last deed's result is known.

        Args:
            why: What was done for it.
            at_pace: Whether it comes no later although its last steps brought nothing new.
        """
        self._awaited = ""
        self.talks_with = ""
        self.whys[plan.number] = why
        seconds = STEP_SECONDS if at_pace else self._pause(plan, STEP_SECONDS)
        self._set(seconds, self._come, plan.number, why)

    def go_on_after_talk(self, plan: Plan, why: str, talk: Silence) -> None:
        """Think of the next step once a player has left, or after :data:`PLAYER_SECONDS`.

        Each answer to the player begins that time anew.

        Args:
            why: What was done for the plan.
            talk: The player.
        """
        self._awaited = ""
        self.talks_with = talk.person.id
        self.whys[plan.number] = why
        come = partial(self._come, plan.number, why, None, talk)
        self._pending.set(self._pause(plan, PLAYER_SECONDS), plan.number, come, yields=True)

    def go_on_after_wait(self, plan: Plan, why: str, awaited: Silence) -> None:
        """Think of the next step once another agent here speaks, or after :data:`PLAYER_SECONDS`.

        That agent may have nothing to answer, and a plan must not stop for ever.

        Args:
            why: What was done for it.
            awaited: The agent.
        """
        self._awaited = awaited.person.id
        self._asked_for = plan.number
        seconds = self._pause(plan, PLAYER_SECONDS)
        self._set(seconds, self._come, plan.number, why, None, awaited)

    def go_on_after_answer(self, plan: Plan, why: str, asked: Silence) -> None:
        """Think of the next step once an agent has answered, or after :data:`ANSWER_SECONDS`.

        Args:
            why: What was done for it.
            asked: The agent.
        """
        self._awaited = asked.person.id
        self._asked_for = plan.number
        self.whys[plan.number] = why
        seconds = self._pause(plan, ANSWER_SECONDS)
        self._set(seconds, self._come_unanswered, plan.number, why, asked, MOST_WAITS)

    def go_on_later(self, number: int, why: str = "you were interrupted") -> None:
        """Think of a step once more that was given up before anything of it was done.

        If the agent acts on the plan before that, its next step takes the place of this one.
        """
        seconds = self.fruitless.pause(number, ANSWER_SECONDS)
        self._set(seconds, self._come_again, number, why)

    def rest(self, due: Due, seconds: float) -> None:
        """Let the step of a plan that was begun come when the agent may think about plans again."""
        if due.plan.state is PlanState.DOING:
            seconds = max(seconds, STEP_SECONDS)
            self._set(seconds, self._come, due.plan.number, due.why)

    def wait(self, plan: Plan, words: str) -> None:
        """Record what a plan that was begun waits for: ``for Bob``. It goes on when he comes.

        ``words``: Empty if it waits for nothing any more.
        """
        self.waits.pop(plan.number, None)
        self.resting.discard(plan.number)
        if words:
            self.waits[plan.number] = words

    def set_present(self, present: Collection[PersonId]) -> None:
        """Go on with a plan if the player with whom the agent talked for it has gone."""
        plan = self.begun
        if plan is not None and self.talks_with and self.talks_with not in present:
            self.go_on(plan, "whom you talked with has gone", at_pace=True)

    def reach(self, due: Due) -> None:
        """Record why the agent is woken for a plan now, and who had not answered.

        A step of it that was still to come is this one.
        """
        self._pending.drop(due.plan.number)
        self.whys[due.plan.number] = due.why
        self.silences.pop(due.plan.number, None)
        if due.silence is not None:
            self.silences[due.plan.number] = due.silence

    def act(self) -> None:
        """Record that the agent acts on a plan now: nobody was asked for this step yet."""
        self._asked.clear()
        self._awaited = ""

    def _pause(self, plan: Plan, seconds: float) -> float:
        return self.fruitless.pause(plan.number, seconds)

    def _set(self, seconds: float, call: Callable[..., None], number: int, *given: object) -> None:
        """Let the next step of this plan, by its number, come after some seconds."""
        self._pending.set(seconds, number, partial(call, number, *given))

    def _come_unanswered(self, number: int, why: str, asked: Silence, waits: int) -> None:
        """Think of a step whose answer has not come; wait on for an agent that is about to answer.

        ``waits``: How many times more.
        """
        if waits and self.is_asked(asked.person.id):
            given = (why, asked, waits - 1)
            self._set(ANSWER_SECONDS, self._come_unanswered, number, *given)
        else:
            self._come(number, why, None, asked)

    def _come(
        self,
        number: int,
        why: str,
        person: Person | None = None,
        silence: Silence | None = None,
    ) -> None:
        self._awaited = ""
        self.talks_with = ""
        plan = self._book.current_of(number)
        if plan is not None and plan.state is PlanState.DOING:
            self._wake(Due(plan, why, person, silence))
        else:
            self.go_on_with_others()

    def _come_again(self, number: int, why: str) -> None:
        plan = self._book.current_of(number)
        if plan is not None:
            self._wake(Due(plan, why))
        else:
            self.go_on_with_others()

    def go_on_with_others(self) -> None:
        """Let a step of another plan come that was put aside: the last one waits, or has ended."""
        self._pending.take_up(STEP_SECONDS)

    # -- who is asked and who answers

    def answer(self, person: Person) -> bool:
        """Take in that an agent says something to this one; return whether its plan waits for it.

        Then the words are answered by the plan's next step. It comes after :data:`STEP_SECONDS`,
        because an answer has several sentences.
        """
        plan = self._waiting_for(person)
        if plan is None:
            return False
        self._heard.setdefault(plan.number, set()).add(person.id)
        self._to_answer[person.id] = person
        why = f"{person.name} has answered you"
        self.whys[plan.number] = why
        self._set(STEP_SECONDS, self._come, plan.number, why, person)
        return True

    def _waiting_for(self, person: Person) -> Plan | None:
        """Return the plan that waits for an agent's words, of several the newest; else None."""
        begun = self._all_begun
        named = [each for each in begun if names(self.waits.get(each.number, ""), person.name)]
        if named:
            return named[-1]
        asked_for = [each for each in begun if each.number == self._asked_for]
        is_awaited = bool(self._awaited) and self._awaited == person.id
        return next(iter([*asked_for, *begun]), None) if is_awaited else None

    def tells(self, plan: Plan, person: Person) -> bool:
        """Return whether words without a question are a step of a plan: the first to that person.

        The plan names them, as in ``tell Mira that …``. What is said to them later, and to others,
        needs no answer.
        """
        told = self._told.setdefault(plan.number, set())
        if person.id in told or not is_of(plan, person):
            return False
        told.add(person.id)
        return True

    def hears(self, person: Person) -> bool:
        """Return whether words without a question are the first of whom the plan is with.

        The plan that was begun names them, as in ``hear what Ruan has to say``. What they say later
        needs no answer.
        """
        plan = self.begun
        if plan is None or not is_of(plan, person):
            return False
        heard = self._heard.setdefault(plan.number, set())
        is_first = person.id not in heard
        heard.add(person.id)
        return is_first

    def take_to_answer(self) -> list[Person]:
        """Take out the agents whose words went to steps that may not have answered them."""
        people = list(self._to_answer.values())
        self._to_answer.clear()
        return people

    def keep_to_answer(self, person: Person) -> None:
        """Record again that an agent's words went to a step, which is still to come."""
        self._to_answer[person.id] = person

    def awaits_other_than(self, person: PersonId) -> bool:
        """Return whether the plan waits for the words of somebody else, whom it has spoken to."""
        awaited = self.talks_with or self._awaited
        return bool(awaited) and awaited != person

    def was_asked(self, person: PersonId) -> bool:
        """Return whether another agent was asked something for this step."""
        return person in self._asked

    def ask(self, person: PersonId) -> None:
        """Record that another agent is asked something for this step."""
        plan = self.begun
        if plan is not None:
            self._told.setdefault(plan.number, set()).add(person)
        self._asked.add(person)


def is_of(plan: Plan, person: Person) -> bool:
    """Return whether a plan is with a person, or its words name them."""
    is_with = plan.whom is not None and plan.whom.id == person.id
    return is_with or names(plan.what, person.name)
