"""The three tiers of a memory, and the ladder of steps by which it is compacted."""
