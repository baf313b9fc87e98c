"""Embedding models in this process: weights from a package, and no server."""
