"""What the tests of sleep are built from: a model that answers by rule, a killer, a night."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from keepsake.ports import Generation


def generation(text: str) -> Generation:
    """An answer of a model."""
    return Generation(text, "stop", 100, 0, 10, 0.1, "scripted")


class Killed(BaseException):
    """The process is gone: nothing that runs may catch it."""


@dataclass
class Script:
    """A model that answers the same to the same prompt.

    Attributes:
        answer: What it answers.
        prompts: What it was asked, in order.
    """

    answer: Callable[[str], str] = lambda _: "none"
    prompts: list[str] = field(default_factory=list)

    def __call__(self, prompt: str, stop: tuple[str, ...]) -> Generation:
        self.prompts.append(prompt)
        return generation(self.answer(prompt))


@dataclass
class Free:
    """Asks without any limit, and cannot be woken."""

    script: Script | None = None

    @property
    def available(self) -> bool:
        return self.script is not None

    def check(self) -> None:
        pass

    def __call__(self, prompt: str, stop: tuple[str, ...] = ()) -> str:
        assert self.script is not None
        return self.script(prompt, stop).text
