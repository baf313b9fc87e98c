"""When an agent sleeps, and what it does at night."""
