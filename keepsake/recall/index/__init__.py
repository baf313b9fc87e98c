"""The index of words: one file of SQLite for each agent, and what it knows of vectors."""
