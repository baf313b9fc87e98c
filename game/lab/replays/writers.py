"""Who writes the summaries of a replayed life: rules at a model's price, or a real model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from game.lab.replays.accounting import Charged
from game.lab.simulations.serving import answering
from game.llm.profiles import EMBEDDED, EXTRACTIVE, ModelProfile, Profiles
from game.llm.servers import GuardedModel
from game.mind.errors import ConfigError, KeepsakeError
from game.mind.ports import Generation, LanguageModel
from game.mind.summaries.source import Summarizer
from game.mind.summaries.summarizer import ExtractiveSummarizer, ModelSummarizer
from game.paths import Places

NONE = "none"
"""No model: summaries by rules, at the price that a model would have had."""
_CONTEXT = 4096


@dataclass(frozen=True, slots=True)
class SummaryAuthor:
    """Who writes the summaries."""

    summarizer: Summarizer  # writes them
    model: bool = False  # whether a model writes them, which may fail
    close: Callable[[], None] = lambda: None  # lets go of the model


def writer(here: Places, name: str) -> SummaryAuthor:
    """The writer of that name.

    Raises:
        KeepsakeError: There is no such profile, ``llm.md`` cannot be used, or the profile's
            server does not answer.
    """
    if name == NONE:
        return SummaryAuthor(Charged())
    profiles = Profiles(here.config / "llm.md")
    profile = _profile(profiles, name)
    if profiles.problem is not None and profiles.path.exists():
        # The game goes on with what held before; a figure must not come of another model.
        raise profiles.problem
    if profile.provider == EXTRACTIVE:
        return SummaryAuthor(ExtractiveSummarizer())
    start = "Start the world" if profile.provider == EMBEDDED else "Start the model server"
    cure = f"{start}, or leave --model out to have summaries made by rules"
    guarded = answering(here, profile, f"The model of the profile {name!r} does not answer", cure)
    return _asking(profile, guarded)


def _profile(profiles: Profiles, name: str) -> ModelProfile:
    try:
        return profiles.get(name)
    except ConfigError as error:  # of the command line, not of a line of the file
        raise KeepsakeError(
            f"There is no profile {name!r} in {profiles.path}",
            f"{error.cure}; or leave --model out to have summaries made by rules",
        ) from error


def _asking(profile: ModelProfile, guarded: GuardedModel) -> SummaryAuthor:
    # The embedded model is a process of the world's; nobody here waits until it is loaded.
    embedded = profile.provider == EMBEDDED
    model: LanguageModel = guarded.client if embedded else guarded.model

    def generate(prompt: str, stop: tuple[str, ...]) -> Generation:
        return model.generate(profile.request(prompt, stop=stop))

    context = profile.context_tokens or _CONTEXT
    summarizer = ModelSummarizer(generate, context_tokens=context)
    return SummaryAuthor(summarizer, model=True, close=guarded.client.close)
