"""Which plans a prompt shows, and how, and which an answer may name: quick, on plain data."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience, is_redacted
from keepsake.archive.records import Memory
from keepsake.archive.transcript import day_and_time
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan, PlanState
from keepsake.happening import KnownVerb, PersonId, Result
from keepsake.language.perception import names, shorten
from keepsake.prompt.verbs import PRIVATE

MOST_STEPS = 8
"""The most acts for a plan that a prompt repeats: an errand has three to five steps."""
_LONGEST_STEP = 60
"""The most characters of such an act, and of the text of an open plan."""
_NO_STEPS = PRIVATE | {KnownVerb.EMOTE, KnownVerb.LOOK, KnownVerb.EXAMINE}
"""Verbs of acts that change nothing in the world, so that no step of a plan is done by them."""
SAME_ANSWER = 10
"""The most memories between a promise and a plan of one answer: its words, deeds and results."""
RECENTLY = timedelta(hours=36)
"""How long a prompt says that a plan was missed."""


@dataclass(frozen=True, slots=True)
class Known:
    """Which plans and promises a tool call may name: those that its prompt showed.

    Attributes:
        audience: Who hears the answer; what others confided is not among them.
        plan: The number of the plan that is the reason for the answer; 0 for another reason.
        partner: The identity of who is answered; empty for nobody.
        named: The identities of those whom the words that are answered name.
    """

    audience: Audience = NO_PRIVATE_WORDS
    plan: int = 0
    partner: PersonId = ""
    named: tuple[PersonId, ...] = ()

    def has_plan(self, plan: Plan) -> bool:
        """Return whether the prompt showed a plan."""
        return plan.number == self.plan or plan.as_known_to(self.audience) is not None

    def shown(self, plan: Plan) -> Plan:
        """Return a plan as the prompt showed it."""
        return plan.as_known_to(self.audience) or plan

    def may_end(self, plan: Plan) -> bool:
        """Return whether a plan may be ended by its number, although others hear the answer.

        That tells them nothing. But who neither may know of a plan, nor is its person, nor speaks
        of one of these, has no say in it.
        """
        if not self.partner or plan.private is None:
            return True
        return plan.is_of((self.partner, *self.named))

    def means_unseen(self, plan: Plan, which: str) -> bool:
        """Return whether words name the person of a plan that the prompt only marked.

        It is a plan of who is answered, or of those of whom they spoke.
        """
        if plan.whom is None or self.has_plan(plan) or not names(which, plan.whom.name):
            return False
        return bool(self.partner) and plan.is_of((self.partner, *self.named))

    def told_of(self, plan: Plan) -> str:
        """Return what the result of ending a plan tells: its number alone if others may read it."""
        return self.shown(plan).short if self.has_plan(plan) else f"plan {plan.number}"


PUBLIC = Known()
"""The plans and promises of which everybody may know."""


def _place_in_time(plan: Plan) -> tuple[bool, float, int]:
    """Return the key that sorts plans by time; those without one come last."""
    return plan.at is None, plan.at.timestamp() if plan.at else 0.0, plan.number


def shown_among(plans: Iterable[Plan], audience: Audience) -> tuple[Plan, ...]:
    """Return the plans that a prompt with this audience shows, in order of time.

    Each is as the audience may know it. Plans without a time come last, in the order in which they
    were made.
    """
    known = (each.as_known_to(audience) for each in plans)
    return tuple(sorted(filter(None, known), key=_place_in_time))


def missed_among(plans: Iterable[Plan], audience: Audience, now: datetime) -> tuple[Plan, ...]:
    """Return the plans that were missed lately, as the audience may know them."""
    since = now - RECENTLY
    missed = (
        each
        for each in plans
        if each.state is PlanState.MISSED and each.at is not None and each.at > since
    )
    return shown_among(missed, audience)


_STATES = {PlanState.DOING: " (begun)", PlanState.MISSED: " (missed)"}


def done_for(plan: Plan, window: Iterable[Memory]) -> tuple[str, ...]:
    """Return what the agent did while it was about a plan, and did not fail, the oldest first.

    Args:
        window: Memories as the audience of a prompt may know them.

    Returns:
        The newest :data:`MOST_STEPS` acts: ``> walk to The Quay``. Gestures are no steps, and words
        only if they are to somebody whom the plan names.
    """

    def is_for_it(act: Memory) -> bool:
        if act.said is None or not act.to:
            return True
        whom = plan.whom
        return names(plan.what, act.to) or (whom is not None and act.to == whom.name)

    memories = tuple(window)
    failed = {
        each.what.act for each in memories if isinstance(each.what, Result) and not each.what.done
    }
    steps = (
        f"> {shorten(each.text, _LONGEST_STEP)}"
        for each in memories
        if each.is_own
        and each.plan == plan.number
        and each.number not in failed
        and each.verb not in _NO_STEPS
        and not is_redacted(each)
        and is_for_it(each)
    )
    return tuple(deque(steps, maxlen=MOST_STEPS))


def promise_of(plan: Plan, made: Iterable[Commitment]) -> Commitment | None:
    """Return the promise that was made together with a plan, to its person; None without one.

    Of several it is that of which the plan reminds the agent, or else that which was made nearest.
    """
    promises = [each for each in made if each.kind is CommitmentKind.PROMISE]
    if (reminded := reminds_of(plan, promises)) is not None:
        return reminded

    def is_its(promise: Commitment) -> bool:
        together = abs(promise.number - plan.since) <= SAME_ANSWER
        is_with = plan.whom is not None and promise.key == plan.whom.id != ""
        return together and bool(promise.who) and (is_with or names(plan.what, promise.who))

    found = filter(is_its, promises)
    return min(found, key=lambda each: abs(each.number - plan.since), default=None)


def reminds_of(plan: Plan, made: Iterable[Commitment]) -> Commitment | None:
    """Return the promise of which a plan only reminds the agent, in its words; None without one."""
    for each in made:
        together = abs(each.number - plan.since) <= SAME_ANSWER
        same = plan.what == each.text.strip(" -*#>.")  # as a plan's words are read
        if each.kind is CommitmentKind.PROMISE and together and same:
            return each
    return None


def known_line_of(plan: Plan) -> str:
    """Return a plan without what changes while it is carried out, and without its memory."""
    return f"{plan.number}. {plan.line}"


def progress_of(plan: Plan, waits: str = "") -> str:
    """Return how far a plan is: ``2. row``, ``3. make the bed (begun) (you wait for Bob)``.

    ``waits``: What it waits for: ``for Bob``.
    """
    waiting = f" (you wait {waits})" if waits else ""
    what = shorten(plan.what, _LONGEST_STEP)
    return f"{plan.number}. {what}{_STATES.get(plan.state, '')}{waiting}"


def short_line_of(plan: Plan, done: Sequence[str]) -> str:
    """Return a plan with the beginning of what it says, and what was done; see :func:`line_of`."""
    return f"{plan.number}. {plan.told}{_STATES.get(plan.state, '')}{_steps(done)}"


def _steps(done: Sequence[str]) -> str:
    return f" (you did: {'; '.join(done)})" if done else ""


def line_of(plan: Plan, done: Sequence[str] = (), waits: str = "") -> str:
    """Return a plan as a prompt shows it: ``3. tomorrow 12:00, …: show her the ferry (begun)``.

    Args:
        done: What was done for it; see :func:`done_for`.
        waits: What it waits for: ``for Bob``.
    """
    since = f" (since memory {plan.since})" if plan.since else ""
    waiting = f" (you wait {waits})" if waits else ""
    return f"{plan.number}. {plan.line}{_STATES.get(plan.state, '')}{since}{_steps(done)}{waiting}"


def plain_line_of(plan: Plan) -> str:
    """Return a plan in plain words: ``Monday 30 November 2026, evening, 20:00, at …: meet Ada``."""
    at = plan.when.at if plan.when is not None else None
    if at is None:
        return plan.line
    rest = replace(plan, when=None)
    mark = ", " if rest.appointment else ": "
    return f"{day_and_time(at)}, {at.astimezone():%H:%M}{mark}{rest.line}"


def lines_of(plans: Sequence[Plan], waits: Mapping[int, str] = {}) -> tuple[str, ...]:
    """Return each plan as :func:`line_of` does.

    ``waits``: What plans wait for, by number.
    """
    return tuple(line_of(each, waits=waits.get(each.number, "")) for each in plans)
