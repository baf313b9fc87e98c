"""Who counts tokens: the model server's own tokenizer, else tiktoken, else nobody."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.errors import KeepsakeError
from keepsake.models.gateway import Gateway
from keepsake.models.tokens.local_tokenizer import LocalTokenizer
from keepsake.prompt.tokens import MODEL_SERVER, TIKTOKEN

_PROFILE = "agent"


class ServerTokenCounter:
    """Counts for the model of the agents; :meth:`count` blocks, for worker threads only."""

    def __init__(self, gateway: Gateway, local: LocalTokenizer | None = None) -> None:
        self._gateway = gateway
        self._local = local or LocalTokenizer()

    @property
    def model(self) -> str:
        """Which model counts are of; when this changes, those known are worthless. Quick."""
        profile = self._gateway.profiles.get(_PROFILE)
        return f"{profile.provider} {profile.host} {profile.model} {profile.model_file}".rstrip()

    def count(self, texts: Sequence[str]) -> tuple[list[int], str] | None:
        """Tokens of each text and who counted them; None when nobody can now.

        A server that is silent is waited for: its tokenizer is the true one.
        """
        # A lone surrogate, which some terminal sent, cannot go over the wire.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        try:
            counts = self._gateway.count_tokens(_PROFILE, clean)
            if counts is not None:
                return counts, MODEL_SERVER
            counts = self._local.count(clean, self._gateway.profiles.get(_PROFILE).model)
        except KeepsakeError:
            return None
        return (counts, TIKTOKEN) if counts is not None else None
