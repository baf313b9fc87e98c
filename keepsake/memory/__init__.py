"""The three tiers of a memory, and the ladder of steps that compacts them."""
