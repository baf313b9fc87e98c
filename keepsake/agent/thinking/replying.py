"""What an agent answers to somebody who spoke to it, came in, or gave it something.

A reply is speech and never a command. Its prompt is built around what was said
(:mod:`keepsake.prompt.reply`); its answer is judged before anybody hears it. Below
:data:`keepsake.models.profiles.CAPABLE` tokens what is no question is answered by rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from keepsake.agent.body import Body
from keepsake.agent.happenings import Basis, basis_of
from keepsake.agent.impulses import EventKind, Impulse
from keepsake.agent.memory.acquaintances import present_with
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.surroundings import exits_of, identity_of, looks_of, people_near
from keepsake.agent.thinking.prompting import examples_of
from keepsake.archive.privacy import NOBODY, Audience, is_private
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.profiles.profile import Profile as Person
from keepsake.books.profiles.shown import hearable
from keepsake.errors import KeepsakeError
from keepsake.events.types import Recalled
from keepsake.language.heard import heard, own_words, shown_words
from keepsake.language.perception import for_prompt
from keepsake.language.pronouns import in_first_person
from keepsake.language.words import spelled_out
from keepsake.models.profiles import CHAT, SCRIPT, ModelProfile
from keepsake.ports import GenerationRequest
from keepsake.prompt.reply import material
from keepsake.prompt.reply.by_itself import from_memory, leaves_out_later
from keepsake.prompt.reply.compose import ReplyPrompt, compose, second_look
from keepsake.prompt.reply.context import ReplyContext
from keepsake.prompt.reply.courtesies import (
    DECLINED,
    DEEDS,
    LEAVE,
    asks_besides,
    courtesy,
    in_turn,
)
from keepsake.prompt.reply.judge import Judged, judge
from keepsake.prompt.reply.material import Sentence
from keepsake.prompt.reply.turns import PAUSE, turns_with, unanswered
from keepsake.prompt.reply.worth import AS_GOOD, Scored, asks_for_facts, asks_leave, is_of_asker
from keepsake.prompt.template import Rendered
from keepsake.recall.related import SearchResult

ANSWERED = frozenset({"addressed", "named", "given", "arrival"})
"""What is answered with a reply; everything else is a reason to act."""
SECONDS = 2.0
"""How long the ranking of what might be said is waited for."""
OWN_LINES = 24
"""Own lines that an answer may not repeat."""
WELL_GROUNDED, MOSTLY_GROUNDED = 0.25, 0.75
"""From this on an answer uses what it was given; a small model's only where hardly anything else is
in it."""
SURE = 0.5
"""From this worth on a sentence answers the question: "I don't know" is wrong."""
AGAINST = 0.4
"""From this worth on something may speak against what somebody asks leave for."""
CERTAIN = 0.6
"""From this worth on, what the agent has is not doubted; below it, a second look may be taken."""
LOOK_TOKENS = 4
BEARS = "stands in the window, and bears on what was said"
"""Why a memory is in the prompt of a reply that no search brought."""
HOTTER, HOTTEST = 0.2, 1.0
"""What each new try adds to the temperature, and where that ends."""
DO_NOT_KNOW = (
    "That I don't know.",
    "I don't know. Nobody has told me.",
    "I can't say, I don't know that.",
    "No idea, I'm afraid. I never heard.",
)
"""What an agent says where a second look found that it was never told."""
SHRUGS = (
    "I'm sorry, my thoughts were somewhere else.",
    "Hm. Ask me that again another time.",
    "I can't think of the right words just now.",
    "Let me think about that a little.",
)
"""What an agent says when no answer of the model can be said; its profile may have its own."""


@dataclass
class Reply:
    """An answer on its way.

    Attributes:
        partner: Who is answered.
        scene: What it is made from.
        found: What recall found for it.
        whispered: Whether they whispered, so that the answer is whispered too.
        prompt: What was sent last.
        best: The best answer so far that may be said.
        asked: The memories that are answered: no part of what bears on them.
        audience: Who hears the answer: private words that they do not share are no part of it.
        trusted: Whether the model is one that follows instructions, and may say that it does not
            know.
        enough: The share of an answer that must come from what it was given.
        looking: Whether the model is asked just now if the agent knows the answer at all.
        looked: Whether it was asked.
        by_rule: Whether the answer is known by rule: from whom the agent has what it said.
    """

    partner: str
    scene: ReplyContext
    found: SearchResult | None = None
    whispered: bool = False
    prompt: ReplyPrompt | None = None
    best: Judged | None = None
    asked: frozenset[int] = frozenset()
    audience: Audience = NOBODY
    trusted: bool = False
    enough: float = MOSTLY_GROUNDED
    looking: bool = False
    looked: bool = False
    by_rule: bool = False

    @property
    def used(self) -> frozenset[int]:
        """The memories whose words stand in its prompt, or may."""
        ranked = (each.sentence.number for each in self.scene.ranked)
        return self.asked | {turn.number for turn in self.scene.turns} | {*ranked}

    @property
    def rendered(self) -> Rendered | None:
        """The prompt as text."""
        return self.prompt.rendered if self.prompt else None


def is_answered(impulse: Impulse, profile: ModelProfile) -> bool:
    """Whether a thought of this reason is a reply, to a model of that profile."""
    return bool(impulse.source) and impulse.trigger in ANSWERED and profile.format != SCRIPT


class Replying:
    """Makes the replies of one agent; on the reactor thread."""

    def __init__(self, mind: Remembering, services: Services) -> None:
        self._mind, self._services = mind, services
        self._window = material.WindowReader()
        self._shrugged = 0

    async def gather(self, agent: Body, impulse: Impulse, *, words: str = "") -> Reply:
        """Bring together what bears on what was said: what the reply will be made from."""
        reply = self._begun(agent, impulse, words)
        window = self._heard_by(reply.audience)
        question = reply.scene.words
        reply.found = await self._mind.keeper.relate(
            question, scene=False, by="reply", audience=reply.audience, asker=reply.partner
        )
        sentences = self._material(agent, reply, window)
        before = next((turn.words for turn in reversed(reply.scene.turns) if turn.who), "")
        rank = partial(self._services.ranker.rank, question, sentences, before, agent.key)
        ranked = await self._services.in_time(rank, SECONDS)
        known = self._known_of(impulse, reply.scene)
        reply.by_rule = bool(known and reply.scene.said)
        # What is known by rule is the answer: nothing is said beside it.
        worth = max(CERTAIN, ranked[0].worth if ranked else 0.0) / (AS_GOOD**2)
        found = (*(Scored(each, worth) for each in known), *(ranked or ()))
        news = known[0] if known and not reply.scene.said else None
        reply.scene = replace(reply.scene, ranked=found, news=news)
        return reply

    def _known_of(self, impulse: Impulse, scene: ReplyContext) -> list[Sentence]:
        """What bears on it by rule: who told it, if that is asked; what a guest is known for."""
        if self._mind.plugged is not None:  # its memory alone says what it knows
            return []
        hearsay, now = self._mind.hearsay, self._services.clock.now()
        if scene.said:
            before = " ".join(turn.words for turn in scene.turns[-2:])
            rumour = hearsay.asked_of(scene.words, before)
        else:
            rumour = hearsay.news_of(impulse.source_id, impulse.source, now)
        if rumour is None:
            return []
        return [material.of_rumour(rumour.told_by(scene.name), asked=bool(scene.said))]

    def audience_of_act(self, impulse: Impulse) -> Audience:
        """Who may hear private words in an act: whoever whispered what it answers, else nobody.

        An act is seen, and what it writes down is read in all prompts.
        """
        cause = _cause(self._mind.memory.context().window, impulse)
        return _alone(impulse) if cause is not None and is_private(cause) else NOBODY

    def is_whispered(self, agent: Body, reply: Reply) -> bool:
        """Whether an answer is whispered: to a whisper, and if others have come in since."""
        private = self._mind.memory.private
        secret = any(not private.may_hear(number, NOBODY) for number in reply.used)
        return reply.whispered or (secret and _listeners(agent) != reply.audience)

    def _heard_by(self, audience: Audience) -> list[Memory]:
        """What of the window may be said to them."""
        private, window = self._mind.memory.private, self._mind.memory.context().window
        confided = self._services.people.current.in_confidence
        return [m for m in window if confided or private.may_hear(m.number, audience)]

    def courtesy(
        self, agent: Body, impulse: Impulse, reply: Reply, profile: ModelProfile, *, wished: bool
    ) -> str:
        """What is said without a model; empty where one is asked, a small one only questions.

        ``wished``: Whether a deed is asked for that can be done now.
        """
        if profile.capable:
            return ""
        wished = wished and not asks_besides(reply.scene.words, reply.scene.name)
        if reply.scene.asks and not wished:
            return self._unasked(reply)
        if wished:
            return in_turn(DEEDS, self._lately())
        given = impulse.kind is EventKind.GIVEN
        if not reply.scene.said and not given and impulse.kind is not EventKind.ARRIVAL:
            return ""  # a pose
        free = partial(self._mind.memory.private.may_hear, audience=NOBODY)
        ranked = tuple(each for each in reply.scene.ranked if free(each.sentence.number))
        scene = replace(reply.scene, ranked=ranked)
        near = (each for each in people_near(agent) if each.key != reply.partner)
        private = not any(each.has_account for each in near)
        said_to = impulse.from_player
        return courtesy(scene, self._lately(), given=given, to_player=said_to, private=private)

    def _unasked(self, reply: Reply) -> str:
        """What is said to a question of which it knows too little; empty where a model is asked.

        A small model would make it up, or refuse to let somebody in.
        """
        if asks_leave(reply.scene.words) and reply.scene.best < AGAINST:
            return in_turn(LEAVE, self._lately())
        if reply.scene.knows:
            return ""
        return self.unknown(reply, "no") if asks_for_facts(reply.scene.words) else ""

    def declined(self) -> str:
        """What it says if it does nothing of what was asked for."""
        return in_turn(DECLINED, self._lately())

    def is_stale(self, agent: Body, impulse: Impulse, reply: Reply) -> bool:
        """Whether something was said since that the reply does not know of yet."""
        return self._begun(agent, impulse, "").scene.words != reply.scene.words

    def request(
        self, agent: Body, reply: Reply, profile: ModelProfile, attempt: int, key: str
    ) -> GenerationRequest:
        """What the model is sent for it."""
        reply.trusted = profile.format == CHAT
        capable = reply.trusted and profile.capable
        reply.enough = WELL_GROUNDED if capable else MOSTLY_GROUNDED
        reply.looking = self._is_doubted(reply, profile)
        if reply.looking:
            reply.prompt = second_look(reply.scene)
            looking = replace(profile, temperature=0.0, max_tokens=LOOK_TOKENS, dry_multiplier=0.0)
            return looking.request(reply.prompt.rendered.text, messages=reply.prompt.messages)
        reply.prompt = prompt = compose(
            reply.scene,
            profile.reply_tokens,
            self._services.tokens,
            chat=profile.format == CHAT,
            attempt=attempt,
        )
        # What was told has to be said again, word for word: nothing may hold runs of words back.
        profile = replace(profile, dry_multiplier=0.0)
        warmer = profile.temperature + HOTTER * (attempt - 1)
        request = profile.request(prompt.rendered.text, cache_key=key, messages=prompt.messages)
        return replace(request, temperature=min(warmer, max(HOTTEST, profile.temperature)))

    @staticmethod
    def _is_doubted(reply: Reply, profile: ModelProfile) -> bool:
        """Whether the model is to be asked first if anything that the agent has is an answer."""
        scene = reply.scene
        wanted = profile.second_look and reply.trusted and not reply.looked
        return wanted and scene.asks and bool(scene.said) and scene.best < CERTAIN

    def unknown(self, reply: Reply, answer: str) -> str:
        """What the agent says if the second look found nothing; empty if there is an answer."""
        reply.looked = True  # and not before: a server that is gone has the look asked of another
        if not answer.strip().casefold().startswith("no"):
            return ""
        return in_turn(DO_NOT_KNOW, self._lately())

    def basis(self, reply: Reply) -> Basis:
        """What its prompt was made from, for the event log."""
        chosen = reply.prompt.chosen if reply.prompt else ()
        hits = material.hits_of(reply.found, chosen)
        basis = basis_of(self._mind.memory.context(), hits, ())
        # What stands in the window is not searched, and is chosen from it all the same.
        found = {each.n for each in basis.recalled}
        worth = {each.sentence.number: round(each.worth, 4) for each in reply.scene.ranked}
        other = [n for n in material.numbers_of(chosen) if n not in found]
        spoken = (Recalled(kind="memory", n=n, score=worth.get(n, 0.0), why=BEARS) for n in other)
        return replace(basis, recalled=(*basis.recalled, *spoken))

    def judged(self, reply: Reply, answer: str, *, last: bool) -> Judged:
        """Look at an answer, and keep the best one so far; with a fault, it is thought again.

        ``last``: There will be no other try.
        """
        assert reply.prompt is not None
        found = judge(answer, reply.scene, reply.prompt, self._own_lines(reply))
        if not found.fault and (reply.best is None or found.grounded > reply.best.grounded):
            reply.best = found
        if found.fault or self._is_wanting(reply, found):
            if self._told(reply):  # the memory answers in its place: no other try
                return replace(found, fault="")
            if not found.fault and not last:
                return replace(found, fault="it does not use what bears on the question")
        return found

    def _told(self, reply: Reply) -> str:
        """What the memory has to say by itself."""
        return from_memory(reply.scene, self._own_lines(reply))

    @staticmethod
    def _is_wanting(reply: Reply, found: Judged) -> bool:
        """Whether an answer makes nothing of what bears on the question."""
        scene = reply.scene
        known = scene.asks and scene.knows and not scene.confided
        if reply.by_rule:  # a model would make another story of it
            return known
        if not known:
            return False
        small = reply.enough == MOSTLY_GROUNDED
        if found.grounded >= reply.enough and not (small and found.unfounded):
            # Of what has changed it tells the one or the other, and cannot tell which.
            return small and leaves_out_later(found.words, scene)
        # A model that follows instructions may be right in that it does not know.
        return scene.best >= SURE or not (reply.trusted and found.admits)

    def chosen(self, reply: Reply) -> str:
        """What is said in the end: the best answer, else what the memory itself has to say."""
        best = reply.best
        if best is not None and not self._is_wanting(reply, best):
            return best.words
        if found := self._told(reply) or (best.words if best is not None else ""):
            return found
        # Of their own life it knows nothing, and made something up of its own each time.
        theirs = reply.scene.asks and is_of_asker(reply.scene.words)
        return self.unknown(reply, "no") if theirs else ""

    def shrug(self, agent: Body) -> str:
        """What the agent says for want of an answer, each in its turn."""
        own = tuple(str(each) for each in agent.attributes.get("shrugs") or ()) or SHRUGS
        self._shrugged += 1
        return own[(agent.id + self._shrugged) % len(own)]

    # -- what it is made from

    def _begun(self, agent: Body, impulse: Impulse, words: str) -> Reply:
        window = self._mind.memory.context().window
        partner = impulse.source
        cause = _cause(window, impulse)
        heard_of = {
            impulse.memory,
            *(turn.number for turn in unanswered(turns_with(window, partner))),
        }
        whispered = any(
            is_private(m) and m.source == partner for m in window if m.number in heard_of
        )
        audience = _alone(impulse) if whispered else _listeners(agent)
        turns = turns_with(self._heard_by(audience), partner)
        now = self._services.clock.now()
        waiting = [each for each in unanswered(turns) if now - each.time <= PAUSE]
        said = (spelled_out(words),) if words else tuple(turn.words for turn in waiting)
        if not said and cause is not None and (heard_so := heard(cause)) is not None:
            said = (for_prompt(spelled_out(heard_so.words)),)
        event = "" if said else _event(cause, partner)
        scene = replace(
            _scene_of(agent, partner),
            said=said,
            event=event,
            turns=tuple(turn for turn in turns if turn not in waiting and not turn.is_stock),
        )
        asked = frozenset({impulse.memory, *(turn.number for turn in waiting)})
        return Reply(partner, scene, whispered=whispered, asked=asked, audience=audience)

    def _material(self, agent: Body, reply: Reply, window: Sequence[Memory]) -> list[Sentence]:
        """All that could stand in the prompt, what was said in the order in which it was."""
        mind, partner, scene = self._mind, reply.partner, reply.scene
        context, now = mind.memory.context(), self._services.clock.now()
        profiles = self._profiles_of(agent, reply.audience)
        found = reply.found
        if mind.plugged is not None:
            found = SearchResult(memories=mind.plugged.brought.memories)
        spoken = [
            *(s for each in profiles for s in material.of_observations(each, partner)),
            *material.of_found(found, partner, agent.key),
            *self._window.read(window, partner),
        ]
        spoken = [each for each in spoken if each.number not in reply.asked]
        return [
            *material.of_profile(scene.profile),
            *(_home_of(agent) if mind.plugged is None else ()),
            *_place_of(agent, scene.others),
            *material.of_kept((*mind.keeper.shown_pins, *self._kept(reply.audience)), partner, now),
            *material.of_summaries(context, partner, now),
            *sorted(material.without_superseded(spoken, profiles), key=lambda each: each.time),
        ]

    def _kept(self, audience: Audience) -> Sequence[str]:
        """What it keeps beside pins and summaries, as lines."""
        mind = self._mind
        if mind.plugged is not None:
            return mind.plugged.brought.lines
        return (*mind.memory.noticed_for(audience), *mind.diary.lines)

    def _profiles_of(self, agent: Body, audience: Audience) -> list[Person]:
        """The profiles of those who are there, as far as they are in RAM and may be heard."""
        if self._mind.plugged is not None:
            return []
        book = self._mind.acquaintances.book
        may = partial(self._mind.memory.private.may_hear_all, audience=audience)
        found = [book.loaded(each.key) for each in present_with(agent)]
        return [hearable(each, may) for each in found if each is not None]

    def _acts(self) -> list[Memory]:
        try:
            window = self._mind.memory.context().window
        except KeepsakeError:
            return []
        return [each for each in window if each.kind is MemoryKind.ACT]

    def _lately(self) -> list[str]:
        """What it said and played lately, stock phrases and all."""
        return [shown_words(each.text) for each in self._acts()][-OWN_LINES:]

    def _own_lines(self, reply: Reply) -> list[str]:
        own = map(own_words, self._acts())
        return [each.words for each in own if each is not None][-OWN_LINES:]


def reply_head(agent: Body, profile: ModelProfile, services: Services) -> GenerationRequest:
    """A reply to whoever is near, of which only the beginning matters: for a server's cache."""
    near = next((person.key for person in people_near(agent) if person.has_account), "somebody")
    scene = replace(_scene_of(agent, near), said=("Hello.",))
    chat = profile.format == CHAT
    prompt = compose(scene, profile.reply_tokens, services.tokens, chat=chat)
    return profile.request(prompt.rendered.text, messages=prompt.messages)


def _scene_of(agent: Body, partner: str) -> ReplyContext:
    """What a scene has before anything is said."""
    return ReplyContext(
        name=agent.key,
        profile=str(agent.db.profile or f"You are {agent.key}."),
        place=agent.location.key if agent.location else "",
        partner=partner,
        others=tuple(p.key for p in people_near(agent) if p.key != partner),
        examples=examples_of(agent),
    )


def _cause(window: Sequence[Memory], impulse: Impulse) -> Memory | None:
    return next((each for each in reversed(window) if each.number == impulse.memory), None)


def _alone(impulse: Impulse) -> Audience:
    """Whoever is answered, and nobody else."""
    return frozenset({impulse.source_id} - {""})


def _listeners(agent: Body) -> Audience:
    """Who hears what is said aloud now."""
    return frozenset(identity_of(person) for person in people_near(agent))


def _event(cause: Memory | None, partner: str) -> str:
    """What happened, where nobody spoke."""
    text = cause.told if cause is not None else f"{partner} is here."
    return in_first_person(for_prompt(text, limit=material.LONGEST))


def _home_of(agent: Body) -> tuple[Sentence, ...]:
    """Its home, of which it knows the looks wherever it is."""
    home = agent.home
    away = home is not None and home is not agent.location
    return material.of_home(home.key, looks_of(agent, home)) if away else ()


def _place_of(agent: Body, company: Sequence[str]) -> tuple[Sentence, ...]:
    place = agent.location
    if place is None:
        return material.of_place("", company)
    return material.of_place(looks_of(agent, place), company, place.key, exits_of(agent))
