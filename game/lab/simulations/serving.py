"""Asks the model servers of a simulation whether they answer, before anything is lived."""

from __future__ import annotations

import os

from game.lab.simulations.plan import Lab
from game.llm.embedded.supervisor import Embedded
from game.llm.profiles import OLLAMA, OPENAI, Profiles
from game.llm.servers import build
from game.llm.wrappers import Recorder
from game.mind.errors import KeepsakeError, ModelError

_ASKED = ("agent", "summarizer")
"""The profiles without which nothing is lived."""


def check_servers(lab: Lab) -> None:
    """See that the servers that are to answer are there and have their models; blocks.

    The embedded model's is not asked: it is started with the world.

    Raises:
        KeepsakeError: One does not answer, or the profiles cannot be used.
    """
    profiles, places = Profiles(lab.vault / "config" / "llm.md"), lab.places()
    for name in _ASKED:
        profile = profiles.get(name)
        if profile.provider not in (OLLAMA, OPENAI):
            continue
        guarded = build(profile, Embedded(places), os.environ, Recorder())
        try:
            guarded.client.check()
        except ModelError as error:
            what = f"Nobody would answer as {name!r} of llm.md: {error.what}"
            raise KeepsakeError(what, error.cure) from error
        finally:
            guarded.client.close()
