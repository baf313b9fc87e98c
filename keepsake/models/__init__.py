"""Language-model and embedding clients, and the queue in front of them."""
