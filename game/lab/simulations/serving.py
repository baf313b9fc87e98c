"""Asks model servers whether they answer, before anything is lived."""

from __future__ import annotations

import os

from game.lab.simulations.plan import Lab
from keepsake.errors import ConfigError, KeepsakeError, ModelError
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.profiles import EMBEDDED, OLLAMA, OPENAI, ModelProfile, Profiles
from keepsake.models.servers import GuardedModel, build
from keepsake.paths import Places
from keepsake.ports import LanguageModel

_ASKED = ("agent", "summarizer")
"""The profiles without which nothing is lived."""


def named_profile(here: Places, name: str, way_out: str = "") -> tuple[Profiles, ModelProfile]:
    """A profile of ``llm.md``, and all of them; ``way_out``: what the cure says last.

    Raises:
        KeepsakeError: There is no such profile, or the file cannot be used.
    """
    profiles = Profiles(here.config / "llm.md")
    try:
        profile = profiles.get(name)
    except ConfigError as error:  # of the command line, not of a line of the file
        told = f"There is no profile {name!r} in {profiles.path}"
        raise KeepsakeError(told, f"{error.cure}{way_out}") from error
    if profiles.problem is not None and profiles.path.exists():
        # The game goes on with what held before; a figure must not come of another model.
        raise profiles.problem
    return profiles, profile


def asked_model(profile: ModelProfile, guarded: GuardedModel) -> LanguageModel:
    """What is asked of a model that answers.

    The embedded one is a process of the world's; nobody here waits until it is loaded.
    """
    return guarded.client if profile.provider == EMBEDDED else guarded.model


def answering(places: Places, profile: ModelProfile, what: str, cure: str = "") -> GuardedModel:
    """The client of a profile whose server is there and has its model; blocks.

    Raises:
        KeepsakeError: It does not answer; ``what`` with the reason, and ``cure`` or its own.
    """
    guarded = build(profile, Embedded(places), os.environ)
    try:
        guarded.client.check()
    except ModelError as error:
        guarded.client.close()
        raise KeepsakeError(f"{what}: {error.what}", cure or error.cure) from error
    return guarded


def check_servers(lab: Lab) -> None:
    """See that the servers that are to answer in a simulation are there; blocks.

    The embedded model's is not asked: it is started with the world.

    Raises:
        KeepsakeError: One does not answer, or the profiles cannot be used.
    """
    profiles = Profiles(lab.vault / "config" / "llm.md")
    for profile in map(profiles.get, _ASKED):
        if profile.provider in (OLLAMA, OPENAI):
            what = f"Nobody would answer as {profile.name!r} of llm.md"
            answering(lab.places(), profile, what).client.close()
