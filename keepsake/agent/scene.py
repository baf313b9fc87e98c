"""What the turns of one agent are made from: what it remembers, and what is around it now."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Any

from keepsake.agent.agent_log import of_game
from keepsake.agent.attention import ANSWERED, IDLE, EventKind, Impulse
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.related import SearchResult, line_of, memory_of, question
from keepsake.agent.surroundings import (
    Body,
    hosts_guests,
    identity_of,
    keys_of,
    options_of,
    people_near,
    place_of,
)
from keepsake.archive.privacy import NOBODY, Audience, PrivateWords, is_private
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.persona import open_lines
from keepsake.events.types import Recalled
from keepsake.language.heard import DEED, heard, spoken
from keepsake.prompt.script import day_and_time
from keepsake.prompt.verbs import NAMING, VERBS, WORDS, Options, Takes, Verb
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.recall.fusion import BY_WORDS
from keepsake.tasks.conversation import excerpt, in_order
from keepsake.tasks.fallback import FallbackLine, answer
from keepsake.tasks.talk import TalkScene

WRITES = frozenset({"note", "pin", "remember"})
"""Verbs whose result stands in prompts that others hear: not offered where the prompt holds what
is for one person alone."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Whom a turn answers, and who hears it."""

    impulse: Impulse
    partner: str = ""  # who is answered, by name; empty for nobody
    whispered: bool = False  # whether they whispered, so that the answer is whispered too
    audience: Audience = NOBODY  # who hears the answer: private words of others are left out
    words: str = ""  # what is asked of recall: what they said since the last answer
    answered: bool = False  # whether an answer of before knew of all this already
    seen: int = 0  # the newest memory that the prompt showed; 0 while there is none


UNASKED = TurnContext(IDLE)
"""Of a turn that nobody has asked for."""


def context_of(agent: Body, impulse: Impulse, memory: MemoryComponent) -> TurnContext:
    """Whom a turn answers now, and who hears it."""
    if impulse.kind not in ANSWERED or not impulse.source:
        return TurnContext(impulse)
    said, words, known_of = unanswered(memory.memory.context().window, impulse)
    whispered = any(map(is_private, said))
    alone = frozenset({impulse.source_id} - {""})
    audience = alone if whispered else frozenset(map(identity_of, people_near(agent)))
    answered = 0 < impulse.memory <= known_of
    return TurnContext(impulse, impulse.source, whispered, audience, words, answered)


def unanswered(window: Sequence[Memory], impulse: Impulse) -> tuple[list[Memory], str, int]:
    """What somebody did or said of which no answer of the agent's knew yet, oldest first.

    Returns:
        That, the words of it, and the newest memory that its last words to them knew of; 0 if it
        said nothing.
    """
    since = 0
    for memory in reversed(window):
        own = memory.kind is MemoryKind.ACT and memory.text.startswith(("say ", "whisper "))
        known = memory.to_id and memory.to_id == impulse.source_id
        # What a deed has said to the very words that are still to be answered leaves some of them.
        left = memory.event == DEED and memory.number > impulse.memory
        if own and not left and (known or memory.to == impulse.source):
            since = memory.answers or memory.number
            break
    said = [
        memory
        for memory in window
        if memory.number > since
        and (
            memory.number == impulse.memory
            or (memory.source == impulse.source and heard(memory) is not None)
        )
    ]
    return said, " ".join(each.words for each in map(heard, said) if each is not None), since


def relate(
    agent: Body, turn: TurnContext, keeper: MemoryTools, by: str = ""
) -> Awaitable[SearchResult | None]:
    """What recall brings for a turn; None if nothing came in time.

    ``by``: Who asks, for the event log; empty for the agent itself.
    """
    here = [person.key for person in people_near(agent)]
    return keeper.recaller.search(
        turn.words or question(keeper.memory.memory.context(), place_of(agent), here),
        scene=not (turn.words or by),
        by=by or ("talk" if turn.words else "thought"),
        audience=turn.audience,
        asker=turn.partner if turn.words else "",
    )


# -- who may hear what


def secrecy(agent: Body, turn: TurnContext, private: PrivateWords) -> tuple[bool, bool]:
    """Whether an answer is whispered, and whether whispered words may be in its prompt.

    It is whispered to a whisper, and where others have come in since something was confided.
    Whatever answers a prompt with whispered words may hold them.
    """
    alone = len(turn.audience) == 1 and turn.audience.issubset(private.shared.values())
    confided = turn.whispered or alone
    if turn.whispered or not turn.partner:
        return turn.whispered, confided
    came_in = not turn.audience.issuperset(map(identity_of, people_near(agent)))
    return came_in and confided, confided


def choices(
    agent: Body, turn: TurnContext, private: PrivateWords
) -> tuple[tuple[Verb, ...], Options]:
    """What the agent may do in this turn, and with what.

    One that is spoken to may leave a talk, but not its guests.
    """
    without = frozenset[str]()
    _, confided = secrecy(agent, turn, private)
    if confided:
        without = WRITES | ({"promise"} if turn.whispered else set())
    verbs = tuple(verb for verb in VERBS if verb.name not in without)
    own: tuple[Verb, ...] = of_game(agent, "verbs_now", tuple, ()) if agent.agent_verbs else ()
    # Whom free words of a game's own verb reach is not known: confided ones may not be in them.
    verbs += tuple(verb for verb in own if not (confided and f"<{WORDS}>" in verb.usage))
    stays = hosts_guests(agent) if turn.partner else agent.mind.thinker.stays
    return verbs, options_of(agent, stays=stays)


# -- the scene


def scene_of(
    agent: Body,
    turn: TurnContext,
    keeper: MemoryTools,
    found: SearchResult | None,
    now: datetime,
    *,
    extra: Memory | None = None,
) -> tuple[TalkScene, Mapping[str, Any]]:
    """What the prompt of a turn is made from, and the same for the event of its thought.

    Args:
        agent: The agent.
        turn: Whom it answers.
        keeper: What it remembers.
        found: What recall brought.
        now: The present time.
        extra: A memory that is shown as if it had just come, for builders.

    Raises:
        KeepsakeError: The memory cannot be read.
    """
    memory, books = keeper.memory, keeper.books
    hits = keeper.recalled(found)
    context, audience = memory.memory.context(), turn.audience
    longterm, recent = context.longterm, context.recent
    window = memory.private.heard_by(context.shown, turn.audience)
    window = (*window, extra) if extra is not None else window
    first = context.window[0].number if context.window else None
    who = turn.impulse.source_id if turn.partner else ""
    lines = {
        kind: tuple(line_of(hit.document) for hit in hits if hit.document.kind is kind)
        for kind in (DocumentKind.SUMMARY, DocumentKind.NOTE)
    }
    # What the partner said and got no answer to, where the agent has done something since.
    waiting, words, _ = unanswered(window, turn.impulse) if turn.partner else ([], "", 0)
    excerpts, told = excerpts_and_lines(hits, found, memory.name, words)
    ordered = in_order(window)
    last_act = max((at for at, m in enumerate(ordered) if m.kind is MemoryKind.ACT), default=-1)
    scene = replace(
        _around(agent, turn, now, *choices(agent, turn, memory.private)),
        longterm=longterm.text if longterm else "",
        longterm_span=f"{longterm.first} to {longterm.last}" if longterm else "",
        recent=recent.text if recent else "",
        recent_span=f"{recent.first} to {recent.last}" if recent else "",
        recalled=tuple(excerpts),
        told=tuple(told),
        experiences=lines[DocumentKind.SUMMARY],
        notes=lines[DocumentKind.NOTE],
        pinned=tuple(books.pinned.shown),
        noticed=memory.commitments.lines(
            first, lambda number: memory.private.may_hear([number], audience)
        ),
        journal=books.journal_lines(memory.private, first, who),
        people=books.people_lines(agent, memory.private, first, audience),
        window=window,
        words=words if waiting and ordered.index(waiting[-1]) <= last_act else "",
        whispered=turn.whispered,
    )
    covered = recent.last if recent else 0
    used = []
    for hit in hits:
        kind, _, number = hit.document.key.partition(":")
        n = int(number) if kind != "note" and number.isdecimal() else 0
        score, why = round(hit.score, 4), "; ".join(hit.reasons)
        used.append(Recalled(kind=kind, n=n, title=hit.document.title, score=score, why=why))
    return scene, {
        "longterm": longterm.last if longterm else 0,
        "recent": covered,
        "total": context.window[-1].number if context.window else covered,
        "compaction": context.compaction,
        "recalled": used,
    }


def _around(
    agent: Body, turn: TurnContext, now: datetime, verbs: Sequence[Verb], options: Options
) -> TalkScene:
    """Who the agent is, and what is around it."""
    now, place = now.astimezone(), agent.location
    deeds = [verb for verb in verbs if verb.takes is not Takes.TEXT]
    usages = options.usages(deeds)
    own = {verb: f": {verb.help}" for verb in deeds if verb.takes is Takes.OWN}
    changing = NAMING | {Takes.OWN}
    facts = of_game(agent, "at_agent_prompt", list | tuple, ())
    things = place.contents_get(content_type="object") if place is not None else ()
    people = (
        f"{each.key} (asleep)" if each.db.asleep else str(each.key) for each in people_near(agent)
    )
    return TalkScene(
        name=agent.key,
        persona=str(agent.db.profile or f"You are {agent.key}."),
        # One example may have several lines.
        examples=tuple(x for each in agent.db.examples or () for x in str(each).splitlines()),
        deeds=tuple(f"> {v.usage} ({v.help})" for v in deeds if v.takes not in changing),
        now=f"{day_and_time(now)}, {now:%H:%M}",
        place=place_of(agent) or "nowhere",
        description=str(place.get_display_desc(agent)) if place and place.db.desc else "",
        here=tuple(dict.fromkeys(people)),
        things=keys_of(things),
        carried=options.carried,
        exits=tuple(options.ways),
        ways=tuple(options.ways.values()),
        options=tuple(f"{u}{own.get(v, '')}" for v, u in usages.items() if v.takes in changing),
        facts=tuple(map(str, facts)),
        partner=turn.partner,
        trigger=turn.impulse.kind,
        tools=usages,
        commands=tuple(f"{v.usage}: {v.help}" for v in verbs),
    )


def excerpts_and_lines(
    hits: Sequence[Hit], found: SearchResult | None, name: str, words: str
) -> tuple[list[tuple[int, str]], list[str]]:
    """Excerpts of the talks in which memories were found, the best first, each with its number.

    Beside them the lines of other people among those memories, for a small model's prompt.
    """
    around = {memory.number: memory for memory in (found.around if found else ())}
    excerpts, lines, told = list[tuple[int, str]](), list[str](), set[int]()
    for hit in hits:
        n = hit.document.first
        if hit.document.kind is not DocumentKind.MEMORY:
            continue
        memory = memory_of(hit.document, name)
        said = heard(memory) if hit.document.speaker != name else None
        # A question gets every hit, anything else those that share a word; who asks tells nothing.
        bears = words.endswith("?") or any(each.startswith(BY_WORDS) for each in hit.reasons)
        if said and not said.words.endswith("?") and bears:
            lines.append(f'{said.who} said, "{said.words}"')
        if n not in told:
            near = [m for m in (n - 1, n, n + 1) if m in around and m not in told]
            told.update(near)
            excerpts.append((n, excerpt([around[m] for m in near] or [memory])))
    return excerpts, lines


def words_by_rule(
    agent: Body, turn: TurnContext, found: SearchResult | None, memory: MemoryComponent
) -> str:
    """Something fitting to say where there is no model."""
    window = memory.private.heard_by(memory.memory.context().window, turn.audience)
    hits = found.of(DocumentKind.MEMORY) if found else []
    scores = {hit.document.first: hit.score for hit in hits}
    lines = [FallbackLine(text) for text in open_lines(str(agent.db.profile or ""))]
    for each in (*(memory_of(hit.document, agent.key) for hit in hits), *window):
        told = heard(each) if each.number < turn.impulse.memory else None
        if told is not None:
            score = scores.get(each.number, 0.0)
            lines.append(FallbackLine(told.words, told.who, each.number, score))
    kind = turn.impulse.kind
    return answer(
        turn.words,
        agent=agent.key,
        partner=turn.partner,
        said_before=[own.words for each in window if (own := spoken(each)) is not None],
        lines=lines,
        rng=Random(memory.newest),
        arrival=kind is EventKind.ARRIVAL and not turn.words,
        given="something" if kind is EventKind.GIVEN and not turn.words else "",
    )
