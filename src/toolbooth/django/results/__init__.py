"""The results of tools: pages and continuation tokens."""
