"""The inputs of an agent's turn: its audience, its memories, and its surroundings."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress, count, takewhile
from random import Random
from typing import Any

from keepsake.agent.agent_log import call_hook
from keepsake.agent.attention import ANSWERED, IDLE, EventKind, Impulse
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.related import SearchResult, line_of, scene_query
from keepsake.agent.memory.tools import WRITES, MemoryTools
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
from keepsake.archive.privacy import NOBODY, Audience, PrivateWords, is_private, is_redacted
from keepsake.archive.records import DEED, Memory
from keepsake.books.persona import open_lines
from keepsake.events.types import Recalled
from keepsake.happening import Speech
from keepsake.prompt.script import day_and_time
from keepsake.prompt.verbs import NAMING, VERBS, WORDS, Options, Takes, Verb
from keepsake.recall.documents import SAME_SCENE, DocumentKind, Hit
from keepsake.recall.fusion import BY_WORDS
from keepsake.tasks.conversation import excerpt, in_order
from keepsake.tasks.fallback import FallbackLine, answer
from keepsake.tasks.talk import TalkScene


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The partner that a turn answers, and its audience."""

    impulse: Impulse
    partner: str = ""  # who is answered, by name; empty if nobody is
    whispered: bool = False  # whether the partner whispered; then the answer is whispered
    audience: Audience = NOBODY  # who hears the answer; others' private words are left out
    words: str = ""  # the query for recall: the partner's words since the last answer
    answered: bool = False  # whether an earlier answer covered the impulse
    seen: int = 0  # the newest memory in the prompt; 0 before there is a prompt


UNPROMPTED = TurnContext(IDLE)
"""The context of an unprompted turn."""


def context_of(agent: Body, impulse: Impulse, memory: MemoryComponent) -> TurnContext:
    """Return the partner and the audience of a turn."""
    if impulse.kind not in ANSWERED or not impulse.source:
        return TurnContext(impulse)
    said, words, known_of = unanswered(memory.memory.context().window, impulse)
    whispered = any(map(is_private, said))
    alone = frozenset({impulse.source_id} - {""})
    audience = alone if whispered else frozenset(map(identity_of, people_near(agent)))
    answered = 0 < impulse.memory <= known_of
    return TurnContext(impulse, impulse.source, whispered, audience, words, answered)


def unanswered(window: Sequence[Memory], impulse: Impulse) -> tuple[list[Memory], str, int]:
    """Find what the source of an impulse did or said since the agent's last answer.

    Returns:
        Those memories, oldest first; the words in them; and the newest memory that the agent's
        last words to the source took into account, 0 if the agent said nothing.
    """
    since = 0
    for memory in reversed(window):
        own = memory.said is not None
        known = memory.to_id and memory.to_id == impulse.source_id
        # A deed that replied to the words of this impulse has answered only a part of them.
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
            or (memory.source == impulse.source and _is_for_agent(memory.heard))
        )
    ]
    words = (speech.words for memory in said if (speech := memory.heard) is not None)
    return said, " ".join(words), since


def _is_for_agent(said: Speech | None) -> bool:
    """Whether it was said to the agent or to everybody."""
    return said is not None and said.is_to_me_or_all


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
        asker=turn.partner if turn.words else "",
    )


# -- who may hear what


def secrecy(agent: Body, turn: TurnContext, private: PrivateWords) -> tuple[bool, bool]:
    """Return whether an answer is whispered, and whether its prompt may hold whispered words.

    The answer to a whisper is whispered. So is an answer that may hold whispered words, if others
    have come in since. Any answer to a prompt with whispered words may hold them.
    """
    alone = len(turn.audience) == 1 and private.shares_with(turn.audience)
    confided = turn.whispered or alone
    if turn.whispered or not turn.partner:
        return turn.whispered, confided
    came_in = not turn.audience.issuperset(map(identity_of, people_near(agent)))
    return came_in and confided, confided


def available_verbs(
    agent: Body, turn: TurnContext, private: PrivateWords
) -> tuple[tuple[Verb, ...], Options]:
    """Return the verbs that the agent may use in this turn, and their options.

    An agent that answers somebody may leave the talk, but not the place where it hosts guests.
    """
    _, confided = secrecy(agent, turn, private)
    without = {"talk"} if confided or len(people_near(agent)) < 2 else set[str]()
    if confided:
        without |= WRITES | ({"promise"} if turn.whispered else set())
    verbs = tuple(verb for verb in VERBS if verb.name not in without)
    own: tuple[Verb, ...] = call_hook(agent, "verbs_now", tuple, ()) if agent.agent_verbs else ()
    # It is unknown who hears the free words of a game's own verb, so confided words are excluded.
    verbs += tuple(verb for verb in own if not (confided and f"<{WORDS}>" in verb.usage))
    stays = hosts_guests(agent) if turn.partner else agent.mind.thinker.must_stay
    return verbs, options_of(agent, stays=stays)


# -- the scene


def scene_of(
    agent: Body,
    turn: TurnContext,
    tools: MemoryTools,
    found: SearchResult | None,
    now: datetime,
    *,
    extra: Memory | None = None,
) -> tuple[TalkScene, Mapping[str, Any]]:
    """Collect the inputs of a turn's prompt, and their summary for the thought's event.

    Args:
        extra: A memory to show as the newest one, for a builder's preview.

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
    first = context.window[0].number if context.window else None
    who = turn.impulse.source_id if turn.partner else ""
    lines = {
        kind: tuple(line_of(hit.document) for hit in hits if hit.document.kind is kind)
        for kind in (DocumentKind.SUMMARY, DocumentKind.NOTE)
    }
    # The partner's unanswered words, repeated if the agent has acted since.
    waiting, words, _ = unanswered(window, turn.impulse) if turn.partner else ([], "", 0)
    excerpts, told = excerpts_and_lines(hits, found, memory.name, words)
    ordered = in_order(window)
    own = [m.is_own and not is_redacted(m) for m in ordered]
    last_act = max(compress(count(), own), default=-1)
    scene = replace(
        _surroundings(agent, turn, now, *available_verbs(agent, turn, memory.private)),
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
        people=books.people_lines(agent, memory.private, first, audience, who),
        window=window,
        words=words if waiting and ordered.index(waiting[-1]) <= last_act else "",
        whispered=turn.whispered,
    )
    covered = recent.last if recent else 0
    used = []
    for hit in hits:
        kind, _, number = hit.document.key.partition(":")
        n = int(number) if kind != "note" and number.isdecimal() else 0
        score = round(hit.score, 4)
        why = "; ".join(hit.reasons)
        used.append(Recalled(kind=kind, n=n, title=hit.document.title, score=score, why=why))
    return scene, {
        "longterm": longterm.last if longterm else 0,
        "recent": covered,
        "total": context.window[-1].number if context.window else covered,
        "compaction": context.compaction,
        "recalled": used,
    }


def _surroundings(
    agent: Body, turn: TurnContext, now: datetime, verbs: Sequence[Verb], options: Options
) -> TalkScene:
    """Return the agent's persona and surroundings as a scene."""
    now = now.astimezone()
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
    facts += call_hook(agent, "at_agent_prompt", list | tuple, ())
    things = place.contents_get(content_type="object") if place is not None else ()
    people = (
        f"{name_of(each, agent)}{' (asleep)' if each.db.asleep else ''}"
        for each in people_near(agent)
    )
    return TalkScene(
        name=agent.key,
        persona=str(agent.db.profile or f"You are {agent.key}."),
        # An example may have several lines.
        examples=tuple(x for each in agent.db.examples or () for x in str(each).splitlines()),
        deeds=tuple(f"> {v.usage} ({v.help})" for v in deeds if v.takes not in changing),
        now=f"{day_and_time(now)}, {now:%H:%M}",
        place=place_of(agent) or "nowhere",
        description=description_of(agent),
        here=tuple(dict.fromkeys(people)),
        things=names_of(things, agent),
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
    """Return excerpts around the memories that were found, best first, with their numbers.

    Also return what others said in those memories, for the prompt of a small model.
    """
    around = found.around if found else ()
    excerpts = list[tuple[int, str]]()
    lines = list[str]()
    told = set[int]()
    for hit in hits:
        n = hit.document.first
        if hit.document.kind is not DocumentKind.MEMORY:
            continue
        memory = hit.document.memory()
        said = memory.heard
        # A question uses all hits, other words only hits that share a word. Skip found questions.
        relevant = words.endswith("?") or any(each.startswith(BY_WORDS) for each in hit.reasons)
        if said and not said.words.endswith("?") and relevant:
            lines.append(f'{said.speaker.name} said, "{said.words}"')
        if n not in told:
            talk = _same_talk(memory, (each for each in around if each.number not in told))
            told.update(each.number for each in talk)
            excerpts.append((n, excerpt(talk)))
    return excerpts, lines


def _same_talk(memory: Memory, around: Iterable[Memory]) -> list[Memory]:
    """Return the memory with consecutive ones of the same talk, at most three on each side."""
    talk = {each.number: each for each in around if abs(each.time - memory.time) <= SAME_SCENE}
    after = takewhile(talk.__contains__, range(memory.number + 1, memory.number + 4))
    before = takewhile(talk.__contains__, range(memory.number - 1, memory.number - 4, -1))
    return [*(talk[n] for n in sorted(before)), memory, *(talk[n] for n in after)]


def reply_by_rule(
    agent: Body, turn: TurnContext, found: SearchResult | None, memory: MemoryComponent
) -> str:
    """Return a reply by rule, for when there is no model."""
    window = memory.private.heard_by(memory.memory.context().window, turn.audience)
    hits = found.of(DocumentKind.MEMORY) if found else []
    scores = {hit.document.first: hit.score for hit in hits}
    lines = [FallbackLine(text) for text in open_lines(str(agent.db.profile or ""))]
    for each in (*(hit.document.memory() for hit in hits), *window):
        told = each.heard if each.number < turn.impulse.memory else None
        if told is not None:
            score = scores.get(each.number, 0.0)
            lines.append(FallbackLine(told.words, told.speaker.name, each.number, score))
    kind = turn.impulse.kind
    return answer(
        turn.words,
        agent=agent.key,
        partner=turn.partner,
        said_before=[own.words for each in window if (own := each.said) is not None],
        lines=lines,
        rng=Random(memory.newest),
        arrival=kind is EventKind.ARRIVAL and not turn.words,
        given="something" if kind is EventKind.GIVEN and not turn.words else "",
    )
