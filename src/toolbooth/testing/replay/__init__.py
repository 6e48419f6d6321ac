"""Record real calls, and replay them against today's tools."""
