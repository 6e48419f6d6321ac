"""Results that fit: pages, tokens and the arguments that ask for them. Nothing here knows a host."""
