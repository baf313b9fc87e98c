"""Reads the token of an HTTP request: ``Authorization: Bearer ks_…``."""

from __future__ import annotations


def bearer_token(header: str) -> str:
    """Return the token in an ``Authorization`` header; empty if it has none of this scheme."""
    scheme, _, token = header.strip().partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""
