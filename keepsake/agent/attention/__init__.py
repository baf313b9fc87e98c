"""When an agent thinks, and about what: impulses, their schedule, how the agent is now."""
