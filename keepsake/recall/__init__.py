"""Retrieval: finds the memories, summaries and notes that matter now."""
