"""The former place of `served`, kept for code that imports it from here."""

from toolbooth.adapters.connect import served as served
