"""Asks model servers whether they answer, before anything is lived."""

from __future__ import annotations

import os

from keepsake.errors import KeepsakeError, ModelError
from keepsake.models.embedded import Embedded
from keepsake.models.model import AskedModel, build
from keepsake.models.profiles import OLLAMA, OPENAI, ModelProfile, Profiles
from keepsake.paths import Places

_ASKED = ("agent", "summarizer")
"""The profiles without which nothing is lived."""


def answering(places: Places, profile: ModelProfile, what: str, cure: str = "") -> AskedModel:
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


def check_servers(places: Places) -> None:
    """See that the servers that are to answer in a simulated world are there; blocks.

    The embedded model's is not asked: it is started with the world.

    Raises:
        KeepsakeError: One does not answer, or the profiles cannot be used.
    """
    profiles = Profiles(places.config / "llm.md")
    for profile in map(profiles.get, _ASKED):
        if profile.provider in (OLLAMA, OPENAI):
            what = f"Nobody would answer as {profile.name!r} of llm.md"
            answering(places, profile, what).client.close()
