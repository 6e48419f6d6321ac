"""`toolbooth test`: which calls it makes, and its sentences."""
