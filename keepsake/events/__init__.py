"""The event log: event types, log files, readers, and explanations of an agent's acts."""
