"""The rules of the boundary with their evidence, for `toolbooth explain`."""
