"""How the world is now, as plain data for views: agents at a glance, rooms, plans, memories."""
