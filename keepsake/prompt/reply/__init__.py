"""Replies: what an agent answers to somebody who spoke to it."""
