"""The dashboard: a Django app, its JSON API and its metrics."""
