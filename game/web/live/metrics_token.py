"""The token that opens the metrics; light, as `keepsake doctor` looks at it as well."""

from __future__ import annotations

TOKEN_VARIABLE = "KEEPSAKE_METRICS_TOKEN"
SHORTEST_TOKEN = 16
CURE = "Make one with `openssl rand -hex 24` and restart"


def too_short(token: str) -> str:
    """What is wrong with a token that opens to nobody; empty for a good one, and for none."""
    if token.strip() and len(token.strip().encode()) < SHORTEST_TOKEN:
        return (
            f"{TOKEN_VARIABLE} has less than {SHORTEST_TOKEN} characters, so that /metrics is "
            "open to nobody"
        )
    return ""
