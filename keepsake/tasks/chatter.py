"""What a model says around a summary, to whoever asked for it.

Fences, introductions and what follows a rule are known by their form. Other words for the reader
("Let me know if you need more.") are known by what they lack: they name nobody, and no memory says
the same. That holds in any language. They stand at the beginning or at the end, so only there they
are looked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise, takewhile

from keepsake.language.languages import language_of, telling_in
from keepsake.language.perception import SENTENCE_GAP

_FENCE = "```"
_RULE = re.compile(r"\n\s*(?:-{3,}|\*{3,}|_{3,})[ \t]*(?=\n|\Z)")
"""A rule of markdown. A summary is prose, a list or notes; what follows a rule is said to whoever
asked."""
_GAP = re.compile(r"(\n\s*)")
"""What stands between the lines of a summary."""
_ITEM = re.compile(r"#+ |(?:[-*+•・]|\d+[.)])\s")
"""How a heading or an item of a list begins. Nobody is addressed in one."""
_TOGETHER = 2
"""How many telling words of one memory a line has at least, if it tells of that memory. In 78
recorded summaries of several paragraphs each first and last one names somebody and has three or
more; of sixteen closing phrases in six languages hardly one has two."""


def cleaned(answer: str) -> str:
    """Return an answer without what is around the summary by its form.

    That is a fence, with what comes after it; a JSON object whose only value is the summary; an
    introductory line; what follows a rule at the end.
    """
    text = answer.strip()
    if text.startswith(_FENCE) and "\n" in text:
        text = text.partition("\n")[2].partition(f"\n{_FENCE}")[0].strip()
    text = _unwrapped(text)
    first, _, rest = text.partition("\n\n")
    announces = first.rstrip("*_ ").endswith((":", "：")) and "\n" not in first
    text = rest.strip() if announces and rest.strip() else text
    return _RULE.split(text, 1)[0].strip() or text


def _unwrapped(text: str) -> str:
    """Return the text that a JSON object holds, if it holds just one; else the text as it is."""
    if not text.startswith("{"):
        return text
    try:
        said = json.loads(text)
    except ValueError:
        return text
    values = list(said.values()) if isinstance(said, dict) else []
    return values[0].strip() if len(values) == 1 and isinstance(values[0], str) else text


def sentence_parts(line: str) -> list[str]:
    """Return the sentences of a line, each with the gap after it."""
    ends = [gap.end() for gap in SENTENCE_GAP.finditer(line)]
    return [line[start:end] for start, end in pairwise([0, *ends, len(line)])]


@dataclass(frozen=True)
class Sources:
    """What a summary may tell of, to find words of it that tell of nothing.

    Attributes:
        telling: The telling words of each memory, or of each sentence of an older summary.
        names: Words of the names of people and places. A text with one of them tells of it.
        language: That of the summary, whose stems the words have.
    """

    telling: Collection[frozenset[str]]
    names: frozenset[str]
    language: str

    @classmethod
    def of(cls, summary: str, texts: Iterable[str], names: Iterable[str]) -> Sources:
        """Return the sources of a summary, each a text."""
        language = language_of(summary)
        telling = frozenset(telling_in(each, language) for each in texts)
        return cls(telling, telling_in(" ".join(names), language), language)

    def shared(self, text: str) -> int:
        """Return the most telling words that a text has in common with one of the sources.

        For a text that names somebody these are at least :data:`_TOGETHER`.
        """
        said = telling_in(text, self.language)
        if not said.isdisjoint(self.names):
            return max(_TOGETHER, len(said))
        return max((len(said & each) for each in self.telling), default=0)

    def lack(self, text: str) -> bool:
        """Return whether a text has telling words, and no source has one of them."""
        return bool(telling_in(text, self.language)) and not self.shared(text)


def without_chatter(text: str, sources: Sources) -> str:
    """Return a summary without lines at either end that tell of nothing; one line always stays."""
    parts = _GAP.split(text)  # lines, and the gaps between them
    while len(parts) > 1 and _is_chatter(parts[-1], sources):
        parts = parts[:-2]
    while len(parts) > 1 and _is_chatter(parts[0], sources):
        parts = parts[2:]
    return "".join(parts)


def _is_chatter(line: str, sources: Sources) -> bool:
    return not _ITEM.match(line) and sources.shared(line) < _TOGETHER


def idle_ends(text: str, sources: Sources) -> list[str]:
    """Return the sentences at both ends of a summary's prose that tell of nothing.

    They have telling words, and no source has one of these. A short sentence of a good summary may
    be so, too ("I took that on too."): three of 160 were. So the model is told before a sentence is
    left out.
    """
    parts = [part for line in text.splitlines() for part in sentence_parts(line)]
    sentences = [part.strip() for part in parts if part.strip()]

    def idle(sentence: str) -> bool:
        return not _ITEM.match(sentence) and sources.lack(sentence)

    last = [*takewhile(idle, reversed(sentences))]
    return [*takewhile(idle, sentences[: -len(last) or None]), *reversed(last)]
