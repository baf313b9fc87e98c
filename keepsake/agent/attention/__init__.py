"""What an agent attends to: its impulses, and when it thinks about which."""
