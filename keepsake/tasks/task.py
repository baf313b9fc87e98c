"""A task: one question to a model, the check of its answer, and a fallback without a model.

A task renders its prompt for the form of the model, reads the answer, and gives a reason if it
refuses the answer. :func:`run` asks in a worker thread; the thinker runs the same tasks on the
reactor. After a refusal the model is asked once more, with the reason. Then what is usable of the
refused answers counts, or else the fallback.

The template of a task is a markdown file whose fenced blocks are its prompts; a builder may edit it
while the game runs. The word after a fence names the part: ```` ```system ````, ```` ```turn ````.
The parts are sandboxed Jinja templates, checked when they are read. Players' words are only data,
never a template.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from keepsake import regular_files
from keepsake.errors import ConfigError, KeepsakeError, ModelError
from keepsake.ports import Generation, GenerationRequest, RefusedAnswer, TargetModel

TRIES = 2
"""Attempts per task: the second one shows the reason of the refusal."""
FALLBACK = "fallback"
"""The value of ``by`` in a result that no model wrote."""
ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
)
_FENCE = re.compile(r"^(?P<mark>```|~~~)(?P<part>\w+)\n(?P<body>.*?)^(?P=mark)[^\n]*$", re.M | re.S)


class AnswerRefused(KeepsakeError):
    """An answer failed its check; ``what`` is the reason, phrased for the model.

    Attributes:
        usable: The parts of the answer that pass the check, as the task's result; None for nothing.
            They are used if the model's next answer is refused, too.
    """

    def __init__(self, what: str, *, usable: Any = None) -> None:
        super().__init__(what)
        self.usable = usable


class Task[T](Protocol):
    """One question to a model."""

    @property
    def name(self) -> str:
        """The name of its template, such as ``talk``."""

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the request for this model; the profile fills in the settings left open.

        Args:
            refused: Why the last answer was refused; empty at the first attempt.
        """

    def read(self, answer: str) -> T:
        """Parse and check an answer.

        Raises:
            AnswerRefused: The answer fails the check.
        """

    def fallback(self) -> T:
        """Return the result without a model."""


class TaskResult[T](NamedTuple):
    """The result of a task."""

    value: T
    by: str  # the model's name, or :data:`FALLBACK`
    refusals: Sequence[RefusedAnswer]


type Ask = Callable[[Callable[[TargetModel], GenerationRequest]], Generation]
"""Asks the model of one profile; blocks. Its argument makes the request when its turn has come.

Raises:
    ModelError: There was no answer.
"""


def run[T](task: Task[T], ask: Ask, *, fall_back: bool = True) -> TaskResult[T]:
    """Run a task on a model, with one more attempt after a refusal, and then the fallback.

    Before the fallback come the usable parts of the refused answers, the latest first.

    ``fall_back``: Whether the fallback is also used if the model gives no answer.

    Raises:
        ModelError: There was no answer and no usable part, and ``fall_back`` is off.
    """
    refusals = list[RefusedAnswer]()
    reason = ""
    usable: TaskResult[T] | None = None
    for _ in range(TRIES):
        try:
            answer = ask(partial(task.ask, refused=reason))
        except ModelError:
            if not fall_back and usable is None:
                raise
            break
        try:
            return TaskResult(task.read(answer.text), answer.model, refusals)
        except AnswerRefused as refused:
            reason = refused.what
            refusals.append(RefusedAnswer(task.name, answer.text, reason))
            if refused.usable is not None:
                usable = TaskResult(refused.usable, answer.model, refusals)
    return usable or TaskResult(task.fallback(), FALLBACK, refusals)


# -- templates


@dataclass(frozen=True, slots=True)
class Prompts:
    """The parts of one template."""

    path: Path
    parts: Mapping[str, jinja2.Template]

    def render(self, part: str, **values: Any) -> str:
        """Render one part with values, without white space at both ends; empty if it is missing.

        Raises:
            ConfigError: The template fails on these values.
        """
        try:
            return self.parts[part].render(values).strip() if part in self.parts else ""
        except Exception as error:  # expressions in a template can raise anything
            raise _template_error(self.path, error) from error


def load_prompts(path: Path, parts: Collection[str], variables: Collection[str]) -> Prompts:
    """Read and check a template.

    Args:
        parts: The parts that it must have, and with a question mark those that it may have; others
            are refused.
        variables: The variables that it may use.

    Raises:
        ConfigError: The file cannot be read or parsed, lacks a part, or uses an unknown variable.
    """
    try:
        source = regular_files.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        cure = "Restore it from the committed vault, saved as UTF-8"
        raise ConfigError(path, 1, f"the template cannot be read ({error})", cure) from error
    needed = [part for part in parts if not part.endswith("?")]
    parts = [part.removesuffix("?") for part in parts]
    found: dict[str, jinja2.Template] = {}
    for fence in _FENCE.finditer(source):
        part = fence["part"]
        line = source.count("\n", 0, fence.start()) + 1
        if part not in parts or part in found:
            cure = f"The parts of this file are: {', '.join(parts)}, once each"
            raise ConfigError(path, line, f"the part {part!r} is not expected here", cure)
        # A comment replaces the text above, so that Jinja's line numbers are those of the file.
        text = "{#" + "\n" * (line - 1) + "#}\n" + fence["body"]
        try:
            found[part], used = _compiled(text)
        except jinja2.TemplateError as error:
            raise _template_error(path, error) from error
        for name, at in used.items():
            if name not in variables:
                cure = f"A template can use: {', '.join(sorted(variables))}"
                raise ConfigError(path, at, f"there is no variable {name!r}", cure)
    if missing := [part for part in needed if part not in found]:
        cure = f"Write it between ```{missing[0]} and ```"
        raise ConfigError(path, 1, f"the part {missing[0]!r} is missing", cure)
    return Prompts(path, found)


@lru_cache(maxsize=64)  # most configurations use the shipped files
def _compiled(text: str) -> tuple[jinja2.Template, Mapping[str, int]]:
    """Compile a template; return it with the variables that it uses, each with its last line."""
    tree = ENVIRONMENT.parse(text)
    used = meta.find_undeclared_variables(tree)
    names = tree.find_all(nodes.Name)
    return ENVIRONMENT.from_string(tree), {n.name: n.lineno for n in names if n.name in used}


def _template_error(path: Path, error: BaseException) -> ConfigError:
    """Return the error for a template that cannot be parsed or fails on its values."""
    # The line is in the error itself, or else in the traceback's frames of the template.
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == "<template>"]
    line = getattr(error, "lineno", None) or (lines or [1])[-1]
    reason = getattr(error, "message", None) or str(error) or type(error).__name__
    cure = "Fix the template, or restore it from the committed vault"
    return ConfigError(path, line, f"the prompt fails: {reason}", cure)
