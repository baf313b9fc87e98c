"""Asks model servers whether they answer, before anything is lived."""

from __future__ import annotations

import os

from keepsake.errors import KeepsakeError, ModelError
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.profiles import OLLAMA, OPENAI, ModelProfile, Profiles
from keepsake.models.servers import GuardedModel, build
from keepsake.paths import Places

_ASKED = ("agent", "summarizer")
"""The profiles without which nothing is lived."""


def answering(places: Places, profile: ModelProfile, what: str, cure: str = "") -> GuardedModel:
    """The client of a profile's first server that is there and has its model; blocks.

    Raises:
        KeepsakeError: None answers; ``what`` with the reason, and ``cure`` or its own.
    """
    told: ModelError | None = None
    for member in profile.members:
        guarded = build(member, Embedded(places), os.environ)
        try:
            guarded.client.check()
        except ModelError as error:
            guarded.client.close()
            told = told or error
        else:
            return guarded
    assert told is not None, "a profile has a server"
    raise KeepsakeError(f"{what}: {told.what}", cure or told.cure) from told


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
