"""What a tool answers with: pages and continuation tokens."""
