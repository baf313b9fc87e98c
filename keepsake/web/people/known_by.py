"""What one agent knows of somebody: its page of them, notes, promises, plans, summaries, memories.

Runs in a view's thread, because it reads the agent's books.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from keepsake.agent.memory.books import Books
from keepsake.agent.mind import Mind
from keepsake.agent.plans.shown_plans import reminds_of
from keepsake.agent.why.causes import set_off_by
from keepsake.archive.log import Archive
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.books.entries import JournalEntry
from keepsake.books.kept_lines import CommitmentKind
from keepsake.books.notes import without_source
from keepsake.books.person_page import PersonPage
from keepsake.books.plan import Plan, PlanState
from keepsake.happening import KnownVerb, addressees_of, is_me
from keepsake.language.citations import citations_in
from keepsake.language.perception import names as is_named
from keepsake.tracing.content import told_in
from keepsake.web.links import numbers_cited
from keepsake.web.people.about import memories_about, passages_about, private_sentences
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.shapes import (
    KnownBy,
    KnownLine,
    MentionLine,
    NoteAbout,
    PersonRow,
    PinAbout,
    PromiseTo,
)
from keepsake.web.people.telling import Weights, heard_from, weights_in
from keepsake.web.privacy import kept_by, privacy_of
from keepsake.web.remembered import TEXTS, view_of, words_in_archive
from keepsake.web.shapes import PlanRow

MOST_ENTRIES = 12
MOST_MENTIONS = 20
"""The most journal entries, and the most lines of summaries, of one agent about one person."""
_TOWARDS = {CommitmentKind.PROMISE: "to", CommitmentKind.RULE: "from"}


def known_by(
    agent: KnownAgent,
    about: PersonRow,
    others: Collection[str],
    most: int,
    asked: Collection[str] | None,
) -> KnownBy | None:
    """Return what an agent knows of somebody; None if it knows nothing.

    Args:
        others: The names of everybody else.
        most: The most of its memories to look through.
        asked: What asked for something to be done, as :func:`errands_of` returns it, if also what
            it heard them say to others is wanted, what tells most first.
    """
    if agent.mind is None:
        return None
    books = agent.mind.books
    page = books.people.known.get(about.key)
    private = agent.mind.memory.private
    there = {number for each in page.lines for number in each.numbers} if page else set[int]()
    folder = agent.mind.memory.folder / "archive"
    segments = TEXTS.of(folder)
    weights = _weights_of(page) if asked is None else weights_in(segments, about.key, about.names)
    heard = [] if asked is None else heard_from(segments, about.key, there, weights)
    archive = Archive(folder, read_only=True)
    errands = () if asked is None else _errands(books, archive)
    own = [each.number for _, each in errands]
    told = _told(archive, filter(private.is_whispered, there))
    there.update(each.number for each in heard)
    memories, total, complete = memories_about(segments, about.key, about.names, there, most)
    words = words_in_archive(archive) if memories else None
    known = KnownBy(
        id=agent.id,
        agent=agent.name,
        names=page.names if page else (),
        file=books.people.file_of(about.key),
        first_met=page.first_met if page else None,
        last_met=page.last_met if page else None,
        meetings=page.meetings if page else 0,
        portrait=page.portrait if page else "",
        studied=page.studied if page and page.portrait else 0,
        remarks="\n".join(page.by_hand) if page else "",
        lines=tuple(_lines(page, told, weights, own)) if page else (),
        overheard=tuple(_overheard(each, weights, asked or ()) for each in heard),
        pins=tuple(_pins(books, about, private)),
        notes=tuple(_notes(books, about, private)),
        promises=tuple(_promises(books, about, private)),
        plans=tuple(_plans(agent, books, about)),
        ended=tuple(
            PlanRow.of(agent.id, agent.name, plan)
            for plan, cause in errands
            if plan is not None and plan.state.has_ended and cause.source_id == about.key
        ),
        mentions=tuple(_mentions(agent.mind, about, others)),
        memories=tuple(view_of(each, words) for each in memories) if words else (),
        more_memories=total - len(memories),
        complete=complete,
    )
    anything = (
        page,
        known.pins,
        known.notes,
        known.promises,
        known.plans,
        known.mentions,
        known.memories,
    )
    return known if any(anything) else None


def _told(archive: Archive, numbers: Iterable[int]) -> Mapping[int, str]:
    """Return how private memories were told, by number: ``whispered``, ``alone``."""
    return {n: privacy_of(each) for n, each in archive.read_each([*numbers]).items()}


def errands_of(agents: Sequence[KnownAgent]) -> frozenset[str]:
    """Return what asked some agent for something, by the id of the happening; blocks.

    A plan or a promise answers it, maybe a plan that ended lately. What tells something, too, and
    is answered by a promise, asked for nothing: *I see the surgeon on Friday*.
    """
    minds = (each.mind for each in agents if each.mind is not None)
    found = (_errands(mind.books, mind.memory.memory.archive) for mind in minds)
    return frozenset(each.happening for some in found for _, each in some if each.happening)


def _errands(books: Books, archive: Archive) -> list[tuple[Plan | None, Memory]]:
    """Return plans, also those that ended lately, and promises, each with what asked for it.

    None stands for a promise, and for a plan that was made with it.
    """
    plans = [(each, each.since) for each in books.plans.items]
    wanted = [*plans, *((None, each.number) for each in books.commitments.items)]
    made = archive.read_each({number for _, number in wanted} - {0})
    causes = {
        number: set_off_by(archive, each) if each.is_own else each for number, each in made.items()
    }
    promised = {number for number, each in made.items() if each.verb == KnownVerb.PROMISE}
    found = ((None if number in promised else plan, causes.get(number)) for plan, number in wanted)
    return [
        (plan, cause)
        for plan, cause in found
        if cause is not None and (plan is not None or not told_in(cause.words))
    ]


def _lines(
    page: PersonPage,
    told: Mapping[int, str],
    weights: Weights,
    errands: Collection[int],
) -> Iterator[KnownLine]:
    for each in page.lines:
        yield KnownLine(
            text=each.text,
            weight=round(weights.of(each.text), 1),
            told=told_in(each.text),
            said=each.said,
            time=each.time,
            numbers=each.numbers,
            private=next((told[n] for n in each.numbers if n in told), ""),
            errand=any(number in errands for number in each.numbers),
        )


def _weights_of(page: PersonPage | None) -> Weights:
    """Return how much the lines of a page tell, besides each other."""
    return Weights([told_in(each.text) for each in page.lines] if page else ())


def _overheard(memory: Memory, weights: Weights, asked: Collection[str]) -> KnownLine:
    return KnownLine(
        text=memory.words,
        weight=round(weights.of(memory.words), 1),
        told=told_in(memory.words),
        said=True,
        time=memory.time,
        numbers=(memory.number,),
        private=privacy_of(memory),
        to=tuple(each.name for each in addressees_of(memory.what) if not is_me(each)),
        errand=memory.happening in asked,
    )


def _pins(books: Books, about: PersonRow, private: PrivateWords) -> Iterator[PinAbout]:
    for each in books.pinned.items:
        text = without_source(each.text)
        if any(is_named(text, name) for name in about.names):
            numbers = tuple(numbers_cited(each.text))
            hidden = kept_by(private, numbers)
            yield PinAbout(text=text, numbers=numbers, private=hidden)


def _notes(books: Books, about: PersonRow, private: PrivateWords) -> Iterator[NoteAbout]:
    notes = sorted(books.notes.all(), key=lambda each: each.updated, reverse=True)
    for each in notes:
        if any(is_named(f"{each.title}. {each.text}", name) for name in about.names):
            numbers = tuple(numbers_cited(each.text))
            yield NoteAbout(
                title=each.title,
                text=each.text,
                time=each.updated,
                numbers=numbers,
                private=kept_by(private, numbers),
            )


def _promises(books: Books, about: PersonRow, private: PrivateWords) -> Iterator[PromiseTo]:
    done = [plan for plan in books.plans.items if plan.state is PlanState.DONE]
    for each in books.commitments.items:
        # A line that a person wrote by hand has a name only.
        if each.key == about.key or (not each.key and each.who in about.names):
            text = f"{each.kind} {_TOWARDS[each.kind]} {each.who}: {each.text}"
            hidden = kept_by(private, (each.number,))
            is_done = any(reminds_of(plan, [each]) for plan in done)
            yield PromiseTo(text=text, memory=each.number, private=hidden, done=is_done)


def _plans(agent: KnownAgent, books: Books, about: PersonRow) -> Iterator[PlanRow]:
    for each in books.plans.current:
        if reminds_of(each, books.commitments.items):
            continue
        whom = each.whom
        if whom and (whom.id == about.key or (not whom.id and whom.name in about.names)):
            yield PlanRow.of(agent.id, agent.name, each)


def _mentions(mind: Mind, about: PersonRow, others: Collection[str]) -> Iterator[MentionLine]:
    """Yield passages of the summaries about a person, then entries of the journal about them."""
    private = mind.memory.private
    state = mind.memory.memory.tiers.state
    archive = Archive(mind.memory.folder / "archive", read_only=True)

    def cites(number: int) -> bool:
        return any(each.source_id == about.key for each in archive.read(number, number))

    named = []
    for summary in filter(None, (state.recent, state.longterm)):
        for text, told in passages_about(summary, about.names, others, cites):
            cited = {n for each in citations_in(text) for n in (each.first, each.last)}
            numbers = tuple(sorted({*told, *cited}))
            hidden = private_sentences(text, summary, private.is_whispered)
            named.append(
                MentionLine(
                    text=text,
                    tier=summary.tier,
                    time=max(summary.time, state.time or summary.time),
                    numbers=numbers,
                    private="" if hidden else kept_by(private, numbers),
                    private_sentences=hidden,
                )
            )
    yield from named[:MOST_MENTIONS]
    entries = [each for each in mind.books.journal.known if about.key in each.who]
    for entry in entries[: -MOST_ENTRIES - 1 : -1]:
        yield _mention(entry, private)


def _mention(entry: JournalEntry, private: PrivateWords) -> MentionLine:
    return MentionLine(
        text=entry.text,
        tier=None,
        time=entry.time,
        numbers=entry.memories,
        private=kept_by(private, entry.memories),
    )
