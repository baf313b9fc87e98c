"""Evennia's side of the running world: settings, hooks, control socket."""
