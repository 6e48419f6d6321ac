"""Results that fit: pages of a result, and its summary. Nothing here knows a host."""
