"""People across agents: what each agent knows of one person."""
