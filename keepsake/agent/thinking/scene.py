"""What the turns of one agent are made from: what it remembers, and what is around it now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from keepsake.agent.attention import ANSWERED, IDLE, EventKind, Impulse
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.related import Related, SearchResult, line_of, memory_of, question
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import (
    Body,
    exits_of,
    hosts_guests,
    identity_of,
    options_of,
    people_near,
    place_of,
)
from keepsake.archive.privacy import NOBODY, Audience, is_private
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.persona import open_lines
from keepsake.errors import KeepsakeError
from keepsake.events.types import Recalled
from keepsake.language.heard import heard, spoken
from keepsake.models.profiles import CHAT, SCRIPT, SHIPPED, ModelProfile
from keepsake.prompt.script import day_and_time
from keepsake.prompt.sections import Rendered
from keepsake.prompt.verbs import COMPACT, NAMING, VERBS, Options, Takes, Verb
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.tasks.conversation import excerpt, in_order
from keepsake.tasks.deed import tools_of
from keepsake.tasks.fallback import FallbackLine, answer
from keepsake.tasks.talk import Talk, TalkScene

PROFILE = "agent"
"""The profile that agents think with."""
WRITES = frozenset({"note", "journal", "pin", "remember"})
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


class SceneMaker:
    """Brings together what the turns of one agent are made from; on the reactor thread."""

    def __init__(self, mind: Remembering, runtime: Runtime) -> None:
        self._mind, self._runtime = mind, runtime

    def profile(self) -> ModelProfile:
        """How the model is asked; what its prompts may have counts for the memory too.

        Raises:
            KeepsakeError: There is no model to ask.
        """
        profile = self._runtime.gateway.profile(PROFILE)
        self._runtime.chat_tokens = profile.prompt_tokens if profile.form == CHAT else 0
        return profile

    def sized(self, profile: ModelProfile) -> ModelProfile:
        """With as many tokens as ``memory_compaction.md`` lets a transcript have."""
        if profile.form != SCRIPT:
            return profile
        most = min(self._runtime.ladder.budget, profile.prompt_tokens)
        return replace(profile, prompt_tokens=most)

    def context_of(self, agent: Body, impulse: Impulse) -> TurnContext:
        """Whom a turn answers now, and who hears it."""
        if impulse.kind not in ANSWERED or not impulse.source:
            return TurnContext(impulse)
        said, known_of = unanswered(self._mind.memory.context().window, impulse)
        whispered = any(map(is_private, said))
        alone = frozenset({impulse.source_id} - {""})
        audience = alone if whispered else frozenset(map(identity_of, people_near(agent)))
        answered = 0 < impulse.memory <= known_of
        return TurnContext(impulse, impulse.source, whispered, audience, _words(said), answered)

    async def relate(self, agent: Body, turn: TurnContext, by: str = "") -> SearchResult | None:
        """What recall brings for a turn; None if nothing came in time.

        ``by``: Who asks, for the event log; empty for the agent itself.
        """
        here = [person.key for person in people_near(agent)]
        return await self._mind.keeper.recaller.search(
            turn.words or question(self._mind.memory.context(), place_of(agent), here),
            scene=not (turn.words or by),
            by=by or ("talk" if turn.words else "thought"),
            audience=turn.audience,
            asker=turn.partner if turn.words else "",
        )

    def is_whispered(self, agent: Body, turn: TurnContext) -> bool:
        """Whether an answer is whispered: to a whisper, or as others have come in since."""
        if turn.whispered or not turn.partner:
            return turn.whispered
        came_in = not turn.audience.issuperset(map(identity_of, people_near(agent)))
        return came_in and self._mind.memory.private.shared_with(turn.audience)

    def is_confided(self, turn: TurnContext) -> bool:
        """Whether whispered words may be in the prompt, and so in whatever answers it."""
        return turn.whispered or self._mind.memory.private.shared_with(turn.audience)

    def choices(self, agent: Body, turn: TurnContext) -> tuple[tuple[Verb, ...], Options]:
        """What the agent may do in this turn, and with what.

        One that is spoken to may leave a talk, but not its guests.
        """
        without = {COMPACT} if not self._runtime.compaction.current.on_agent else set[str]()
        if self.is_confided(turn):
            without |= WRITES | ({"promise"} if turn.whispered else set())
        verbs = tuple(verb for verb in VERBS if verb.name not in without)
        return verbs, options_of(agent, stays=hosts_guests(agent) if turn.partner else None)

    async def preview(self, agent: Body, partner: Any, words: str) -> tuple[Rendered, int]:
        """The prompt of the next thought, were these words said now, and its most tokens."""
        said, turn = None, UNASKED
        if partner is not None:
            memory, now = self._mind.memory, self._runtime.clock.now()
            text, who = f'{partner.key} says to you, "{words}"', identity_of(partner)
            perceived = MemoryKind.PERCEPTION
            about = {"place": place_of(agent), "source": partner.key, "source_id": who}
            said = Memory(memory.newest + 1, now, perceived, text, **about)
            asked = Impulse(EventKind.ADDRESSED, True, partner.key, source_id=who)
            turn = replace(self.context_of(agent, asked), words=words)
        try:
            profile = self.profile()
        except KeepsakeError:  # no model can be asked: that is told when one is
            profile = SHIPPED[PROFILE].suited(CHAT)
        found = await self.relate(agent, turn, by="builder")
        (talk, _), profile = self.talk(agent, turn, found, said), self.sized(profile)
        return talk.prompt(profile).rendered, profile.prompt_tokens

    def talk(
        self,
        agent: Body,
        turn: TurnContext,
        found: SearchResult | None,
        extra: Memory | None = None,
    ) -> tuple[Talk, Mapping[str, Any]]:
        """The turn as it is now, and what its prompt is made from, for the event of its thought.

        Args:
            agent: The agent.
            turn: Whom it answers.
            found: What recall brought.
            extra: A memory that is shown as if it had just come, for builders.

        Raises:
            KeepsakeError: The memory or a template cannot be read.
        """
        runtime, keeper, memory = self._runtime, self._mind.keeper, self._mind.memory
        related, context = keeper.related(found), memory.context()
        longterm, recent, other = context.longterm, context.recent, keeper.recaller.context
        window = memory.private.heard_by(context.shown, turn.audience)
        window = (*window, extra) if extra is not None else window
        experiences = [hit for hit in related.hits if hit.document.kind is DocumentKind.SUMMARY]
        scene = replace(
            self._around(agent, turn),
            longterm=longterm.text if longterm else "",
            longterm_span=f"{longterm.first} to {longterm.last}" if longterm else "",
            recent=recent.text if recent else "",
            recent_span=f"{recent.first} to {recent.last}" if recent else "",
            recalled=_recalled(related, found, memory.name),
            experiences=tuple(line_of(hit.document) for hit in experiences),
            notes=related.notes,
            called_back=tuple(keeper.remembered),
            pinned=tuple(keeper.pinned.shown),
            window=window,
            words=_still_waiting(window, turn),
            whispered=turn.whispered,
        )
        if other is not None:  # another memory than ours tells of the rest
            scene = replace(scene, context=other)
        else:
            first = context.window[0].number if context.window else None
            about = turn.impulse.source_id if turn.partner else ""
            scene = replace(
                scene,
                noticed=tuple(memory.noticed_for(turn.audience, first)),
                journal=self._mind.diary.lines(about),
                people=tuple(self._mind.acquaintances.lines(agent, turn.audience)),
            )
        covered = max((each.last for each in context.summaries), default=0)
        called = [Recalled(kind="called back", n=n) for n in keeper.called_back]
        basis = {
            "longterm": longterm.last if longterm else 0,
            "recent": covered,
            "total": context.window[-1].number if context.window else covered,
            "compaction": context.compaction,
            "recalled": (*map(recalled, related.hits), *called),
        }
        parts = (runtime.prompts.of("talk"), runtime.prompts.of("act"))
        return Talk(scene, *parts, runtime.tokens.each), basis

    def _around(self, agent: Body, turn: TurnContext) -> TalkScene:
        """Who the agent is, and what is around it."""
        now, place = self._runtime.clock.now().astimezone(), agent.location
        verbs, options = self.choices(agent, turn)
        deeds = [verb for verb in verbs if verb.takes is not Takes.TEXT]
        usages = options.usages(deeds)
        exits, ways = exits_of(agent), []
        for way in place.exits if place is not None else ():
            if way.key in exits:  # with where it leads: ``north to The Quay``
                there = getattr(way.destination, "key", "")
                ways.append(f"{way.key} to {there}" if there else str(way.key))
        return TalkScene(
            name=agent.key,
            persona=str(agent.db.profile or f"You are {agent.key}."),
            deeds=tuple(f"> {v.usage} ({v.help})" for v in deeds if v.takes not in NAMING),
            now=f"{day_and_time(now)}, {now:%H:%M}",
            place=place_of(agent) or "nowhere",
            description=str(place.get_display_desc(agent)) if place and place.db.desc else "",
            here=_shown(people_near(agent)),
            things=_shown(place.contents_get(content_type="object") if place else ()),
            carried=_shown(agent.contents),
            exits=tuple(exits),
            ways=tuple(ways),
            options=tuple(usage for verb, usage in usages.items() if verb.takes in NAMING),
            partner=turn.partner,
            trigger=turn.impulse.kind,
            # one example may have several lines
            examples=tuple(x for each in agent.db.examples or () for x in str(each).splitlines()),
            commands=tuple(f"{v.usage}: {v.help}" for v in verbs),
            tools=tools_of(usages),
        )


def unanswered(window: Sequence[Memory], impulse: Impulse) -> tuple[list[Memory], int]:
    """What somebody did or said of which no answer of the agent's knew yet, oldest first.

    Returns:
        That, and the newest memory that its last words to them knew of; 0 if it said nothing.
    """
    since = 0
    for memory in reversed(window):
        own = memory.kind is MemoryKind.ACT and memory.text.startswith(("say ", "whisper "))
        known = memory.to_id and memory.to_id == impulse.source_id
        if own and (known or memory.to == impulse.source):
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
    return said, since


def recalled(hit: Hit) -> Recalled:
    """Something that a search found, as the event log has it: without its words."""
    document, score, why = hit.document, round(hit.score, 4), "; ".join(hit.reasons)
    if document.kind is DocumentKind.MEMORY:
        return Recalled(kind="memory", n=document.first, score=score, why=why)
    if document.kind is DocumentKind.NOTE:
        return Recalled(kind="note", title=document.title, score=score, why=why)
    number = document.key.partition(":")[2]  # of the compaction that wrote it
    n = int(number) if number.isdecimal() else 0
    return Recalled(kind="summary", n=n, score=score, why=why)


def _words(said: Iterable[Memory]) -> str:
    return " ".join(each.words for each in map(heard, said) if each is not None)


def _still_waiting(window: Sequence[Memory], turn: TurnContext) -> str:
    """What the partner said and got no answer to, where the agent has done something since."""
    waiting = unanswered(window, turn.impulse)[0] if turn.partner else []
    ordered = in_order(window)
    last_act = max((at for at, m in enumerate(ordered) if m.kind is MemoryKind.ACT), default=-1)
    return _words(waiting) if waiting and ordered.index(waiting[-1]) <= last_act else ""


def _recalled(
    related: Related, found: SearchResult | None, name: str
) -> tuple[tuple[int, str], ...]:
    """Excerpts of the talks in which memories were found, the best first, each with its number."""
    around = {memory.number: memory for memory in (found.around if found else ())}
    lines, told = [], set[int]()
    for hit in related.hits:
        n = hit.document.first
        if hit.document.kind is not DocumentKind.MEMORY or n in told:
            continue
        near = [m for m in (n - 1, n, n + 1) if m in around and m not in told]
        told.update(near)
        lines.append((n, excerpt([around[m] for m in near] or [memory_of(hit.document, name)])))
    return tuple(lines)


def _shown(objects: Iterable[Any]) -> tuple[str, ...]:
    """The names of people or things, each once, and of sleepers that they sleep."""
    return tuple(
        dict.fromkeys(
            f"{each.key} (asleep)" if getattr(each, "is_asleep", False) else str(each.key)
            for each in objects
        )
    )


def words_by_rule(
    agent: Body,
    turn: TurnContext,
    found: SearchResult | None,
    memory: MemoryComponent,
    random: Random,
) -> str:
    """Something fitting to say for the shipped 270M model, which hardly answers."""
    window = memory.private.heard_by(memory.context().window, turn.audience)
    hits = found.memories if found else ()
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
        rng=Random(random.random()),
        arrival=kind is EventKind.ARRIVAL and not turn.words,
        given="something" if kind is EventKind.GIVEN and not turn.words else "",
    )
