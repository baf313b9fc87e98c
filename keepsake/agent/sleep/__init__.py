"""Sleep: when an agent tires and wakes, and what it does at night."""
