"""The texts of `toolbooth proxy`."""
