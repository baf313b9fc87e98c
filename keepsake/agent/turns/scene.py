"""The scene of an agent's turn: its memories, and its surroundings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from keepsake.agent.agent_log import call_hook
from keepsake.agent.memory.related import SearchResult, line_of, scene_query
from keepsake.agent.memory.tools import WRITES, MemoryTools
from keepsake.agent.plans import lines_of
from keepsake.agent.surroundings import (
    Body,
    description_of,
    hosts_guests,
    identity_of,
    name_of,
    names_of,
    options_of,
    people_near,
    place_of,
)
from keepsake.agent.turns.context import (
    NOTHING,
    TurnContext,
    Unanswered,
    came_after,
    secrecy,
    unanswered,
)
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.archive.transcript import day_and_time
from keepsake.events.types import Recalled
from keepsake.happening import Person
from keepsake.language.perception import names
from keepsake.language.persons import Whom, about_whom
from keepsake.prompt.verbs import NAMING, VERBS, WORDS, Options, Takes, Verb
from keepsake.recall.documents import SAME_SCENE, DocumentKind, Hit
from keepsake.recall.fusion import BY_WORDS
from keepsake.tasks.conversation import excerpt
from keepsake.tasks.scene import Excerpt, Scene


def recall_for_turn(
    agent: Body, turn: TurnContext, tools: MemoryTools, by: str = ""
) -> Awaitable[SearchResult | None]:
    """Search the memory for a turn; the result is None if the search failed or timed out.

    ``by``: Who asks, for the event log; empty for the agent itself.
    """
    here = names_of(people_near(agent), agent)
    return tools.recaller.search(
        turn.words or scene_query(tools.memory.memory.context(), place_of(agent), here),
        scene=not (turn.words or by),
        by=by or ("talk" if turn.words else "thought"),
        audience=turn.audience,
        asker=turn.partner if turn.words else None,
    )


def available_verbs(
    agent: Body, turn: TurnContext, private: PrivateWords
) -> tuple[tuple[Verb, ...], Options]:
    """Return the verbs that the agent may use in this turn, and their options.

    An agent that answers somebody may leave the talk, but not the place where it hosts guests.
    """
    _, confided = secrecy(agent, turn, private)
    without = {"talk"} | WRITES if confided else set[str]()
    verbs = tuple(verb for verb in VERBS if verb.name not in without)
    own: tuple[Verb, ...] = call_hook(agent, "verbs_now", tuple, ()) if agent.agent_verbs else ()
    # It is unknown who hears the free words of a game's own verb, so confided words are excluded.
    verbs += tuple(verb for verb in own if not (confided and f"<{WORDS}>" in verb.usage))
    stays = hosts_guests(agent) if turn.partner else agent.mind.thinker.must_stay
    options = options_of(agent, stays=stays)
    if confided:  # no verb reaches anybody else, whatever it is
        near = (each for each in people_near(agent) if identity_of(each) in turn.audience)
        options = replace(options, people=names_of(near, agent))
    return verbs, options


# -- the scene


def scene_of(
    agent: Body,
    turn: TurnContext,
    tools: MemoryTools,
    found: SearchResult | None,
    now: datetime,
    *,
    extra: Memory | None = None,
    refused: str = "",
) -> tuple[Scene, Mapping[str, Any]]:
    """Collect the inputs of a turn's prompt, and their summary for the thought's event.

    Args:
        extra: A memory to show as the newest one, for a preview or a warm-up.
        refused: Why the last answer was refused; empty at the first attempt.

    Raises:
        KeepsakeError: The memory cannot be read.
    """
    memory = tools.memory
    books = tools.books
    hits = tools.recalled(found)
    context = memory.memory.context()
    audience = turn.audience
    longterm = context.longterm
    recent = context.recent
    window = memory.private.heard_by(context.shown, turn.audience)
    window = (*window, extra) if extra is not None else window
    # Lines of the window that the budget leaves out are not shown.
    first = tools.shown_from
    who = turn.impulse.source_id if turn.partner else ""
    lines = {
        kind: tuple(line_of(hit.document) for hit in hits if hit.document.kind is kind)
        for kind in (DocumentKind.SUMMARY, DocumentKind.NOTE)
    }
    waiting = unanswered(window, turn.impulse) if turn.partner else NOTHING
    # What is answered, repeated if something else that is answered came after it.
    late = turn.partner is not None and came_after(window, waiting, turn.partner)
    known = people_known(agent)
    excerpts = excerpts_of(hits, found, known)
    told = told_lines(hits, waiting.words, known, turn.partner)
    scene = replace(
        _surroundings(agent, turn, now, *available_verbs(agent, turn, memory.private)),
        longterm=longterm.text if longterm else "",
        longterm_span=f"{longterm.first} to {longterm.last}" if longterm else "",
        recent=recent.text if recent else "",
        recent_span=f"{recent.first} to {recent.last}" if recent else "",
        recalled=excerpts,
        told=told,
        experiences=lines[DocumentKind.SUMMARY],
        notes=lines[DocumentKind.NOTE],
        **_plans_of(tools, turn),
        pinned=tuple(books.pinned.shown),
        noticed=memory.commitments.lines(
            first, lambda number: memory.private.may_hear([number], audience)
        ),
        journal=books.journal_lines(memory.private, first, who),
        people=books.people_lines(agent, memory.private, first, audience, who),
        window=window,
        words=waiting.words if late else "",
        earlier=waiting.memories[-1].line if late and waiting.memories else "",
        answers=_answered(turn, waiting),
        whispered=turn.whispered,
        refused=refused,
    )
    covered = recent.last if recent else 0
    used = []
    for hit in hits:
        document = hit.document
        score = round(hit.score, 4)
        why = "; ".join(hit.reasons)
        used.append(
            Recalled(
                kind=document.kind.label,
                n=document.number,
                title=document.title,
                score=score,
                why=why,
            )
        )
    return scene, {
        "longterm": longterm.last if longterm else 0,
        "recent": covered,
        "total": context.window[-1].number if context.window else covered,
        "compaction": context.compaction,
        "recalled": used,
    }


def _plans_of(tools: MemoryTools, turn: TurnContext) -> dict[str, Any]:
    """Return the fields of a scene about plans: open ones, missed ones, and the one that is due."""
    plans = tools.plans
    if plans is None:
        return {}
    due = plans.named(turn.impulse.plan) if turn.impulse.plan else None
    return {
        "plans": lines_of(plans.shown(turn.audience)),
        "missed": lines_of(plans.missed(turn.audience)),
        "due": f"{lines_of([due])[0]} ({turn.impulse.why})" if due is not None else "",
    }


def _answered(turn: TurnContext, waiting: Unanswered) -> tuple[int, ...]:
    """Return the numbers of the memories that a turn answers, or that are its reason."""
    numbers = {each.number for each in waiting.memories} | {turn.impulse.memory}
    return tuple(sorted(numbers - {0}))


def _surroundings(
    agent: Body, turn: TurnContext, now: datetime, verbs: Sequence[Verb], options: Options
) -> Scene:
    """Return the agent's persona and surroundings as a scene."""
    now = now.astimezone()
    daytime = day_and_time(now)
    place = agent.location
    deeds = [verb for verb in verbs if verb.takes is not Takes.TEXT]
    usages = options.usages(deeds)
    own = {verb: f": {verb.help}" for verb in deeds if verb.takes is Takes.OWN}
    changing = NAMING | {Takes.OWN}
    facts = [
        f"You follow {name_of(e, agent)}."
        for e in people_near(agent)
        if e.id == agent.mind.actor.leader
    ]
    if usual := call_hook(agent, "usual_day", str, ""):
        facts.append(f"On an ordinary day: {usual}")
    facts += call_hook(agent, "at_agent_prompt", list | tuple, ())
    things = place.contents_get(content_type="object") if place is not None else ()
    people = (
        f"{name_of(each, agent)}{' (asleep)' if each.db.asleep else ''}"
        for each in people_near(agent)
    )
    return Scene(
        name=agent.key,
        persona=str(agent.db.profile or f"You are {agent.key}."),
        # An example may have several lines.
        examples=tuple(x for each in agent.db.examples or () for x in str(each).splitlines()),
        deeds=tuple(f"> {v.usage} ({v.help})" for v in deeds if v.takes not in changing),
        now=f"{daytime}, {now:%H:%M}",
        daytime=daytime,
        place=place_of(agent) or "nowhere",
        description=description_of(agent),
        here=tuple(dict.fromkeys(people)),
        things=names_of(things, agent),
        carried=options.carried,
        exits=tuple(options.ways),
        ways=tuple(options.ways.values()),
        options=tuple(f"{u}{own.get(v, '')}" for v, u in usages.items() if v.takes in changing),
        facts=tuple(map(str, facts)),
        partner=turn.partner.name if turn.partner else "",
        trigger=turn.impulse.kind,
        tools=tuple(usages.items()),
        commands=tuple(f"{v.usage}: {v.help}" for v in verbs),
    )


type KnownAs = Callable[[Person], str]
"""Returns the name by which a prompt calls somebody from an old memory."""


def people_known(agent: Body) -> KnownAs:
    """Return how a prompt calls people from old memories, by those who are here.

    Somebody who is here under another name gets that name. Somebody else with the name of a person
    who is here is called ``another Tom``.
    """
    here = {identity_of(each): name_of(each, agent) for each in people_near(agent)}
    taken = set(here.values())

    def known_as(person: Person) -> str:
        now = here.get(person.id) if person.id else None
        if now is not None:
            return now if now == person.name else f"{now} (then {person.name})"
        return f"another {person.name}" if person.id and person.name in taken else person.name

    return known_as


def excerpts_of(
    hits: Sequence[Hit], found: SearchResult | None, known_as: KnownAs
) -> tuple[Excerpt, ...]:
    """Return excerpts around the memories that were found, best first."""
    around = found.around if found else ()
    excerpts = list[Excerpt]()
    shown = set[int]()
    for hit in hits:
        if hit.document.kind is not DocumentKind.MEMORY or hit.document.first in shown:
            continue
        memory = hit.document.memory()
        talk = _same_talk(memory, (each for each in around if each.number not in shown))
        numbers = tuple(each.number for each in talk)
        shown.update(numbers)
        excerpts.append(Excerpt(numbers, excerpt(talk, known_as)))
    return tuple(excerpts)


def told_lines(
    hits: Sequence[Hit], words: str, known_as: KnownAs, partner: Person | None = None
) -> tuple[Excerpt, ...]:
    """Return what others said in the memories that were found, for the prompt of a small model.

    A small model says such a line as if it were its own. So a question about the agent itself is
    not shown what others said, and a question about the partner only what the partner said, except
    of people whom it names.

    Args:
        words: What the partner said. A question uses all hits, other words only hits that share a
            word with them.
    """
    lines = list[Excerpt]()
    whom = about_whom(words)
    for hit in hits:
        if hit.document.kind is not DocumentKind.MEMORY:
            continue
        said = hit.document.memory().heard
        relevant = words.endswith("?") or any(each.startswith(BY_WORDS) for each in hit.reasons)
        if not said or said.words.endswith("?") or not relevant:
            continue
        own = partner is not None and said.speaker.is_same(partner)
        named = names(words, known_as(said.speaker)) or names(words, said.speaker.name)
        if whom is Whom.ANYBODY or named or (own and whom is Whom.ASKER):
            line = f'{known_as(said.speaker)} said, "{said.words}"'
            lines.append(Excerpt((hit.document.first,), line))
    return tuple(lines)


def _same_talk(memory: Memory, around: Iterable[Memory]) -> list[Memory]:
    """Return the memory with consecutive ones of the same talk, at most three on each side."""
    talk = {each.number: each for each in around if abs(each.time - memory.time) <= SAME_SCENE}
    after = takewhile(talk.__contains__, range(memory.number + 1, memory.number + 4))
    before = takewhile(talk.__contains__, range(memory.number - 1, memory.number - 4, -1))
    return [*(talk[n] for n in sorted(before)), memory, *(talk[n] for n in after)]
