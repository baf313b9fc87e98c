"""Who writes the summaries of a replayed life: rules at a model's price, or a real model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from game.lab.replays.accounting import Charged
from game.lab.simulations.serving import answering, asked_model, named_profile
from keepsake.models.profiles import EMBEDDED, EXTRACTIVE, ModelProfile
from keepsake.models.servers import GuardedModel
from keepsake.paths import Places
from keepsake.ports import Generation
from keepsake.summaries.source import Summarizer
from keepsake.summaries.summarizer import ExtractiveSummarizer, ModelSummarizer

NONE = "none"
"""No model: summaries by rules, at the price that a model would have had."""
_CONTEXT = 4096
_BY_RULES = "leave --model out to have summaries made by rules"


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
    _, profile = named_profile(here, name, f"; or {_BY_RULES}")
    if profile.provider == EXTRACTIVE:
        return SummaryAuthor(ExtractiveSummarizer())
    start = "Start the world" if profile.provider == EMBEDDED else "Start the model server"
    cure = f"{start}, or {_BY_RULES}"
    guarded = answering(here, profile, f"The model of the profile {name!r} does not answer", cure)
    return _asking(profile, guarded)


def _asking(profile: ModelProfile, guarded: GuardedModel) -> SummaryAuthor:
    model = asked_model(profile, guarded)

    def generate(prompt: str, stop: tuple[str, ...]) -> Generation:
        return model.generate(profile.request(prompt, stop=stop))

    context = profile.context_tokens or _CONTEXT
    summarizer = ModelSummarizer(generate, context_tokens=context)
    return SummaryAuthor(summarizer, model=True, close=guarded.client.close)
