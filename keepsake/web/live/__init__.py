"""What is pushed or polled while it happens: event streams, charts, metrics."""
