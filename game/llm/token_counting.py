"""Who counts tokens: the model server's own tokenizer, else tiktoken, else nobody."""

from __future__ import annotations

from collections.abc import Sequence

from game.llm.gateway import Gateway


class TokenCounter:
    """Counts for the model of one profile; blocks, so it belongs in a worker thread.

    Args:
        gateway: The way to the models.
        profile: Whose model counts.
    """

    def __init__(self, gateway: Gateway, profile: str = "agent") -> None:
        self._gateway = gateway
        self._profile = profile

    @property
    def model(self) -> str:
        """What the counts hold for; when it changes, they are worth nothing. Quick."""
        profile = self._gateway.profiles.get(self._profile)
        return f"{profile.provider} {profile.host} {profile.model}"

    def count(self, texts: Sequence[str]) -> tuple[list[int], str] | None:
        """Tokens of each text and who counted; None when nobody can now."""
        found = [self._gateway.count_tokens(self._profile, text) for text in texts]
        counts = [each for each in found if each is not None]
        return (counts, "model server") if len(counts) == len(texts) else None
