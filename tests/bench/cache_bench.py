"""What the order of the prompt and the kind of window cost on the embedded model.

A model server evaluates only what is new behind the head that it has in its cache. Agents
live through an evening on real templates; each thought follows a few new memories.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random

import frontmatter
from keepsake.tasks.command_line import read_command

from keepsake.archive.records import Memory, MemoryKind
from keepsake.models.profiles import ModelProfile
from keepsake.paths import REPOSITORY
from keepsake.ports import Generation, LanguageModel
from keepsake.prompt.options import Options
from keepsake.prompt.verbs import STANDARD_VERBS, Command
from keepsake.summaries import extractive
from keepsake.tasks.talk_scene import TalkScene
from keepsake.tasks.transcript import TranscriptTemplate, load_template
from tests.bench.embedded_up import embedded_model
from tests.bench.figures import Figure
from tests.bench.talk import PEOPLE, Line, talk

WANTED = 0.15
_AGENTS = ("mira", "wren", "oswin", "joss", "bram")
_COMMANDS = tuple(f"{verb.usage}: {verb.help}" for verb in STANDARD_VERBS)
_WINDOW, _HEARD, _MAX_TOKENS = 16, 2, 30
_THOUGHTS = {1: 8, 5: 2}
"""Thoughts of each agent after its first one, by number of agents."""
_SHIPPED = (64, 64)
_SCENE = TalkScene(
    name="",
    commands=_COMMANDS,
    place="The Kettle",
    description="A low room of smoke-dark beams.",
    exits=("north", "up"),
    here=PEOPLE[:3],
)


@dataclass(frozen=True, slots=True)
class _Variant:
    """One way to lay out the prompt."""

    name: str
    template: str
    growing: bool


_VARIANTS = (
    _Variant("stable head, growing window (as shipped)", "prompt.md", True),
    _Variant("stable head, sliding window", "prompt.md", False),
    _Variant("notes at the head, growing window", "prompt-classic.md", True),
)


@dataclass
class _Agent:
    """One agent's prompt as it changes from thought to thought."""

    name: str
    profile: str
    evening: Iterator[Line]
    template: TranscriptTemplate
    immediate: int
    recent: int | None
    """How much the window may grow; None: it slides."""
    summaries: list[str] = field(default_factory=lambda: ["", ""])
    window: list[Memory] = field(default_factory=list)
    now: datetime = datetime(2026, 5, 1, 18, 0, tzinfo=UTC)

    def hear(self, number: int) -> None:
        """Live through so many memories."""
        for _ in range(number):
            line = next(self.evening)
            self.remember(line.text, line.kind is MemoryKind.ACT)

    def remember(self, text: str, own: bool) -> None:
        """One more memory; the oldest make room as the strategy says."""
        self.now += timedelta(seconds=7)
        kind = MemoryKind.ACT if own else MemoryKind.PERCEPTION
        self.window.append(Memory(1, self.now, kind, text))
        if self.recent is None:
            del self.window[: -self.immediate]
        elif len(self.window) > self.immediate + self.recent:
            self.compact()

    def compact(self) -> None:
        """The waterfall: short-term into long-term, what leaves the window into short-term."""
        leaving = [m.text for m in self.window[: -self.immediate]]
        longer = extractive.summarize(self.summaries, max_chars=900, own_name=self.name)
        shorter = extractive.summarize(leaving, max_chars=900, own_name=self.name)
        self.summaries = [longer, shorter]
        del self.window[: -self.immediate]

    def prompt(self, note: str) -> str:
        """What the model is to continue now."""
        scene = replace(
            _SCENE,
            name=self.name,
            persona=self.profile,
            longterm=self.summaries[0],
            recent=self.summaries[1],
            window=tuple(self.window),
            notes=(note,),
        )
        return self.template.rendered(scene).text

    def act(self, text: str) -> None:
        """Remember its own act, as the game would have understood it."""
        there = Options(exits=_SCENE.exits, people=tuple(PEOPLE))
        command = read_command(text, self.name, STANDARD_VERBS, there)
        if isinstance(command, Command) and command.verb != "wait":
            self.remember(command.line, True)


def measure() -> Iterator[Figure]:
    """Seconds a thought and share of prompt tokens evaluated, for each layout."""
    with embedded_model("agent") as (shipped, model):
        profile = replace(shipped, max_tokens=_MAX_TOKENS)
        for variant in _VARIANTS:
            for agents, rounds in _THOUGHTS.items():
                lives = [_agent(i, variant, _WINDOW, 1000) for i in range(agents)]
                cold = [_thought(each, profile, model) for each in lives]
                warm = [_thought(each, profile, model) for _ in range(rounds) for each in lives]
                yield from _figures(variant.name, agents, cold, warm)
        yield from _cycle(profile, model)


def _cycle(profile: ModelProfile, model: LanguageModel) -> Iterator[Figure]:
    """One agent at the shipped sizes from one compaction through the next."""
    agent = _agent(0, _VARIANTS[0], *_SHIPPED)
    _thought(agent, profile, model)
    thoughts, before = [], agent.summaries
    while agent.summaries is before:
        thoughts.append(_thought(agent, profile, model))
    # Its own act may have brought the compaction about: then only this one shows its cost.
    thoughts.append(_thought(agent, profile, model))
    name = f"a whole cycle, windows {_SHIPPED[0]} + {_SHIPPED[1]}, compaction included"
    yield _share(name, 1, thoughts, f"{len(thoughts)} thoughts, wanted ≤ {WANTED:.0%}")
    yield _seconds(name, 1, thoughts, f"prompts of {_mean_tokens(thoughts):.0f} tokens")


def _agent(number: int, variant: _Variant, immediate: int, recent: int) -> _Agent:
    post = frontmatter.load(str(REPOSITORY / "world" / "agents" / f"{_AGENTS[number]}.md"))
    agent = _Agent(
        name=str(post["name"]),
        profile=post.content,
        evening=talk(Random(number)),
        template=load_template(REPOSITORY / "vault" / "config" / variant.template),
        immediate=immediate,
        recent=recent,
    )
    agent.hear(2 * immediate)
    agent.compact()
    agent.hear(immediate)
    agent.compact()
    agent.recent = recent if variant.growing else None
    return agent


def _thought(agent: _Agent, profile: ModelProfile, model: LanguageModel) -> Generation:
    agent.hear(_HEARD)
    note = agent.window[-1].text[:60]
    generation = model.generate(profile.request(agent.prompt(note), cache_key=agent.name))
    agent.act(generation.text)
    return generation


def _figures(
    name: str, agents: int, cold: list[Generation], warm: list[Generation]
) -> Iterator[Figure]:
    wanted = f", wanted ≤ {WANTED:.0%}" if "shipped" in name else ""
    first = sum(each.seconds for each in cold) / len(cold)
    yield _share(name, agents, warm, f"prompts of {_mean_tokens(warm):.0f} tokens{wanted}")
    yield _seconds(name, agents, warm, f"an agent's first thought: {first:.2f} s")


def _share(name: str, agents: int, thoughts: list[Generation], reference: str) -> Figure:
    whole = sum(each.prompt_tokens for each in thoughts)
    cached = sum(each.cached_tokens for each in thoughts)
    share = 100 * (whole - cached) / whole
    return Figure(f"prompt tokens evaluated: {name}", agents, share, "%", reference)


def _seconds(name: str, agents: int, thoughts: list[Generation], reference: str) -> Figure:
    seconds = sum(each.seconds for each in thoughts) / len(thoughts)
    return Figure(f"a thought: {name}", agents, seconds, "s", reference)


def _mean_tokens(thoughts: list[Generation]) -> float:
    return sum(each.prompt_tokens for each in thoughts) / len(thoughts)
