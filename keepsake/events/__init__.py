"""The event log: its events, files and readers, and why an agent did something."""
