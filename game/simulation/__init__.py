"""The village in a simulation: what needs Evennia and the village's classes. See keepsake.lab."""
