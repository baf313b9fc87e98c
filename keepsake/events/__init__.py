"""The event log: its events, its files and their readers; explanations of what an agent did."""
