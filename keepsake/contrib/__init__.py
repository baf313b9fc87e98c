"""Integrations with other frameworks: Evennia, OpenTelemetry."""
