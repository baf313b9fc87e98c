"""The recall index: Chroma for meaning, SQLite FTS5 for words."""
