"""The commands of the lab: simulate, eval, sweep."""
