"""Sleep: when an agent falls asleep and wakes, and what it does at night."""
