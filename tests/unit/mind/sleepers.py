"""What the tests of sleep are built from: a model that answers by rule, a killer, a night."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

from twisted.internet import task

from keepsake.agent.runtime import Runtime
from keepsake.agent.settings import SleepConfig
from keepsake.agent.sleep.night import Nights, NightTask
from keepsake.agent.sleep.night_tasks import NightWork
from keepsake.events.types import Sleep
from keepsake.paths import REPOSITORY
from keepsake.ports import Generation, GenerationRequest, TargetModel
from keepsake.tasks.task import Ask
from keepsake.tasks.task_prompts import task_prompts

CONFIG = REPOSITORY / "vault" / "config"
PROMPTS = task_prompts(CONFIG, CONFIG)
"""The templates as they are shipped."""


def generation(text: str) -> Generation:
    """An answer of a model."""
    return Generation(text, "stop", 100, 0, 10, 0.1, "scripted")


class Killed(BaseException):
    """The process is gone: nothing that runs may catch it."""


@dataclass(frozen=True)
class Target:
    """What a task knows of a model."""

    form: str = "chat"
    prompt_tokens: int = 8000
    tail_tokens: int = 0
    takes_tools: bool = False


def shown(question: GenerationRequest) -> str:
    """All that a model is sent, as one text."""
    return "\n\n".join([*(each.text for each in question.messages), question.prompt])


def says(words: str) -> Callable[[TargetModel], GenerationRequest]:
    """A prompt that is nothing but these words."""
    return lambda _: GenerationRequest(words)


@dataclass
class Script:
    """A model that answers the same to the same prompt; ``prompts`` is what it was asked."""

    answer: Callable[[str], str] = lambda _: "none"
    prompts: list[str] = field(default_factory=list)

    def __call__(self, build: Callable[[TargetModel], GenerationRequest]) -> Generation:
        self.prompts.append(shown(build(Target())))
        return generation(self.answer(self.prompts[-1]))


class AtOnce:
    """A pool of threads that does what it is given at once."""

    def submit(self, work: Callable[[], object]) -> Future[object]:
        future: Future[object] = Future()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        return future


class Bedroom:
    """One agent's nights without a world; ``told`` are the events of its sleep."""

    def __init__(self, tasks: Mapping[str, NightTask], ask: Ask | None = None) -> None:
        self.told: list[Sleep] = []
        self.clock = task.Clock()
        services: Any = SimpleNamespace(
            timer=self.clock,
            seconds=self.clock.seconds,
            post=lambda call: call(),
            nights=AtOnce(),
            sleeping=SimpleNamespace(current=SleepConfig()),
            asker=lambda *_: ask,
            events=SimpleNamespace(emit=self.told.append),
        )
        services.in_thread = partial(Runtime.in_thread, services)
        self.nights = Nights("Mira", tasks, services)

    def sleep(self) -> list[Sleep]:
        """One sleep with its work; the events of its steps."""
        self.told.clear()
        self.nights.begin("tired")
        return [each for each in self.told if each.op == "step"]


def work(
    journal: Any = None,
    people: Any = None,
    read: Any = None,
    may: Callable[[Any], bool] = lambda _: True,
    *,
    now: Any = None,
    config: SleepConfig | None = None,
) -> NightWork:
    """A night's work with the shipped templates."""
    memory: Any = SimpleNamespace(
        name="Mira",
        private=SimpleNamespace(may_hear=lambda numbers, audience: may(numbers)),
        memory=SimpleNamespace(archive=SimpleNamespace(read=read)),
    )
    services: Any = SimpleNamespace(
        prompts=PROMPTS,
        sleeping=SimpleNamespace(current=config or SleepConfig()),
        clock=SimpleNamespace(now=lambda: now),
    )
    books: Any = SimpleNamespace(journal=journal, people=people)
    return NightWork(memory, books, services)
