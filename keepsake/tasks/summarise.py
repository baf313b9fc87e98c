"""Summaries of memories, written by a model and checked in any language.

The model is shown as many memories as fit its prompt. The rest is summarised next, with this
summary before it. A summary is refused if it is empty, too long, repetitive, recites its
instructions, omits a known name that several memories contain, is mostly about people and places
that its source does not mention, names what nobody knows, or contradicts a pin or an open promise.
A model that insists on a name that nobody knows loses the sentences that have it. Lines for the
reader are removed (:mod:`keepsake.tasks.chatter`).
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from keepsake.happening import ME, Speech
from keepsake.language.capitals import capitalised, folded
from keepsake.language.languages import language_name, language_of
from keepsake.language.perception import QUOTES, SENTENCE_GAP, shorten
from keepsake.language.recited import bare, recites
from keepsake.language.sourced_text import with_marks, without_marks
from keepsake.memory.summary_text import (
    WIDE,
    SummarySource,
    count_words,
    numbered,
    plain,
    says_something,
    summarize,
)
from keepsake.ports import ChatMessage, FormName, GenerationRequest, TargetModel
from keepsake.tasks.chatter import Sources, cleaned, idle_ends, sentence_parts, without_chatter
from keepsake.tasks.task import AnswerRefused, Prompts

SYSTEM = "system"
MEMORIES = "memories"
SUMMARIES = "summaries"
"""The parts of the prompts: the rules of the task, and the source texts."""
_SPARE_TOKENS = 40
"""Prompt tokens that are kept free, because a chat template adds some."""
SEVERAL = 3
"""A summary must keep a known name that at least this many memories of the agent's talk contain."""
_LEAST_LETTERS = 12
"""A summary with fewer letters is refused, unless its source is as short."""
_LEAST_SHARE = 0.01
"""The share of its source's letters from which a shorter summary is accepted."""
_LEAST_TOKENS = 60
"""A summary may always have this many tokens, even if its source has fewer."""
_PROSE = 0.95
"""The share of the words that would fit. A summary may have that many, so that it fits if its words
are a little longer than those of its source."""
_REPEATS = 3
_OWN_NAME = 2
"""The sentences with the agent's own name from which a summary is not its own. Of 78 recorded ones
that were its own, one has it once; the two that were written as another villager have it twice."""
_QUOTATION = re.compile("|".join(f"{begin}[^{end}]*{end}" for begin, end in QUOTES.items()))
_ENDING = 2
"""The last letters of a name that may differ: ``Mira``, ``Miry``. At least three must be equal."""
_CALENDAR = (*calendar.day_name, *calendar.month_name)
"""The names of days and months. The lines have "29 Nov" and "tomorrow"; a summary may write the day
out."""


@dataclass(slots=True)
class Summarise:
    """The task of summarising older summaries with the first memories, or summaries alone.

    Attributes:
        taken: How many memories the model was shown; before it is asked, all of them.
        shown: The texts that the model was shown, older summaries first.
        required: The names that the summary must have. The prompt says them and the check looks for
            them, so that no answer is refused for a rule that the model did not know.
        cited: By sentence of the answers, and of the older summaries: the memories that it tells,
            as its writer said.
    """

    source: SummarySource
    prompts: Prompts
    persona: str  # who the agent is, a paragraph; empty to leave it out
    names: frozenset[str]  # of the people and places that the game knows
    # returns the pins and open promises that a summary contradicts
    contradicted: Callable[[str], Sequence[str]] = lambda _: ()
    name: str = field(init=False)
    taken: int = field(init=False)
    shown: tuple[str, ...] = field(init=False)
    required: tuple[str, ...] = field(init=False)
    cited: dict[str, tuple[int, ...]] = field(init=False)
    _merges: bool = field(init=False)  # whether only summaries are summarised, all at once
    _lines: Sequence[str] = field(init=False)  # memories, numbered and dated; or summaries
    _older: str = field(init=False)  # the summary of earlier memories; empty for none
    _asked_again: bool = field(init=False, default=False)
    _cites: bool = field(init=False, default=False)  # whether it is to name its memories

    def __post_init__(self) -> None:
        of = self.source
        self._merges = not self.source.memories
        self.name = "merge" if self._merges else "summarise"
        self.cited = dict(of.cited)
        older = [with_marks(each, of.cited) for each in of.older]
        self._lines = older if self._merges else numbered(of.memories)
        self._older = "" if self._merges else "\n\n".join(older)
        self._show(len(self._lines))

    @property
    def most_words(self) -> int:
        """The most words of the summary, as the prompt says it.

        One with more words is accepted if it fits all the same. A model counts words, a prompt's
        budget counts tokens. The texts that are shown say how many tokens a word has: they are in
        the language of the summary.
        """
        tokens = sum(map(self.source.tokens, self.shown))
        words = sum(map(count_words, self.shown))
        return int(_PROSE * self._most_tokens * words / max(tokens, 1))

    @property
    def _most_tokens(self) -> int:
        """The most tokens of the summary: no more than its source has."""
        source = sum(map(self.source.tokens, self.shown))
        return min(self.source.most_tokens, max(source, _LEAST_TOKENS))

    def _show(self, taken: int) -> None:
        """Show the first ``taken`` lines."""
        older = (self._older,) if self._older else ()
        self.taken = taken
        self.shown = (*older, *self._lines[:taken])
        texts = [each.casefold() for each in (self.shown if self._merges else self._talked())]
        self.required = tuple(sorted(x for x in self._others if self._is_required(x, texts)))

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt with as many of the memories as fit."""
        self._asked_again = bool(refused)
        self._cites = FormName(target.form).sends_messages
        tokens = self.source.tokens
        parts = (SYSTEM, SUMMARIES if self._merges else MEMORIES)
        frame = (self._rendered(part, (), refused, older="") for part in parts)
        room = target.prompt_tokens - sum(map(tokens, frame)) - _SPARE_TOKENS
        summaries = [*self._lines] if self._merges else [self._older]
        if sum(map(tokens, (*self._lines, self._older))) > room:  # a hand-written one can be long
            share = room // (len(summaries) + 1)
            most = max(min(self.source.most_tokens, share), _LEAST_TOKENS)
            alone = replace(self.source, memories=(), limit_tokens=most)
            fitting = [
                text if tokens(text) <= most else summarize(replace(alone, older=(text,)))
                for text in summaries
            ]
            self._lines = fitting if self._merges else self._lines
            self._older = self._older if self._merges else fitting[0]
        if not self._merges:
            room = room - tokens(self._older)
            taken = 0
            for line in self._lines:
                room -= tokens(line) + 1
                if room < 0 and taken:
                    break
                taken += 1
            self.taken = taken
        self._show(self.taken)
        rules, shown = (self._rendered(x, self._lines[: self.taken], refused) for x in parts)
        messages = (ChatMessage("system", rules), ChatMessage("user", shown))
        return GenerationRequest(messages=messages, max_tokens=2 * self._most_tokens)

    def read(self, answer: str) -> str:
        """Return the checked summary.

        Raises:
            AnswerRefused: It fails :meth:`_check`, contradicts a pin or an open promise, names what
                nobody knows, begins or ends with a sentence that tells of nothing, or was written
                as somebody else.
        """
        text, cited = without_marks(cleaned(answer), self._numbers)
        self.cited |= cited
        sources = self._sources(text)
        text = without_chatter(text, sources)
        self._check(text)
        if not self._asked_again and self._names_its_writer(text):
            who = self.source.agent
            raise AnswerRefused(f"it speaks of {who} by name; you are {who}, write of yourself")
        invented = self._invented(text)
        idle = idle_ends(text, sources)
        if not invented and not idle:
            return self._uncontradicted(text)
        kept = _without(text, invented, idle)
        usable = self._uncontradicted(kept) if self._is_as_good(kept, text) else None
        if usable is not None and self._asked_again:
            return usable
        raise AnswerRefused(_unfounded(invented, idle), usable=usable)

    @property
    def _numbers(self) -> frozenset[int]:
        """The memories that a sentence may name: those that the prompt shows by number."""
        shown = islice(filter(says_something, self.source.memories), self.taken)
        before = (number for numbers in self.source.cited.values() for number in numbers)
        return frozenset({*(each.number for each in shown), *before})

    def _sources(self, text: str) -> Sources:
        """Return what a summary may tell of: memories, older summaries, and who the agent is."""
        of = self.source
        older = self.shown if self._merges else (self._older,)
        memories = () if self._merges else self._lines[: self.taken]
        known = (*older, *of.constraints, self.persona)
        texts = (*memories, *(part for each in known for part in _sentences(each)))
        names = (part for name in self._others for part in _parts(name))
        return Sources.of(text, texts, names)

    @property
    def _others(self) -> list[str]:
        """The names of people and places that the game knows, without the agent's own."""
        own = set(self.source.agent.casefold().split())
        return [n for n in self.names if n and own.isdisjoint(n.casefold().split())]

    def _is_as_good(self, part: str, whole: str) -> bool:
        """Whether a part of a summary passes the check, and names all that the whole one names."""
        if any(_mentions(whole, name) and not _mentions(part, name) for name in self.names):
            return False
        try:
            self._check(part)
        except AnswerRefused:
            return False
        return True

    def _uncontradicted(self, text: str) -> str:
        """Return the text; raise AnswerRefused if it contradicts a pin or an open promise."""
        # Contradictions are checked only for the summary that includes the last memories.
        whole = self._merges or self.taken >= len(self.source.memories)
        if whole and self.source.constraints and (found := self.contradicted(text)):
            raise AnswerRefused(f"it contradicts what still holds: {'; '.join(found)}")
        return text

    def fallback(self) -> str:
        """Return the summary without a model."""
        return summarize(replace(self.source, memories=self.source.memories[: self.taken]))

    def _rendered(self, part: str, lines: Sequence[str], refused: str, **other: str) -> str:
        of = self.source
        values: dict[str, object] = {
            "agent": of.agent,
            "persona": self.persona,
            "words": self.most_words,
            "refused": refused,
            "cites": self._cites,
            "older": self._older,
            "required": self.required,
            SUMMARIES if self._merges else MEMORIES: list(lines),
        }
        return self.prompts.render(part, **values | other)

    def _check(self, text: str) -> None:
        """Refuse a text that is not a summary of the memories in the prompt."""
        told = "\n".join(self.shown)
        letters = bare(" ".join(plain(text)))
        if len(letters) < min(_LEAST_LETTERS, max(int(len(told) * _LEAST_SHARE), 1)):
            raise AnswerRefused("it is empty, or says next to nothing")
        if self._sources(text).lack(text):
            raise AnswerRefused("it tells nothing of the memories; write what they hold")
        words = count_words(text)
        if words > self.most_words and self.source.tokens(text) > self._most_tokens:
            raise AnswerRefused(f"it has {words} words and may have {self.most_words}")
        counts = Counter(" ".join(part.split()) for part in _sentences(text))
        for part, times in counts.items():
            if times >= _REPEATS and len(part) > 12:
                raise AnswerRefused(f"it repeats itself: {part[:60]!r}")
        instructions = self._rendered(SYSTEM, (), "", persona="", older="")
        if recites(letters, bare(instructions), bare(told)):
            raise AnswerRefused(
                "it recites its instructions; write only the summary of the memories"
            )
        self._check_names(text)

    def _check_names(self, text: str) -> None:
        told = [name for name in self._others if _mentions(text, name)]
        known = [name for name in told if any(_mentions(each, name) for each in self.shown)]
        unknown = (name for name in told if name not in known)
        foreign = [name for name in unknown if any(_has_word(text, part) for part in _parts(name))]
        if len(foreign) > max(len(known), 1):
            what = f"the memories do not mention {', '.join(sorted(foreign))}"
            raise AnswerRefused(f"{what}; write only what they say")
        if missing := ", ".join(name for name in self.required if name not in told):
            raise AnswerRefused(f"it leaves out {missing}; say what matters about each")

    def _names_its_writer(self, text: str) -> bool:
        """Whether several sentences have the agent's own name, without quotations and places.

        So does a summary that was written as somebody else, or about the agent. It may be told once
        by what name somebody called it.
        """
        own = _parts(self.source.agent)
        told = _QUOTATION.sub("", text)
        for name in self.names.difference(self._others):
            told = told.replace(name, "") if name not in (self.source.agent, *own) else told
        found = (part for part in _sentences(told) if any(_has_word(part, each) for each in own))
        return len([*found]) >= _OWN_NAME

    def _invented(self, text: str) -> tuple[str, ...]:
        """Return the names that stand in no source and that the game does not know, each once.

        A name is a word that has a capital within a sentence. In a language that writes other words
        so, most capitals of the memories are no names that the game knows: there none is found. The
        English name of a language that somebody spoke is none. A capital may also mean a feast; a
        model says it in other words when it is asked again.
        """
        if not self._capitals_are_names():
            return ()
        of = self.source
        sources = (*self.shown, *of.constraints, self.persona, of.agent, *self.names, *_CALENDAR)
        spoken = {language_of(words) for text in self.shown for words in _QUOTATION.findall(text)}
        sources = (*sources, *map(language_name, spoken))
        known = folded("\n".join(sources))
        words = (word for word in capitalised(text) if not _stands_in(word, known))
        return tuple(dict.fromkeys(words))

    def _capitals_are_names(self) -> bool:
        """Whether most words with a capital within the memories' sentences are known names."""
        names = folded("\n".join((self.source.agent, *self.names)))
        found = [word for text in self.shown for word in capitalised(text)]
        return 2 * sum(_stands_in(word, names) for word in found) > len(found)

    def _is_required(self, name: str, shown: Sequence[str]) -> bool:
        """Whether several memories with speech (or sentences of summaries) contain a name.

        ``shown``: The lines of the agent's own talk, or the summaries, folded.
        """
        name = name.casefold()
        if not self._merges:
            return sum(_has_word(each, name) for each in shown) >= SEVERAL
        if len(shown) > 1 and all(_has_word(text, name) for text in shown):
            return True
        return sum(_has_word(part, name) for text in shown for part in _sentences(text)) >= SEVERAL

    def _talked(self) -> Iterator[str]:
        """Yield the lines that are shown of talk in which the agent takes part."""
        told = filter(says_something, self.source.memories)
        for line, memory in zip(self._lines[: self.taken], told, strict=False):
            match memory.what:
                case Speech(speaker=speaker, to=to, words=words) if words:
                    if speaker == ME or not to or ME in to:
                        yield line


def _has_word(text: str, word: str) -> bool:
    """Whether ``text`` contains ``word`` as a whole word; some scripts do not separate words."""
    at = text.find(word)
    while at >= 0:
        ends = ((text[max(at - 1, 0) : at], word[0]), (text[at + len(word) :][:1], word[-1]))
        # An adjacent letter or digit makes it a different word.
        if not any(x.isalnum() and ord(x) < WIDE and ord(end) < WIDE for x, end in ends):
            return True
        at = text.find(word, at + 1)
    return False


def _stands_in(word: str, text: str) -> bool:
    """Whether a folded text contains a word, with any ending."""
    word = folded(word)
    return word[: max(len(word) - _ENDING, 3)] in text


def _mentions(text: str, name: str) -> bool:
    """Whether ``text`` contains any part of a name, in upper or lower case, with any ending."""
    low = text.casefold()
    return any(part.casefold() in low for part in _parts(name))


def _without(text: str, names: Sequence[str], sentences: Collection[str] = ()) -> str:
    """Return a text without some sentences, and without those that have one of the names."""
    lines = list[str]()
    for line in text.splitlines():
        parts = sentence_parts(line)
        there = [part for part in parts if part.strip() not in sentences or not part.strip()]
        kept = [part for part in there if not any(_has_word(part, name) for name in names)]
        if kept or not parts:
            lines.append("".join(kept).rstrip())
    return "\n".join(lines).strip()


def _unfounded(names: Sequence[str], sentences: Sequence[str]) -> str:
    """Return what a summary says that no memory does, as the reason of a refusal."""
    told = [f"the memories do not mention {', '.join(names)}"] if names else []
    told += [f"this tells nothing of the memories: {shorten(each, 80)!r}" for each in sentences]
    return f"{'; '.join(told)}; write only what they say"


def _parts(name: str) -> list[str]:
    """Return a name's significant words: ``Mira``, ``Fenn``; ``Kettle`` of ``the Kettle``."""
    return [part for part in name.split() if len(part) > 2 and not part.islower()] or [name]


def _sentences(text: str) -> list[str]:
    found = (part for line in text.splitlines() for part in SENTENCE_GAP.split(line))
    return [part for part in found if part.strip()]


@dataclass(frozen=True, slots=True)
class Contradictions:
    """The task of naming the ``lines`` that a summary contradicts; its writer is asked once.

    An answer that is not a list of their numbers, or no answer, means that there is none.
    """

    prompts: Prompts
    lines: Sequence[str]  # pins and open promises
    text: str  # the summary
    name: str = "contradictions"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt: the numbered lines, the summary, and the question."""
        text = self.prompts.render("question", lines=list(self.lines), text=self.text)
        return GenerationRequest(messages=(ChatMessage("user", text),), temperature=0.0)

    def read(self, answer: str) -> tuple[str, ...]:
        """Return the contradicted lines; none if the answer has another form."""
        words = set(answer.strip().rstrip(".").replace(",", " ").split())
        known = {str(number): line for number, line in enumerate(self.lines, 1)}
        named = tuple(line for number, line in known.items() if number in words)
        return named if known.keys() >= words else ()

    def fallback(self) -> tuple[str, ...]:
        """Return no lines if the model does not answer."""
        return ()
