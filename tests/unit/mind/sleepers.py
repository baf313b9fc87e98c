"""What the tests of sleep are built from: a model that answers by rule, a killer, a night."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from keepsake.paths import REPOSITORY
from keepsake.ports import Generation, TargetModel
from keepsake.tasks.night import PARTS
from keepsake.tasks.prompt_file import Prompts, load_prompts
from keepsake.tasks.task import Question


def generation(text: str) -> Generation:
    """An answer of a model."""
    return Generation(text, "stop", 100, 0, 10, 0.1, "scripted")


class Killed(BaseException):
    """The process is gone: nothing that runs may catch it."""


@dataclass(frozen=True)
class Target:
    """What a task knows of a model."""

    form: str = "chat"
    prompt_tokens: int = 6000
    tail_tokens: int = 0
    max_tokens: int = 400
    takes_tools: bool = False
    is_stopgap: bool = False


def shown(question: Question) -> str:
    """All that a model is sent, as one text."""
    return "\n\n".join([*(each.text for each in question.messages), question.text])


def says(words: str) -> Callable[[TargetModel], Question]:
    """A prompt that is nothing but these words."""
    return lambda _: Question(text=words)


def shipped(task: str, variables: tuple[str, ...]) -> Prompts:
    """The template of a task as it is shipped."""
    path = REPOSITORY / "vault" / "config" / "prompts" / f"{task}.md"
    return load_prompts(path, PARTS, variables)


@dataclass
class Script:
    """A model that answers the same to the same prompt.

    Attributes:
        answer: What it answers.
        prompts: What it was asked, in order.
    """

    answer: Callable[[str], str] = lambda _: "none"
    prompts: list[str] = field(default_factory=list)

    def __call__(self, build: Callable[[TargetModel], Question]) -> Generation:
        self.prompts.append(shown(build(Target())))
        return generation(self.answer(self.prompts[-1]))
