"""When an agent thinks: impulses, attention, conversations; pure, like the mind."""
