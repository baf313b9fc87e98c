"""The commands of the lab: simulate, fork, eval."""
