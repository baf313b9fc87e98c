"""The prompt of a talk outside a game: a scene, rendered by the form of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.memory.search_results import results_to_show, wanted_for
from keepsake.agent.memory.shelf import PageNeeds
from keepsake.agent.plans.shown_plans import lines_of, missed_among, shown_among
from keepsake.agent.turns.prompts.excerpts import known_among, with_excerpts, with_summaries
from keepsake.agent.turns.waiting import Unanswered, came_after, unanswered
from keepsake.archive.privacy import (
    NO_PRIVATE_WORDS,
    Audience,
    PrivateShown,
    is_private,
    is_redacted,
)
from keepsake.archive.records import Memory
from keepsake.archive.transcript import day_and_time
from keepsake.happening import KnownVerb, Person, PersonId
from keepsake.library.opened import OpenMemory
from keepsake.library.templates import templates
from keepsake.ports import TargetModel
from keepsake.prompt.sections import costs_of
from keepsake.prompt.verbs import VERBS, Verb
from keepsake.recall.finding import SearchResult
from keepsake.tasks.forms.choice import form_of
from keepsake.tasks.forms.form import Prompt, PromptForm
from keepsake.tasks.scene import Scene

TALK = "conversation"
"""The template of a talk outside a game."""
DEEDS = frozenset({KnownVerb.PLAN, KnownVerb.DONE, KnownVerb.CANCEL, KnownVerb.WAIT})
"""The deeds that an agent can do without a world: what concerns its own plans, and silence."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What an answer is about.

    Attributes:
        partner: Who is answered.
        question: The memory of what the partner said, or of what it would be.
        here: Those who are there, the partner included.
        audience: Who hears the answer, if private words may be in the prompt; else empty.
        whispered: Whether the answer is for the partner alone.
        place: Where it is; empty for nowhere.
        facts: Lines about the moment that the program adds.
    """

    partner: Person
    question: Memory
    here: tuple[Person, ...]
    audience: Audience
    whispered: bool = False
    place: str = ""
    facts: tuple[str, ...] = ()

    @property
    def names(self) -> Mapping[PersonId, str]:
        """The names of those who are there, by identity."""
        return {each.id: each.name for each in self.here}


@dataclass(frozen=True, slots=True)
class TalkPrompt:
    """A prompt, and what an answer to it rests on.

    Attributes:
        confidants: Who alone may hear the answer, because the prompt holds private words.
        tokens: Its tokens, as estimated.
        seen: The newest memory in it.
    """

    prompt: Prompt
    form: PromptForm
    confidants: Audience | None
    tokens: int
    seen: int


def deeds() -> tuple[Verb, ...]:
    """Return the verbs of :data:`DEEDS`."""
    return tuple(verb for verb in VERBS if verb.name in DEEDS)


class Prompting:
    """Builds prompts of one memory; every method blocks, and any thread may call it."""

    def __init__(self, opened: OpenMemory) -> None:
        self._opened = opened

    def form(self, target: TargetModel) -> PromptForm:
        """Return the form of a model's prompts, and fit the memory to it.

        Raises:
            ConfigError: A template cannot be used.
        """
        opened = self._opened
        form = form_of(
            target,
            templates()[TALK].current,
            templates()["act"].current,
            count=lambda texts: sum(opened.tokens.each(texts)),
            memory_tokens=opened.parts.settings.compaction.budget,
        )
        opened.prompt_tokens = form.limits.prompt_tokens
        return form

    def recall(self, talk: Talk, form: PromptForm) -> SearchResult | None:
        """Return what bears on the question; None if recall is off, or cannot search."""
        opened = self._opened
        opened.read_up()
        config = opened.parts.settings.recall
        if not config.budget:
            return None
        wanted = wanted_for(config, opened.memory.context(), form.limits, config.patience)
        words = talk.question.words or talk.question.text
        return opened.finder.find(words, wanted, audience=talk.audience, asker=talk.partner)

    def build(
        self,
        talk: Talk,
        form: PromptForm,
        recalled: SearchResult | None,
        *,
        extra: Memory | None = None,
        refused: str = "",
    ) -> TalkPrompt:
        """Return the prompt of a talk.

        Args:
            extra: The question, if it is not in the memory.
            refused: Why the last answer was not used; empty at the first attempt.

        Raises:
            ConfigError: The template fails on these memories.
        """
        opened = self._opened
        may = PrivateShown(opened.private, talk.audience)
        context = opened.memory.context()
        window = opened.private.heard_by(context.shown, talk.audience)
        if extra is not None:
            window = (*window, extra)
        scene = self._scene(talk, window, may)
        scene = with_summaries(scene, context)
        shown = SearchResult()
        now = opened.parts.clock.now()
        if recalled is not None:
            shown = results_to_show(
                recalled,
                context,
                opened.parts.settings.recall.fitted(form.limits.recall_tokens),
                limits=form.limits,
                beside=form.beside(scene),
                agent=opened.agent.name,
                count=opened.tokens.of,
                now=now,
            )
        scene = with_excerpts(scene, shown, known_among(talk.names), talk.partner, now)
        nearest = recalled.numbers if recalled is not None else ()
        scene = self._with_people(replace(scene, refused=refused), talk, nearest)
        prompt = form.render(scene)
        costs = costs_of(prompt.rendered, opened.tokens, prompt.budget)
        confidants = opened.private.confidants_of({*prompt.rests_on, *_private_in(scene)})
        seen = window[-1].number if window else 0
        return TalkPrompt(prompt, form, confidants, costs.used, seen)

    def _scene(self, talk: Talk, window: tuple[Memory, ...], may: PrivateShown) -> Scene:
        """Return what the prompt shows besides summaries, people and what was recalled."""
        opened = self._opened
        waiting = _waiting(talk, window)
        late = came_after(window, waiting, talk.partner)
        now = opened.parts.clock.now().astimezone()
        daytime = day_and_time(now)
        shelf = opened.shelf
        reader = opened.reader()
        plans = shown_among(shelf.plans.current, talk.audience)
        missed = missed_among(shelf.plans.items, talk.audience, now)
        for plan in (*plans, *missed):
            may.may_hear([plan.since])
        noticed = shelf.commitments.lines(reader.first, lambda number: may.may_hear([number]))
        pages = filter(None, map(shelf.people.known.get, talk.names))
        return Scene(
            name=opened.agent.name,
            persona=opened.agent.persona or f"You are {opened.agent.name}.",
            examples=opened.agent.examples,
            deeds=tuple(f"> {verb.usage} ({verb.help})" for verb in deeds()),
            commands=tuple(f"{verb.usage}: {verb.help}" for verb in VERBS if _is_usable(verb)),
            now=f"{daytime}, {now:%H:%M}",
            daytime=daytime,
            place=talk.place,
            here=tuple(dict.fromkeys(each.name for each in talk.here)),
            facts=talk.facts,
            partner=talk.partner.name,
            trigger=ImpulseKind.ADDRESSED,
            window=window,
            words=waiting.words if late else "",
            asked="" if late else waiting.words,
            earlier=waiting.memories[-1].line if late and waiting.memories else "",
            answers=tuple(sorted({talk.question.number, *(m.number for m in waiting.memories)})),
            whispered=talk.whispered,
            pinned=tuple(shelf.pinned.shown),
            noticed=noticed,
            journal=shelf.entries(reader, tuple(talk.names), waiting.words),
            portraits=tuple(page.portrait for page in pages if page.portrait),
            plans=lines_of(plans),
            missed=lines_of(missed),
            private=tuple(sorted(may.numbers)),
        )

    def _with_people(self, scene: Scene, talk: Talk, nearest: tuple[int, ...]) -> Scene:
        """Return the scene with what the pages say of those who are there.

        Pages show what somebody confided only if the answer is whispered.
        """
        opened = self._opened
        shown = frozenset(number for each in scene.recalled for number in each.numbers)
        texts = (scene.longterm, scene.recent, *scene.journal, *scene.notes)
        people = opened.shelf.pages(
            tuple(talk.names.items()),
            opened.reader(),
            talk.audience if talk.whispered else NO_PRIVATE_WORDS,
            PageNeeds(talk.partner.id, texts, nearest, shown),
        )
        return replace(scene, people=tuple(each.text for each in people), known=people)


def _waiting(talk: Talk, window: tuple[Memory, ...]) -> Unanswered:
    """Return what waits for the answer: the question, with what was said just before it."""
    question = talk.question
    partner = talk.partner
    impulse = Impulse(
        ImpulseKind.ADDRESSED,
        from_player=True,
        source=partner.name,
        memory_number=question.number,
        source_id=partner.id,
    )
    return unanswered(window, impulse, (), partner)


def _is_usable(verb: Verb) -> bool:
    """Whether a model that writes commands may use a verb: speech and the deeds."""
    return verb.name in DEEDS or verb.name in (KnownVerb.SAY, KnownVerb.EMOTE)


def _private_in(scene: Scene) -> set[int]:
    """Return the numbers of memories in a scene that may hold private words."""
    numbers = {m.number for m in scene.window if is_private(m) and not is_redacted(m)}
    numbers.update(scene.private)
    for excerpt in (*scene.recalled, *scene.told):
        numbers.update(excerpt.numbers)
    return numbers
