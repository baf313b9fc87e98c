"""The API about one agent: its memory, books, plans, and why it acted."""
