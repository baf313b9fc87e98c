"""The village's Evennia directory: settings, hooks, web site; and the village in a simulation."""
