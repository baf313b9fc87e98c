"""How much of a chat prompt is like the agent's prompt before: a recorded evening, built again.

``tests/data/evening.jsonl`` has what four villagers perceived, and what was so at each of their
turns, on an evening with two players who talk, whisper and send them on errands. So two versions of
the prompt can be compared on the same evening.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from keepsake.archive.privacy import is_private, redacted
from keepsake.archive.records import Memory
from keepsake.books.person_line import PersonLine
from keepsake.language.tokens import Heuristic
from keepsake.paths import REPOSITORY, SHIPPED_CONFIG
from keepsake.prompt.verbs import ANSWERS, NAMING, VERBS, Takes
from keepsake.tasks.forms.choice import form_of
from keepsake.tasks.forms.form import Prompt, PromptForm
from keepsake.tasks.scene import Excerpt, Scene
from keepsake.tasks.stated import NOTHING_STATED
from keepsake.tasks.task_prompts import task_prompts
from tests.bench.figures import Figure
from tests.unit.mind.night_runner import Target

EVENING = REPOSITORY / "tests" / "data" / "evening.jsonl"
_MOST_SECTIONS = 8
"""The largest sections of what is new; the others have less than a token in a hundred each."""
_DEEDS = tuple(
    f"> {verb.usage} ({verb.help})"
    for verb in VERBS
    if verb.takes is not Takes.TEXT and verb.takes not in NAMING
)
_DIRECTED = tuple(
    f"> {verb.usage}" for verb in VERBS if verb.takes in NAMING and verb.name not in ANSWERS
)
_SUMMARIES = "longterm_span", "recent_span"


class _Agent:
    """One villager of the evening.

    Attributes:
        facts: What is so at its turn; a turn of the record has only what has changed.
    """

    def __init__(self, name: str, persona: str, usual: str) -> None:
        self.facts: dict[str, Any] = {"name": name, "persona": persona, "usual": usual}
        self.memories: list[Memory] = []
        self.before: Prompt | None = None

    def scene(self, turn: dict[str, Any]) -> Scene:
        """Return the scene of its next turn."""
        first, last = turn.pop("window")
        self.facts |= turn
        facts = {name: value for name, value in self.facts.items() if value is not None}
        hears = facts.pop("listens", False)
        facts = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in facts.items()
        }
        known = tuple(map(_person_line, facts.pop("known", ())))
        texts = enumerate(facts.get("recalled", ()))
        facts["recalled"] = tuple(Excerpt((number,), text) for number, text in texts)
        stated = self.before.stated if self.before is not None else None
        window = (each for each in self.memories if first <= each.number <= last)
        return Scene(
            **facts,
            known=known,
            people=tuple(each.text for each in known),
            deeds=_DEEDS,
            directed=_DIRECTED,
            may_plan=True,
            window=tuple(
                each if hears or not is_private(each) else redacted(each) for each in window
            ),
            stated=stated or NOTHING_STATED,
        )


def _person_line(recorded: Any) -> PersonLine:
    """Return a line about a person: who it is, and groups of quotes with how they are known."""
    about, groups = recorded
    return PersonLine(about, tuple((how, tuple(quotes)) for how, quotes in groups))


class _Likeness:
    """Adds up how much of the prompts is like the one before."""

    def __init__(self, form: PromptForm) -> None:
        self.pairs = 0
        self.characters = 0
        self.like = 0
        self.tokens = Counter[str]()
        self.new = Counter[str]()
        self._form = form

    def add(self, before: Prompt, prompt: Prompt) -> None:
        """Count a prompt and what is new in it, by section."""
        self.pairs += 1
        self.characters += len(prompt.rendered.text)
        texts = (before.rendered.text, prompt.rendered.text)
        self.like += len(os.path.commonprefix(texts))  # noqa: RUF071 - of texts
        lines = prompt.rendered.lines
        same = len(os.path.commonprefix((before.rendered.lines, lines)))  # noqa: RUF071 - lists
        for place, (line, section) in enumerate(lines):
            cost = self._form.count([f"{line}\n"])
            self.tokens[section] += cost
            if place >= same:
                self.new[section] += cost

    @property
    def share(self) -> float:
        """The share that is like the prompt before, in percent."""
        return 100 * self.like / self.characters


def measure() -> Iterator[Figure]:
    """Build the prompts of the evening, and compare each with the agent's prompt before."""
    talk = task_prompts(SHIPPED_CONFIG, SHIPPED_CONFIG)
    of = Heuristic()
    form = form_of(
        Target(), talk["talk"].current, talk["act"].current, lambda texts: sum(of.each(texts))
    )
    every = _Likeness(form)
    calm = _Likeness(form)
    for agent, scene, compacted in _turns():
        prompt = form.render(scene)
        if agent.before is not None:
            every.add(agent.before, prompt)
            if not compacted:
                calm.add(agent.before, prompt)
        agent.before = prompt
    yield Figure("evening: a prompt begins like the one before", every.pairs, every.share, "%")
    yield Figure("the same without compactions between", calm.pairs, calm.share, "%")
    for name, counted in (("a prompt", every.tokens), ("new in it", every.new)):
        total = counted.total() / every.pairs
        yield Figure(f"evening: {name}", every.pairs, total, "tokens")
    for section, tokens in every.new.most_common(_MOST_SECTIONS):
        yield Figure(f"new, of it {section}", every.pairs, tokens / every.pairs, "tokens")


def _turns() -> Iterator[tuple[_Agent, Scene, bool]]:
    """Yield each turn: the agent, its scene, and whether a compaction came before it."""
    agents: dict[str, _Agent] = {}
    spans: dict[str, tuple[Any, ...]] = defaultdict(tuple)
    for line in EVENING.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "agent" in record:
            name = record.pop("agent")
            agents[name] = _Agent(name, **record)
            continue
        name = record.pop("of")
        agent = agents[name]
        if "memory" in record:
            agent.memories.append(Memory.from_record(record["memory"]))
            continue
        scene = agent.scene(record)
        span = tuple(getattr(scene, each) for each in _SUMMARIES)
        yield agent, scene, span != spans[name]
        spans[name] = span
