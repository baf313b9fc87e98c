"""Memories become a summary, written by a model and checked in any language.

A piece of the memories is shown, as much as fits the model's prompt; what is left over is
summarised next, with this summary in front of it. A summary is refused if it is empty, longer than
allowed, repeats itself, recites its instructions, lacks a heading, lacks a name that the game knows
and that several memories hold, or tells mostly of people and places that its source does not hold.
What it says of them is the model's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from keepsake.language.words import SENTENCE_GAP
from keepsake.memory.text import WIDE, plain
from keepsake.ports import ChatMessage, TargetModel
from keepsake.tasks.guards import bare, recites
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import AnswerRefused, Question

SYSTEM, TEXT = "system", "text"
"""The parts of both prompts: the rules of the task, and the whole of it for a base model."""
MEMORIES, SUMMARIES = "memories", "summaries"
"""What a chat model is shown as the user's message."""
SUMMARISE_PARTS, MERGE_PARTS = (SYSTEM, MEMORIES, TEXT), (SYSTEM, SUMMARIES, TEXT)
_ALL = frozenset({"agent", "persona", "wanted", "headings", "words", "refused"})
SUMMARISE_VARIABLES, MERGE_VARIABLES = _ALL | {"memories", "older"}, _ALL | {"summaries"}
"""The names that each prompt may use."""
_SPARE_TOKENS = 40
"""Tokens of a prompt that are kept free: a chat template adds some."""
SEVERAL = 3
"""In so many memories a name that the game knows stands, if a summary must keep it."""
_LEAST_LETTERS, _LEAST_SHARE = 12, 0.01
"""A summary says something: so many letters, or this share of its source."""
_REPEATS = 3


@dataclass(frozen=True, slots=True)
class SummaryBrief:
    """What the writer of a summary is told, whatever it summarises."""

    agent: str
    persona: str  # who that is, a paragraph; empty to leave it out
    wanted: str  # what the summary should be like, as the strategy says
    headings: tuple[str, ...]  # those that it must have
    words: int  # about how many words it may have
    # how many tokens it may have, for the texts that it is made of
    most_tokens: Callable[[tuple[str, ...]], int]
    tokens: Callable[[str], int]  # what a text costs
    names: frozenset[str] = frozenset()  # of the people and places that the game knows

    def values(self, refused: str) -> dict[str, object]:
        """What both prompts may name."""
        return {
            "agent": self.agent,
            "persona": self.persona,
            "wanted": self.wanted,
            "headings": list(self.headings),
            "words": self.words,
            "refused": refused,
        }

    @property
    def stop(self) -> tuple[str, ...]:
        """What ends the answer of a base model."""
        return ("\n# ", "\n---") if self.headings else ("\n#", "\n\n", "\n>")


@dataclass(slots=True)
class Summarise:
    """One summary of ``older`` and of the first of ``lines``, or of summaries alone.

    Attributes:
        taken: How many of ``lines`` the model was shown; all of them before it is asked.
    """

    brief: SummaryBrief
    prompts: Prompts
    lines: Sequence[str]  # memories, numbered and dated, oldest first; or summaries
    older: str  # the summary of what was before them; empty for none
    by_rules: Callable[[int], str]  # the summary without a model, of so many of ``lines``
    merges: bool = False  # whether ``lines`` are summaries, all of which are shown
    # the pins and open promises that a summary contradicts; a chat model is held to them
    contradicted: Callable[[str], Sequence[str]] = lambda _: ()
    taken: int = -1
    _is_chat: bool = False

    def __post_init__(self) -> None:
        self.taken = len(self.lines)

    @property
    def name(self) -> str:
        """The name of its template."""
        return "merge" if self.merges else "summarise"

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The prompt with as many of the memories as fit."""
        chat = self._is_chat = target.form == "chat"
        if not self.merges:
            frame = self._rendered(chat=chat, lines=(), refused=refused)
            room = target.prompt_tokens - sum(map(self.brief.tokens, frame)) - _SPARE_TOKENS
            self.taken = self._fitting(room)
        parts = self._rendered(chat=chat, lines=self.lines[: self.taken], refused=refused)
        most = 2 * self.brief.most_tokens(self._shown)
        if chat:
            system, user = parts
            messages = (ChatMessage("system", system), ChatMessage("user", user))
            return Question(messages=messages, max_tokens=most)
        return Question(text=parts[0], stop=self.brief.stop, max_tokens=most)

    def read(self, answer: str) -> str:
        """The summary.

        Raises:
            AnswerRefused: It fails :func:`check_summary`, or contradicts a line that holds.
        """
        text, shown = cleaned(answer), self._shown
        rules = self.prompts.render(SYSTEM, **self._values((), "") | {"persona": "", "older": ""})
        source = Source(shown, rules, lived=not self.merges)
        check_summary(text, source, self.brief, self.brief.most_tokens(shown))
        if self._is_chat and (found := self.contradicted(text)):
            raise AnswerRefused(f"it contradicts what still holds: {'; '.join(found)}")
        return text

    def fallback(self) -> str:
        """The summary without a model."""
        return self.by_rules(self.taken)

    @property
    def _shown(self) -> tuple[str, ...]:
        older = (self.older,) if self.older else ()
        return (*older, *self.lines[: self.taken])

    def _fitting(self, room: int) -> int:
        """How many of the memories fit; one at least."""
        for count, line in enumerate(self.lines):
            room -= self.brief.tokens(line) + 1
            if room < 0:
                return max(count, 1)
        return len(self.lines)

    def _values(self, lines: Sequence[str], refused: str) -> dict[str, object]:
        shown = "summaries" if self.merges else "memories"
        return self.brief.values(refused) | {shown: list(lines), "older": self.older}

    def _rendered(self, *, chat: bool, lines: Sequence[str], refused: str) -> tuple[str, ...]:
        """The messages for a chat model, or the text to continue."""
        values, user = self._values(lines, refused), SUMMARIES if self.merges else MEMORIES
        return tuple(
            self.prompts.render(part, **values) for part in ((SYSTEM, user) if chat else (TEXT,))
        )


@dataclass(frozen=True, slots=True)
class Source:
    """What the writer was shown."""

    texts: tuple[str, ...]  # older summaries and memories
    instructions: str
    lived: bool  # whether the last of the texts are memories, one each


def cleaned(answer: str) -> str:
    """An answer without a fence around it, and without a line that only announces it."""
    text = answer.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text.removesuffix("```").partition("\n")[2].strip()
    first, _, rest = text.partition("\n\n")
    announces = first.rstrip("*_ ").endswith((":", "：")) and "\n" not in first
    return rest.strip() if announces and rest.strip() else text


def check_summary(text: str, source: Source, brief: SummaryBrief, most_tokens: int) -> None:
    """Refuse a summary that is none of ``source``.

    Args:
        text: The summary.
        source: What it was made from.
        brief: What its writer was told.
        most_tokens: How many tokens it may have.

    Raises:
        AnswerRefused: Says why, to the model.
    """
    told = "\n".join(source.texts)
    letters = bare(" ".join(plain(text)))
    if len(letters) < min(_LEAST_LETTERS, max(int(len(told) * _LEAST_SHARE), 1)):
        raise AnswerRefused("it is empty, or says next to nothing")
    if (tokens := brief.tokens(text)) > most_tokens:
        words = most_tokens * len(text.split()) // max(tokens, 1)
        what = f"it has {tokens} tokens and may have {most_tokens}: write {words} words at most"
        raise AnswerRefused(what)
    if again := _repeated(text):
        raise AnswerRefused(f"it repeats itself: {again!r}")
    if recites(letters, bare(source.instructions), bare(told)):
        raise AnswerRefused("it recites its instructions; write only the summary of the memories")
    there = {line.strip("#*: ").casefold() for line in text.splitlines()}
    if missing := [each for each in brief.headings if each.casefold() not in there]:
        raise AnswerRefused(f"these headings are missing: {', '.join(missing)}")
    _check_names(text, source, brief)


def _check_names(text: str, source: Source, brief: SummaryBrief) -> None:
    names = [name for name in brief.names if name and not _same(name, brief.agent)]
    told = [name for name in names if _mentions(text, name)]
    known = [name for name in told if any(_mentions(each, name) for each in source.texts)]
    unknown = (name for name in told if name not in known)
    foreign = [name for name in unknown if any(_stands(text, part) for part in _parts(name))]
    if len(foreign) > max(len(known), 1):
        what = f"the memories do not hold {', '.join(sorted(foreign))}; tell only what they hold"
        raise AnswerRefused(what)
    units = source.texts if source.lived else _units(source.texts)
    lost = (name for name in names if name not in told and _is_wanted(name, units, source))
    if missing := ", ".join(sorted(lost)):
        raise AnswerRefused(f"it leaves out {missing}; say what matters about each")


def _is_wanted(name: str, units: tuple[str, ...], source: Source) -> bool:
    """Whether several memories in which somebody speaks hold a name; comings and looks do not.

    Of older summaries: whether several sentences do, or each of them.
    """
    if source.lived:
        return sum('"' in unit and holds(unit, name) for unit in units) >= SEVERAL
    everywhere = len(source.texts) > 1 and all(holds(text, name) for text in source.texts)
    return everywhere or sum(holds(unit, name) for unit in units) >= SEVERAL


def holds(text: str, name: str) -> bool:
    """Whether a name stands in ``text`` as a whole word, in any case; scripts may have no words."""
    return _stands(text.casefold(), name.casefold())


def _stands(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        before, after = text[max(at - 1, 0) : at], text[at + len(word) :][:1]
        if not (_joins(before, word[0]) or _joins(after, word[-1])):
            return True
        at = text.find(word, at + 1)
    return False


def _mentions(text: str, name: str) -> bool:
    """Whether ``text`` names somebody, by any part of the name, in any case and case form."""
    low = text.casefold()
    return any(part.casefold() in low for part in _parts(name))


def _parts(name: str) -> list[str]:
    """The words of a name that name: ``Mira`` and ``Fenn``, but of ``the Kettle`` the second."""
    return [part for part in name.split() if len(part) > 2 and not part.islower()] or [name]


def _same(name: str, agent: str) -> bool:
    return bool(set(name.casefold().split()) & set(agent.casefold().split()))


def _joins(neighbour: str, end: str) -> bool:
    """Whether a character beside a name makes another word of it."""
    return neighbour.isalnum() and ord(neighbour) < WIDE and ord(end) < WIDE


def _units(texts: Iterable[str]) -> tuple[str, ...]:
    """The sentences and lines of older summaries."""
    return tuple(part for text in texts for part in _sentences(text))


def _repeated(text: str) -> str:
    """A sentence or line that comes again and again; empty if none does."""
    counts = Counter(" ".join(part.split()) for part in _sentences(text))
    found = (part for part, times in counts.items() if times >= _REPEATS and len(part) > 12)
    return next(found, "")[:60]


def _sentences(text: str) -> list[str]:
    found = (part for line in text.splitlines() for part in SENTENCE_GAP.split(line))
    return [part for part in found if part.strip()]


QUESTION, CONTRADICTIONS_VARIABLES = "question", frozenset({"lines", "text"})
"""The part of ``contradictions.md``, and the names that it may use."""


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Which of ``lines`` a summary contradicts: the chat model that wrote it is asked once.

    Any answer but a list of their numbers counts as none, and so does no answer.
    """

    prompts: Prompts
    lines: Sequence[str]  # pins and open promises
    text: str  # the summary
    name: str = "contradictions"

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The numbered lines, the summary, and the question."""
        text = self.prompts.render(QUESTION, lines=list(self.lines), text=self.text)
        return Question(messages=(ChatMessage("user", text),), temperature=0.0)

    def read(self, answer: str) -> tuple[str, ...]:
        """The contradicted lines; none for an answer of another form."""
        words = set(answer.strip().rstrip(".").replace(",", " ").split())
        known = {str(number): line for number, line in enumerate(self.lines, 1)}
        named = tuple(line for number, line in known.items() if number in words)
        return named if known.keys() >= words else ()

    def fallback(self) -> tuple[str, ...]:
        """None, where the model does not answer."""
        return ()
