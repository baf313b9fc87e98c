"""Who counts tokens: the model server's own tokenizer, else nobody."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.errors import KeepsakeError
from keepsake.models.gateway import Gateway
from keepsake.prompt.tokens import MODEL_SERVER

_PROFILE = "agent"


class ServerTokenCounter:
    """Counts for the model of the agents; :meth:`count` blocks, for worker threads only."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    @property
    def model(self) -> str:
        """Which model counts are of; when this changes, those known are worthless. Quick."""
        profile = self._gateway.profiles.get(_PROFILE)
        return f"{profile.provider} {profile.host} {profile.model} {profile.model_file}".rstrip()

    def count(self, texts: Sequence[str]) -> tuple[list[int], str] | None:
        """Tokens of each text and who counted them; None when nobody can now."""
        # A lone surrogate, which some terminal sent, cannot go over the wire.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        try:
            counts = self._gateway.count_tokens(_PROFILE, clean)
        except KeepsakeError:
            return None
        return None if counts is None else (counts, MODEL_SERVER)
