"""The API behind the dashboard."""
