"""What of a life an agent can still tell at its end: questions, names and numbers, rules.

The questions are drawn once from the life itself, so that every configuration is asked the
same; what it has kept is looked for in its prompt, and then with its recall by words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from game.index.sources import memory_document, summary_document
from game.index.words import Fts5Index
from game.lab.replays.lived import ArchivedLife
from game.mind.agent_memory import AgentMemory
from game.mind.archive import history
from game.mind.archive.records import Memory
from game.mind.language.details import details, vocabulary
from game.mind.ports import Clock
from game.mind.recall.config import RecallConfig
from game.mind.recall.documents import Document, DocumentKind
from game.mind.recall.recall import MemorySearch, SearchRequest
from game.mind.recall.related import SearchResult, related
from game.mind.summaries.roundtrip import RoundtripQuestion, answered, draw, rate
from game.mind.summaries.verification import judge

NEWEST = 20
"""So many of the newest memories are not asked about: any window holds them."""
_STRETCH = 400
"""Memories from which questions are drawn at a time: drawing takes their square."""
_SPARE = 3
"""Found beyond what a prompt takes, since some of it may stand there already, as in the game."""


@dataclass(frozen=True, slots=True)
class Exam:
    """What is asked of every configuration."""

    questions: tuple[RoundtripQuestion, ...]  # with their answers, in the order of the life
    # the keys of each name, place and number that the life holds
    details: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RetentionResult:
    """What a configuration has kept of a life."""

    asked: int  # questions that were asked
    in_prompt: int  # those that the prompt alone answers
    with_recall: int  # those that prompt and recall by words answer together
    details: int  # names, places and numbers of the whole life
    details_seen: int  # those of them that the prompt still shows
    rules: int  # rules, promises and questions that are still open at the end
    rules_kept: int  # those of them that the agent still sees, in whatever words


def set_exam(life: ArchivedLife, most: int) -> Exam:
    """Draw the questions of a life; the same ones each time.

    A long life is drawn from in stretches; a question that a memory of another stretch answers
    too is left out, as long as its own stretch has others.
    """
    memories = list({step.number: step for step in life.steps}.values())
    asked = memories[:-NEWEST] if len(memories) > 2 * NEWEST else memories
    found = details(memory.text for memory in memories)
    return Exam(tuple(_drawn(asked, most)), tuple(found))


def _drawn(memories: Sequence[Memory], most: int) -> Iterator[RoundtripQuestion]:
    stretches = -(-len(memories) // _STRETCH)
    size = -(-len(memories) // stretches)
    for place in range(stretches):
        share = most * (place + 1) // stretches - most * place // stretches
        part = memories[place * size : (place + 1) * size]
        drawn = draw(part, 2 * share if stretches > 1 else share)
        others = [m.text for m in (*memories[: place * size], *memories[(place + 1) * size :])]
        # Told elsewhere too, it says nothing of what became of this stretch.
        once = [question for question in drawn if not answered(question, others)]
        yield from sorted(_spread(once or drawn, share), key=lambda q: q.number)


def _spread(questions: Sequence[RoundtripQuestion], most: int) -> list[RoundtripQuestion]:
    """So many of them, evenly."""
    if len(questions) <= most:
        return list(questions)
    return [questions[place * len(questions) // most] for place in range(most)]


def examine(
    exam: Exam,
    visible: Sequence[str],
    wanted: Sequence[str],
    search: Callable[[str], Sequence[str]],
) -> RetentionResult:
    """Ask a memory at the end of its life; blocks."""
    told = rate(exam.questions, visible, search)
    seen = vocabulary(visible)
    verdict = judge(summaries=(), sources=(), visible=visible, must_keep=wanted)
    return RetentionResult(
        asked=told.asked,
        in_prompt=told.prompt,
        with_recall=told.prompt if told.recalled is None else told.recalled,
        details=len(exam.details),
        details_seen=sum(seen.issuperset(keys) for keys in exam.details),
        rules=verdict.wanted,
        rules_kept=verdict.wanted - len(verdict.put_back),
    )


class WordRecall:
    """The recall of one memory by words alone, as a thought would be given it."""

    def __init__(
        self, life: ArchivedLife, memory: AgentMemory, clock: Clock, config: RecallConfig
    ) -> None:
        self._index = Fts5Index()
        self._index.add(_documents(life.name, memory))
        self._context, self._config = memory.context(), config
        self._recall = MemorySearch(
            self._index, None, None, names=lambda: life.names, clock=clock, agent=life.name
        )

    def __call__(self, text: str) -> Sequence[str]:
        """The lines that a thought would be given on these words; nothing of the window."""
        window, config = self._context.window, self._config
        limits = {DocumentKind.SUMMARY: config.summaries, DocumentKind.MEMORY: config.memories}
        found = self._recall.search_each(
            text,
            [SearchRequest(limit + _SPARE, (kind,)) for kind, limit in limits.items()],
            before=window[0].number if window else None,
        )
        if found is None:
            return ()
        hits = SearchResult(summaries=tuple(found[0]), memories=tuple(found[1]))
        return related(hits, self._context, config).experiences

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()


def _documents(name: str, memory: AgentMemory) -> list[Document]:
    """Every memory, and the short-term summary of each compaction that stands."""
    archive = memory.archive
    documents = [memory_document(each, name) for each in archive.read(1, archive.last_number)]
    for past in history.standing(archive):
        if past.after.recent is not None:
            documents.append(summary_document(past.number, past.after.recent))
    return documents
