"""Helpers for tests of sleep: a model that answers by rule, and nights without a world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

from twisted.internet import task

from keepsake.agent.runtime import Runtime
from keepsake.agent.scheduler import ClockScheduler
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
"""The shipped templates."""


def generated(text: str) -> Generation:
    """Return an answer of a model."""
    return Generation(text, "stop", 100, 0, 10, 0.1, "scripted")


class Killed(BaseException):
    """Stands for a killed process. A BaseException, so that no code catches it."""


@dataclass(frozen=True)
class Target:
    """What a task knows of the model that it asks (``TargetModel``)."""

    form: str = "chat"
    prompt_tokens: int = 8000
    tail_tokens: int = 0
    takes_tools: bool = False


def text_of(question: GenerationRequest) -> str:
    """Return the whole prompt as one text."""
    return "\n\n".join([*(each.text for each in question.messages), question.prompt])


def prompt_of(words: str) -> Callable[[TargetModel], GenerationRequest]:
    """Return a builder of a prompt that consists of these words."""
    return lambda _: GenerationRequest(words)


@dataclass
class RuleModel:
    """A model whose answer depends on the prompt alone. It records its ``prompts``."""

    answer: Callable[[str], str] = lambda _: "none"
    prompts: list[str] = field(default_factory=list)

    def __call__(self, build: Callable[[TargetModel], GenerationRequest]) -> Generation:
        self.prompts.append(text_of(build(Target())))
        return generated(self.answer(self.prompts[-1]))


class ImmediatePool:
    """A pool of threads that runs submitted work immediately, in the caller's thread."""

    def submit(self, work: Callable[[], object]) -> Future[object]:
        future: Future[object] = Future()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        return future


class Immediate(ClockScheduler):
    """Runs each call at once."""

    def soon(self, call):
        call()


class NightRunner:
    """Runs an agent's nights without a world. ``emitted`` are the events of its sleep."""

    def __init__(self, tasks: Mapping[str, NightTask], ask: Ask | None = None) -> None:
        self.emitted: list[Sleep] = []
        self.clock = task.Clock()
        services: Any = SimpleNamespace(
            scheduler=Immediate(self.clock),
            seconds=self.clock.seconds,
            post=lambda call: call(),
            nights=ImmediatePool(),
            sleeping=SimpleNamespace(current=SleepConfig()),
            asker=lambda *_: ask,
            events=SimpleNamespace(emit=self.emitted.append),
        )
        services.in_thread = partial(Runtime.in_thread, services)
        self.nights = Nights("Mira", tasks, services)

    def sleep(self) -> list[Sleep]:
        """Run one sleep with its work; return the events of its steps."""
        self.emitted.clear()
        self.nights.begin("tired")
        return [each for each in self.emitted if each.op == "step"]


def night_work(
    journal: Any = None,
    people: Any = None,
    read: Any = None,
    may: Callable[[Any], bool] = lambda _: True,
    *,
    now: Any = None,
    config: SleepConfig | None = None,
) -> NightWork:
    """Return a night's work with the shipped templates."""
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
