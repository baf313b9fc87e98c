"""Clients of model servers and embedders."""
