"""The commands of the lab: simulate, replay, fork, eval."""
