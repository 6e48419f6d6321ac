"""What only `toolbooth serve` needs."""
