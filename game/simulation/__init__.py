"""Simulations of the village, with Evennia and the village's classes. See keepsake.lab."""
