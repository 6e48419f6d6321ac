"""The checks of `toolbooth doctor`, and their sentences."""
