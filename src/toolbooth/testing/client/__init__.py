"""Call a tool as a real client does, with the arguments that it delivers."""
