"""Has a model answer a question from what a memory gives it, by one short prompt."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from keepsake.errors import BadAnswer, ConfigError, KeepsakeError, ModelError
from keepsake.lab.memories.plain import first_within
from keepsake.lab.trial import NOT_KNOWN, TrialQuestion
from keepsake.language.perception import words
from keepsake.memory.protocol import RecalledLine
from keepsake.models.detection import detected_profiles
from keepsake.models.embedded import Embedded
from keepsake.models.gateway import build
from keepsake.models.model import Model
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import (
    AUTO,
    CHAT,
    DIALOGUE,
    EMBEDDED,
    EXTRACTIVE,
    LLAMA_CPP,
    SCRIPTED,
    ModelProfile,
    model_name,
)
from keepsake.paths import Places
from keepsake.ports import ChatMessage, Generation, LanguageModel, Tokens
from keepsake.tasks.task import Question

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


KNOWN = """\
You grade an answer to a question. Say yes if the answer means the same as the correct answer, \
or holds it, in whatever words; dates may be written in any form. Say no if it says something \
else, or only a part of it.

Question: {question}
Correct answer: {right}
Answer to grade: {answer}

Is the answer right? Say yes or no, and nothing else."""
UNKNOWN = """\
You grade an answer to a question that cannot be answered from what is known. Say yes if the \
answer says so: that it is not known, not mentioned, or that the question assumes something wrong. \
Say no if it answers the question all the same.

Question: {question}
Answer to grade: {answer}

Does the answer say that it cannot be known? Say yes or no, and nothing else."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One question and what the memory had for it."""

    question: TrialQuestion
    context: tuple[str, ...]  # what every prompt shows
    recalled: tuple[RecalledLine, ...]  # what was found for this question, best first
    tokens: int  # of both, by our estimate
    seconds: float  # that the memory took for both

    @property
    def found(self) -> tuple[int, ...]:
        """Numbers of the memories that were recalled, best first, each once."""
        return tuple(dict.fromkeys(n for each in self.recalled for n in each.numbers))


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

    def ask(self, prompt: str, opening: str, tokens: Tokens) -> Generation:
        """What it says to a prompt; ``opening`` is how a continued text begins to answer.

        Raises:
            ModelError: It does not answer; an empty answer is none.
        """
        text = prompt if self.chat else f"{prompt}\n{opening}"
        messages = (ChatMessage("user", prompt),) if self.chat else ()
        stop = () if self.chat else ("\n",)
        try:
            question = Question(messages, text, stop)
            made = self.model.generate(self.profile.request(question))
        except BadAnswer:
            made = Generation("", "stop", 0, 0, 0, 0.0, "")
        return replace(
            made,
            text=" ".join(made.text.split()),
            model=made.model or model_name(self.profile),
            # An estimate where the server does not count.
            prompt_tokens=made.prompt_tokens or tokens.of(text),
            completion_tokens=made.completion_tokens or tokens.of(made.text),
        )


def answering_model(here: Places, name: str, seed: int = 0) -> AnsweringModel:
    """The model of a profile of ``llm.md``; looks whether it answers.

    Raises:
        KeepsakeError: There is no such profile, it is no model, or its server does not answer.
    """
    profiles = detected_profiles(here)
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
    asked = served(here, profile, f"The model of the profile {name!r} does not answer", cure)
    form = asked.capabilities.form if profile.form == AUTO else profile.form
    return AnsweringModel(profile, form == CHAT, asked, asked.close, seed)


def served(here: Places, profile: ModelProfile, what: str, cure: str = "") -> Model:
    """The client of a profile whose server is there and has its model; blocks.

    Raises:
        KeepsakeError: It does not answer; ``what`` with the reason, and ``cure`` or its own.
    """
    model: Model
    if profile.provider == EMBEDDED:  # a process of the world's: nobody here waits for it to load
        model = OpenAIModel(profile, Embedded(here).address, kind=LLAMA_CPP)
    else:
        model = build(profile, Embedded(here), os.environ)
    try:
        model.check()
    except ModelError as error:
        model.close()
        raise KeepsakeError(f"{what}: {error.what}", cure or error.cure) from error
    return model


def prompt_for(asking: Asking, budget: int, tokens: Tokens) -> str:
    """The prompt of a question: what every prompt shows, what was found for it, and the task."""
    room = int(budget * _FOUND_SHARE) if asking.context else budget
    shown = set(asking.context)
    lines = [each.text for each in asking.recalled if each.text not in shown]
    found = list(first_within(lines, room, tokens))
    rest = budget - sum(tokens.each(found))
    context = list(first_within(asking.context[::-1], rest, tokens))[::-1]
    asked = asking.question
    parts = [
        *(["What is remembered, oldest first:", *context, ""] if context else []),
        *(["What was found for this question, best first:", *found, ""] if found else []),
        TASK,
        f"It is {asked.time:%-d %B %Y}.",
        f"{asked.asker} asks: {asked.text}" if asked.asker else f"Question: {asked.text}",
    ]
    return "\n".join(parts)


# -- a judge


def judged(
    model: AnsweringModel, question: TrialQuestion, answer: str, tokens: Tokens
) -> float | None:
    """1 if a model calls the answer right, else 0; None where there is nothing to compare it with.

    Raises:
        ModelError: The model does not answer.
    """
    if not question.answers and (question.answerable or question.right):
        return None
    form = KNOWN if question.answerable else UNKNOWN
    right = " / ".join(question.answers)
    prompt = form.format(question=question.text, right=right, answer=answer or "(nothing)")
    judgement = model.ask(prompt, "Judgement:", tokens).text
    return float("yes" in map(str.casefold, words(judgement)))
