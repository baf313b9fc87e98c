"""A world that does not run here, as its files have it, in the dashboard's own pages."""
