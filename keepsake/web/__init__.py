"""The dashboard: what agents remember, think and cost, as pages and as JSON."""
