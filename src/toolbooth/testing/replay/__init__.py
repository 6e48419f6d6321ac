"""Record real calls, and hold them to today's schema."""
