"""What the verbs of a memory return: plain, frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from keepsake.books.person_page import PersonPage
from keepsake.books.plan import Plan
from keepsake.happening import own_deed_of
from keepsake.recall.documents import Hit


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A memory that a search found.

    Attributes:
        number: 1, 2, 3 … in order of time.
        text: The line as it was read; with the agent's name if it spoke or acted itself.
        speaker: Who spoke or acted; empty for nobody.
        words: What was said; empty if nobody spoke.
        score: Higher is better; only comparable within one search.
        why: The parts of the score, in words.
        bears: Whether it bears on the question. The others are the next best.
    """

    number: int
    time: datetime
    text: str
    speaker: str = ""
    words: str = ""
    place: str = ""
    score: float = 0.0
    why: tuple[str, ...] = ()
    bears: bool = True

    @classmethod
    def of(cls, hit: Hit, agent: str) -> RecalledMemory:
        """Return what a search of the index of that agent found."""
        document = hit.document
        own = own_deed_of(document.memory().what, agent)
        return cls(
            document.first,
            document.time,
            own or document.text,
            document.speaker,
            document.said,
            document.place,
            round(hit.score, 4),
            tuple(hit.reasons),
            hit.bears,
        )


@dataclass(frozen=True, slots=True)
class MemoryPrompt:
    """A prompt for a chat model, within its budget. Nothing of it was remembered.

    Attributes:
        messages: ``{"role": "system", "content": …}`` …, as chat endpoints take them.
        text: The same as one text; for a model that continues text, all that is sent.
        tokens: Its tokens, as estimated.
        budget: The most tokens that it may have.
        rests_on: The numbers of the memories that it shows because they bear on the question.
            Pass them to ``perceive`` with an answer that you get yourself.
        only_for: The ids of the only people who may hear an answer, because the prompt holds what
            they confided; None for everybody.
    """

    messages: list[dict[str, str]]
    text: str
    tokens: int
    budget: int
    rests_on: tuple[int, ...] = ()
    only_for: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answered.

    Attributes:
        text: What it said, one line for each that the model wrote; empty if it said nothing.
        gestures: What it did besides: ``smiles``.
        number: The number of the memory of its words; 0 if it said nothing.
        question: The number of the memory of what it answers.
        rests_on: The numbers of the memories that its prompt showed because they bear on it.
        plans: What it plans to do from now on.
        model: The model that answered.
        prompt_tokens, completion_tokens: As the server counts; 0 if it does not.
    """

    text: str
    gestures: tuple[str, ...] = ()
    number: int = 0
    question: int = 0
    rests_on: tuple[int, ...] = ()
    plans: tuple[Plan, ...] = ()
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """What a memory holds of a person.

    Attributes:
        id: The person's identity.
        name: The current name; ``names`` has all, the current one last.
        about: What the agent makes of them, and what people wrote on the page.
        said: What they said and did, oldest first, without what was said in confidence.
    """

    id: str
    name: str
    names: tuple[str, ...]
    first_met: datetime
    last_met: datetime
    meetings: int
    about: str
    said: tuple[str, ...]

    @classmethod
    def of(cls, page: PersonPage, said: Sequence[str]) -> KnownPerson:
        """Return a page; ``said``: the lines of it that may be shown."""
        about = "\n".join(filter(None, [page.portrait, *page.by_hand]))
        names = page.names
        met = (page.first_met, page.last_met, page.meetings)
        return cls(page.key, page.name, names, *met, about, tuple(said))


@dataclass(frozen=True, slots=True)
class Summaries:
    """The two summaries of a memory; empty texts before the first compaction.

    Attributes:
        longterm: Of all older memories.
        recent: Of the memories that left the window last.
        window: The numbers of the first and last memory that prompts show word for word.
    """

    longterm: str
    recent: str
    window: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of a request to forget a person.

    Attributes:
        memories: How many memories were deleted.
        problems: What could not be deleted, in words; it is tried again when the memory is opened.
    """

    memories: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """Figures of a memory.

    Attributes:
        memories: How many memories the archive has.
        compactions: How many compactions were ever made.
        by_meaning: Whether recall searches by meaning now.
        problem: Why recall is by words alone, or fails; empty if all is well.
        model: The model's name; empty for none.
    """

    memories: int
    compactions: int
    by_meaning: bool
    problem: str
    model: str
