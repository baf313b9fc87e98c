"""Why an agent did something, from the archive and the event log."""
