"""What the prompt of a turn shows: memories, books, plans, and what is answered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.memory.present import present_talk
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.people import people_near, persons_near
from keepsake.agent.surroundings.sights import detail_named
from keepsake.agent.turns.abilities import invitation_to
from keepsake.agent.turns.context import TurnContext
from keepsake.agent.turns.prompts.excerpts import with_summaries
from keepsake.agent.turns.prompts.plans_shown import spoken_of_by, with_plans
from keepsake.agent.turns.prompts.setting import setting_of
from keepsake.agent.turns.waiting import NOTHING, Unanswered, came_after, unanswered
from keepsake.archive.privacy import NO_PRIVATE_WORDS, PrivateShown, is_redacted
from keepsake.archive.records import Memory
from keepsake.archive.transcript import day_and_time
from keepsake.happening import Result
from keepsake.language.perception import is_question
from keepsake.memory.types import MemoryContext
from keepsake.tasks.scene import Scene


def scene_of(
    agent: Body,
    context: TurnContext,
    tools: MemoryTools,
    now: datetime,
    *,
    extra: Sequence[Memory] = (),
    refused: str = "",
) -> Scene:
    """Collect what a turn's prompt shows, except what it recalls and what the agent can do.

    :func:`keepsake.agent.turns.prompts.recalling.with_recalled` and
    :func:`keepsake.agent.turns.prompts.setting.with_deeds` add that.

    Args:
        extra: Memories to show as the newest ones, for a preview or a warm-up.
        refused: Why the last answer was refused; empty at the first attempt.

    Raises:
        KeepsakeError: The memory cannot be read.
    """
    private = tools.memory.private.without(context.without)
    may = PrivateShown(private, context.audience)
    remembered = tools.memory.memory.context()
    window = _window_of(context, tools, remembered, now)
    window = (*window, *extra)
    invitation = invitation_to(tools, context)
    scene = setting_of(agent, context, now, withheld=tools.withheld)
    scene = with_summaries(scene, remembered)
    spoken_of = spoken_of_by(agent, context, tools)
    scene = with_plans(scene, context, tools, window, may, spoken_of=spoken_of)
    scene = _with_books(scene, agent, context, tools, may)
    scene = _with_answered(scene, agent, context, tools, window)
    return replace(
        scene,
        window=window,
        invitation=invitation.line if invitation is not None else "",
        found=_found_in(window, context.looked_up),
        private=tuple(sorted(may.numbers)),
        whispered=context.whispered,
        stated=tools.stated,
        moment=_moment(scene, window),
        refused=refused,
    )


def _window_of(
    context: TurnContext,
    tools: MemoryTools,
    remembered: MemoryContext,
    now: datetime,
) -> tuple[Memory, ...]:
    """Return the memories that the prompt shows word for word, without what is private."""
    shown = remembered.shown if tools.has_memory else present_talk(remembered.shown, now)
    private = tools.memory.private.without(context.without)
    known = private.heard_by(shown, context.audience)
    whole = {each.number: each for each in shown if each.number in context.replies}
    return tuple(whole.get(each.number, each) for each in known) if whole else known


def _with_answered(
    scene: Scene,
    agent: Body,
    context: TurnContext,
    tools: MemoryTools,
    window: Sequence[Memory],
) -> Scene:
    """Return the scene with the words that are answered.

    They are repeated at its end if something else that is answered came after them.
    """
    partner = context.partner
    passed_over = tools.memory.passed_over
    waiting = NOTHING
    late = False
    if partner is not None:
        if context.impulse.kind is not ImpulseKind.PLAN:
            waiting = unanswered(window, context.impulse, passed_over, partner)
        late = came_after(window, waiting, partner)
    return replace(
        scene,
        passed_over=frozenset(passed_over),
        words=waiting.words if late else "",
        asked="" if late else waiting.words,
        detail=detail_named(agent, waiting.words),
        earlier=waiting.memories[-1].line if late and waiting.memories else "",
        answers=_answered(tools, context, waiting),
        also=_questions_of_others(agent, context, passed_over, window),
    )


def _questions_of_others(
    agent: Body, context: TurnContext, passed_over: Collection[int], window: Sequence[Memory]
) -> tuple[str, ...]:
    """Return the open questions of those here whom the turn is not about: ``Nell: Cider for six?``.

    A turn about a plan is about nobody's words. Any other turn that answers nobody has none: see
    :func:`keepsake.agent.turns.context.context_of`, which makes it a turn about open words.
    """
    is_plan = context.impulse.kind is ImpulseKind.PLAN
    if context.partner is None and not is_plan:
        return ()
    answered = None if is_plan else context.partner
    found = []
    for person in persons_near(agent):
        if answered is not None and answered.is_same(person):
            continue
        words = unanswered(window, context.impulse, passed_over, person).words
        if is_question(words):
            found.append(f"{person.name}: {words}")
    return tuple(found)


def _with_books(
    scene: Scene, agent: Body, context: TurnContext, tools: MemoryTools, may: PrivateShown
) -> Scene:
    """Return the scene with what the agent's books hold and the audience may hear."""
    books = tools.books
    private = tools.memory.private.without(context.without)
    # Lines of the window that the budget leaves out are not shown.
    first = tools.shown_from
    near = [identity_of(each) for each in people_near(agent)]
    pages = filter(None, map(books.people.known.get, near))
    pinned = tuple(books.pinned.shown)
    commitments = tools.memory.commitments
    noticed = commitments.lines(first, lambda number: may.may_hear([number]))

    def anybody_may(number: int) -> bool:
        return private.may_hear([number], NO_PRIVATE_WORDS)

    kept = (*pinned, *commitments.lines(first, anybody_may))
    return replace(
        scene,
        pinned=pinned,
        noticed=noticed,
        kept=kept,
        private_kept=tuple(each for each in noticed if each not in kept),
        still_kept=(*pinned, *commitments.lines(None, anybody_may)),
        journal=books.journal_lines(
            private, first, near, context.words, masked=tools.memory.memory.context().masked
        ),
        portraits=tuple(page.portrait for page in pages if page.portrait),
    )


def _moment(scene: Scene, window: Sequence[Memory]) -> str:
    """Return the time; the clock alone if the window ends in the same hours of the same day."""
    newest = window[-1].time if window else None
    is_told = newest is not None and day_and_time(newest) == scene.daytime
    return scene.now.removeprefix(f"{scene.daytime}, ") if is_told else scene.now


def _answered(tools: MemoryTools, context: TurnContext, waiting: Unanswered) -> tuple[int, ...]:
    """Return the numbers of the memories that a turn answers, or that are its reason.

    The reason for a turn about a plan is the memory on which the plan rests.
    """
    is_plan = context.impulse.kind is ImpulseKind.PLAN
    due = tools.plans.named(context.impulse.plan) if tools.plans and is_plan else None
    known = due.as_known_to(context.audience) or due if due is not None else None
    since = known.since if known is not None else 0
    numbers = {each.number for each in waiting.memories} | {context.impulse.memory_number, since}
    return tuple(sorted(numbers - {0}))


def _found_in(window: Sequence[Memory], acts: Collection[int]) -> tuple[int, ...]:
    """Return the numbers of the memories that the results of these own acts show."""
    results = (
        each
        for each in window
        if isinstance(each.what, Result) and each.what.act in acts and not is_redacted(each)
    )
    return tuple(sorted({number for each in results for number in each.rests_on}.difference(acts)))
