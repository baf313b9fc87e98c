"""The dashboard: a Django app, its JSON API, its live stream and its metrics."""
