"""The memory of Park et al., *Generative Agents: Interactive Simulacra of Human Behavior* (2023).

A stream of what was lived and of what was concluded from it. What is recalled scores highest in
recency, importance and relevance together; when enough of importance has come in, a model reflects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from keepsake.archive.records import Memory
from keepsake.books.files import replace_file
from keepsake.books.journal import importance
from keepsake.errors import ModelError
from keepsake.lab.memories.plain import MOST_LINES, LineIndex, Newest, first_within, settings_of
from keepsake.language.perception import writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import Figure, RecalledLine, Surroundings, dated, line_of
from keepsake.ports import GenerationRequest, LanguageModel
from keepsake.recall.documents import Document, DocumentKind

MOST_QUESTIONS, MOST_INSIGHTS = 3, 5
_RATE = """On the scale of 1 to 10, where 1 is purely mundane (e.g., brushing teeth, making bed) \
and 10 is extremely poignant (e.g., a break up, college acceptance), rate the likely poignancy of \
the following piece of memory.
Memory: {line}
Rating:"""
_ASK = """{statements}

Given only the information above, what are {most} most salient high-level questions we can answer \
about the subjects in the statements?
1."""
_INFER = """Statements about {agent}
{statements}

What {most} high-level insights can you infer from the above statements? (example format: insight \
(because of 1, 5, 3))
1."""
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*•])?\s*(?P<text>\S.*?)\s*$")
_BECAUSE = re.compile(r"\s*\((?:because of|based on)?(?P<numbers>[^()]*\d[^()]*)\)\.?\s*$", re.I)
_NUMBER = re.compile(r"\d{1,4}")
_SHORTEST = 8
"""Characters of a line that says something."""
DECAY = 0.995
"""What of recency is left an hour later."""
_REFLECTED_ON, _FOR_A_QUESTION = 100, 30
"""The newest entries from which questions are made, and what is recalled for each of them."""
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """What the paper gives numbers for."""

    window: int = between(16, low=0, high=MOST_LINES)  # newest memories that stand in every prompt
    threshold: int = between(150, low=1, high=100_000)  # summed importance that asks to reflect
    recency: float = between(1.0, low=0.0, high=100.0)  # weights of the three parts of a score
    importance: float = between(1.0, low=0.0, high=100.0)
    relevance: float = between(1.0, low=0.0, high=100.0)


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """Something lived, or concluded."""

    key: str
    text: str  # what is embedded and rated
    shown: str  # as a prompt has it
    accessed: str  # when it was lived or recalled last, ISO 8601
    importance: int  # 1 to 10
    numbers: tuple[int, ...]  # the memories that it rests on
    rated: bool = False  # whether a model has said how important it is
    concluded: bool = False

    def hours(self, now: datetime) -> float:
        """Since it was last recalled."""
        return max((now - datetime.fromisoformat(self.accessed)).total_seconds() / _HOUR, 0.0)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What its file holds."""

    newest: int = 0
    unreflected: int = 0  # summed importance since the last reflection
    entries: tuple[StreamEntry, ...] = field(default=())


class GenerativeAgents(Newest):
    """Recency, importance and relevance, each from 0 to 1 over the whole stream, and added up.

    Ratings, conclusions and times of access are kept in ``stream.json``, since a model's answers
    cannot be had again; the lines themselves are embedded anew after it is opened. Without a model
    importance is judged by the rules of :mod:`keepsake.books.journal`, and it never
    reflects.
    """

    def __init__(self, given: Surroundings) -> None:
        self._settings = settings_of(StreamSettings, given.settings)
        super().__init__(given, self._settings.window)
        self._given, self._index = given, LineIndex(given.embedder)
        self._file = given.folder / "stream.json"
        kept = _read(self._file)
        self._newest, self._unreflected, self._changed = kept.newest, kept.unreflected, False
        self._stream = {each.key: each for each in kept.entries}
        for entry in self._stream.values():
            self._index.add(_document(entry))
        lived = [e for e in self._stream.values() if not e.concluded]
        for entry in lived[-self._size :] if self._size else ():
            self._lines[entry.numbers[0]] = entry.shown

    def perceive(self, memory: Memory) -> None:
        """Add it to the stream; a model says later how much it matters."""
        super().perceive(memory)
        text, shown = writable(line_of(memory)), writable(dated(memory))
        key, when = f"{DocumentKind.MEMORY}:{memory.number}", memory.time.isoformat()
        if (before := self._stream.get(key)) is not None:
            self._add(replace(before, text=text, shown=shown, accessed=when))
            return
        score = importance(memory, self._given.agent)
        self._add(StreamEntry(key, text, shown, when, score, (memory.number,)))
        self._unreflected += score

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """What scores highest; it counts as just lived from then on.

        Raises:
            ModelError: Nothing could be embedded.
        """
        found = self._best(question, limit)
        now = self._given.clock.now().isoformat()
        for entry, _ in found:
            self._stream[entry.key] = replace(entry, accessed=now)
        self._changed = self._changed or bool(found)
        return [RecalledLine(entry.shown, entry.numbers, score) for entry, score in found]

    def rest(self, *, asleep: bool) -> None:
        """Have the model rate what is new, reflect if it is time, and write all of it down.

        Raises:
            ModelError: Nothing could be embedded.
        """
        self._index.settle()
        with suppress(ModelError):  # it is asked again at the next rest
            self._rate()
            self._reflect()
        self._save()

    def state(self) -> Mapping[str, Figure]:
        """Figures of the stream."""
        concluded = sum(each.concluded for each in self._stream.values())
        lines = len(self._stream) - concluded
        return {"lines": lines, "insights": concluded, "unreflected": self._unreflected}

    def close(self) -> None:
        """Write it down."""
        self._save()

    # -- the score

    def _best(self, question: str, limit: int) -> list[tuple[StreamEntry, float]]:
        entries, now = list(self._stream.values()), self._given.clock.now()
        near = dict(self._index.near(question, len(self._stream)))
        parts = (
            (self._settings.recency, [DECAY ** each.hours(now) for each in entries]),
            (self._settings.importance, [float(each.importance) for each in entries]),
            (self._settings.relevance, [near.get(each.key, 0.0) for each in entries]),
        )
        weighted = [[weight * each for each in normalised(values)] for weight, values in parts]
        scores = [float(sum(each)) for each in zip(*weighted, strict=True)]
        best = sorted(zip(entries, scores, strict=True), key=lambda each: -each[1])
        return best[:limit]

    # -- what a model adds

    def _rate(self) -> None:
        if (model := self._given.model) is None:
            return
        for entry in [e for e in self._stream.values() if not (e.rated or e.concluded)]:
            score = poignancy(model, entry.text) or entry.importance
            self._unreflected += score - entry.importance
            self._stream[entry.key] = replace(entry, importance=score, rated=True)
            self._changed = True

    def _reflect(self) -> None:
        """Ask what may be concluded of the newest, and conclude it."""
        model = self._given.model
        if model is None or self._unreflected < self._settings.threshold:
            return
        newest = list(self._stream.values())[-_REFLECTED_ON:]
        for question in questions(model, self._fitting(each.text for each in reversed(newest))):
            basis = [entry for entry, _ in self._best(question, _FOR_A_QUESTION)]
            lines = self._fitting(each.text for each in basis)
            for text, cited in insights(model, self._given.agent, lines):
                self._conclude(model, text, [basis[place] for place in cited])
        self._unreflected, self._changed = 0, True

    def _fitting(self, lines: Iterable[str]) -> list[str]:
        """The first lines that fit into half of a prompt."""
        return list(first_within(lines, self._given.budget // 2, self._given.tokens))

    def _conclude(self, model: LanguageModel, text: str, basis: Sequence[StreamEntry]) -> None:
        now = self._given.clock.now()
        numbers = tuple(dict.fromkeys(n for each in basis for n in each.numbers))
        score = poignancy(model, text) or max(each.importance for each in basis)
        key, shown = f"insight:{len(self._stream)}", f"{now:%-d %B %Y}, {text}"
        self._add(StreamEntry(key, text, shown, now.isoformat(), score, numbers, True, True))

    # -- keeping it

    def _add(self, entry: StreamEntry) -> None:
        self._stream[entry.key] = entry
        self._index.add(_document(entry))
        self._changed = True

    def _save(self) -> None:
        if self._changed:
            kept = _Kept(self._newest, self._unreflected, tuple(self._stream.values()))
            replace_file(self._file, json.dumps(asdict(kept), ensure_ascii=False))
            self._changed = False


def normalised(values: Sequence[float]) -> list[float]:
    """The values from 0 for the least to 1 for the most; all 0 where they are the same."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(each - low) / (high - low) if high > low else 0.0 for each in values]


def _document(entry: StreamEntry) -> Document:
    time = datetime.fromisoformat(entry.accessed)
    return Document(entry.key, DocumentKind.NOTE, entry.text, time)


def _read(path: Path) -> _Kept:
    """What the file holds; nothing where it cannot be read, so that all is lived anew."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        entries = (each | {"numbers": tuple(each["numbers"])} for each in data.pop("entries"))
        return _Kept(entries=tuple(StreamEntry(**each) for each in entries), **data)
    except (OSError, ValueError, TypeError, KeyError):
        return _Kept()


# -- what a model is asked: the prompts of sections 4.1 and 4.2, for one that continues a text


def poignancy(model: LanguageModel, line: str) -> int | None:
    """How much a line matters to the model, 1 to 10; None if its answer names no such number.

    Raises:
        ModelError: It did not answer.
    """
    answer = _answer(model, _RATE.format(line=line), 8, stop=("\n",))
    found = next((int(n) for n in _NUMBER.findall(answer)), 0)
    return found if 1 <= found <= 10 else None


def questions(model: LanguageModel, lines: Sequence[str]) -> list[str]:
    """What is worth asking about these lines.

    Raises:
        ModelError: It did not answer.
    """
    prompt = _ASK.format(statements="\n".join(lines), most=MOST_QUESTIONS)
    return [item for item in _items(_answer(model, prompt, 160)) if "?" in item][:MOST_QUESTIONS]


def insights(
    model: LanguageModel, agent: str, lines: Sequence[str]
) -> list[tuple[str, tuple[int, ...]]]:
    """What follows from these lines, with the places (from 0) of those that it says it rests on.

    Raises:
        ModelError: It did not answer.
    """
    listed = "\n".join(f"{place}. {line}" for place, line in enumerate(lines, 1))
    prompt = _INFER.format(agent=agent or "them", statements=listed, most=MOST_INSIGHTS)
    found = []
    for item in _items(_answer(model, prompt, 320))[:MOST_INSIGHTS]:
        if (because := _BECAUSE.search(item)) is None:
            continue
        cited = (int(n) - 1 for n in _NUMBER.findall(because["numbers"]))
        places = tuple(dict.fromkeys(place for place in cited if 0 <= place < len(lines)))
        text = item[: because.start()].strip()
        if places and len(text) >= _SHORTEST:
            found.append((text, places))
    return found


def _answer(model: LanguageModel, prompt: str, most: int, stop: tuple[str, ...] = ("\n\n",)) -> str:
    request = GenerationRequest(prompt, max_tokens=most, stop=stop, temperature=0.0)
    return model.generate(request).text


def _items(answer: str) -> list[str]:
    found = (_ITEM.match(line) for line in answer.splitlines())
    return [each["text"] for each in found if each and len(each["text"]) >= _SHORTEST]
