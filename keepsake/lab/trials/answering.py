"""Has a model answer a question from what a memory gives it, by one short prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from keepsake.errors import BadAnswer, ConfigError, KeepsakeError
from keepsake.lab.serving import answering
from keepsake.lab.trials.living import Asking
from keepsake.lab.trials.scoring import NOT_KNOWN
from keepsake.models.profiles import (
    AUTO,
    CHAT,
    DIALOGUE,
    EMBEDDED,
    EXTRACTIVE,
    SCRIPTED,
    ModelProfile,
    Profiles,
    model_name,
)
from keepsake.paths import Places
from keepsake.ports import ChatMessage, LanguageModel, Tokens

CONTEXT = 4096
"""Tokens of a prompt with its answer where the profile does not say."""
_FRAME_TOKENS = 160
"""What the prompt has beside the lines and the question."""
_FOUND_SHARE = 0.5
"""The most of the room that recalled lines take where there is a context as well."""
TASK = (
    "Answer the question from these lines of memory. Answer in a few words, with words of the "
    f"lines where that is possible. If the lines do not tell, answer: {NOT_KNOWN}"
)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered."""

    text: str
    prompt_tokens: int  # as the server counts them; an estimate where it does not
    completion_tokens: int
    seconds: float
    model: str


class AnsweringModel:
    """The model of a profile, asked for short texts; blocks.

    Args:
        profile: Its settings; what keeps an agent from repeating itself is left out, since an
            answer has to repeat.
        chat: Whether it takes messages; else it continues a text.
        model: What generates.
        close: Lets go of it.
        seed: Where its chance comes from.
    """

    def __init__(
        self,
        profile: ModelProfile,
        chat: bool,
        model: LanguageModel,
        close: Callable[[], None] = lambda: None,
        seed: int = 0,
    ) -> None:
        suited = profile.suited(CHAT if chat else DIALOGUE)
        self.profile = replace(suited, repeat_penalty=1.0, seed=seed)
        self.chat, self.model, self.close = chat, model, close

    @property
    def budget(self) -> int:
        """Tokens that the lines of a prompt may take together."""
        whole = self.profile.context_tokens or CONTEXT
        return max(whole - self.profile.max_tokens - _FRAME_TOKENS, 256)

    def ask(self, prompt: str, opening: str, tokens: Tokens) -> ModelReply:
        """What it says to a prompt; ``opening`` is how a continued text begins to answer.

        Raises:
            ModelError: It does not answer; an empty answer is none.
        """
        text = prompt if self.chat else f"{prompt}\n{opening}"
        messages = (ChatMessage("user", prompt),) if self.chat else ()
        stop = () if self.chat else ("\n",)
        try:
            made = self.model.generate(self.profile.request(text, stop=stop, messages=messages))
        except BadAnswer:
            return ModelReply("", tokens.of(text), 0, 0.0, model_name(self.profile))
        return ModelReply(
            text=" ".join(made.text.split()),
            prompt_tokens=made.prompt_tokens or tokens.of(text),
            completion_tokens=made.completion_tokens or tokens.of(made.text),
            seconds=made.seconds,
            model=made.model or model_name(self.profile),
        )


def answering_model(here: Places, name: str, seed: int = 0) -> AnsweringModel:
    """The model of a profile of ``llm.md``; looks whether it answers.

    Raises:
        KeepsakeError: There is no such profile, it is no model, or its server does not answer.
    """
    profiles = Profiles(here.config / "llm.md")
    try:
        profile = profiles.get(name)
    except ConfigError as error:  # of the command line, not of a line of the file
        raise KeepsakeError(
            f"There is no profile {name!r} in {profiles.path}", error.cure
        ) from error
    if profiles.problem is not None and profiles.path.exists():
        # The game goes on with what held before; a figure must not come of another model.
        raise profiles.problem
    if profile.provider in (EXTRACTIVE, SCRIPTED):
        told = f"The profile {name!r} is no model (provider {profile.provider})"
        raise KeepsakeError(told, "Name a profile whose provider is embedded, ollama or openai")
    cure = "Start the world" if profile.provider == EMBEDDED else ""
    asked = answering(here, profile, f"The model of the profile {name!r} does not answer", cure)
    form = asked.client.capabilities.form if profile.form == AUTO else profile.form
    # The embedded one is a process of the world's; nobody here waits until it is loaded.
    model = asked.client if profile.provider == EMBEDDED else asked
    return AnsweringModel(profile, form == CHAT, model, asked.client.close, seed)


def prompt_for(asking: Asking, budget: int, tokens: Tokens) -> str:
    """The prompt of a question: what every prompt shows, what was found for it, and the task."""
    room = int(budget * _FOUND_SHARE) if asking.context else budget
    shown = set(asking.context)
    found = _fitting([e.text for e in asking.recalled if e.text not in shown], room, tokens)
    rest = budget - sum(tokens.each(found))
    context = _fitting(asking.context[::-1], rest, tokens)[::-1]
    asked = asking.question
    parts = [
        *_section("What is remembered, oldest first:", context),
        *_section("What was found for this question, best first:", found),
        TASK,
        f"It is {asked.time:%-d %B %Y}.",
        f"{asked.asker} asks: {asked.text}" if asked.asker else f"Question: {asked.text}",
    ]
    return "\n".join(parts)


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    return [heading, *lines, ""] if lines else []


def _fitting(lines: Sequence[str], budget: int, tokens: Tokens) -> list[str]:
    """As many as there is room for, the first ones first."""
    fitting: list[str] = []
    for line, cost in zip(lines, tokens.each(lines), strict=True):
        budget -= cost
        if budget < 0:
            break
        fitting.append(line)
    return fitting
