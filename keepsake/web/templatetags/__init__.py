"""Template tags of the dashboard's pages."""
