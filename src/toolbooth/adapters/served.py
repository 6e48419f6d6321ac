"""Where `served` was before it had the name of what it does: kept for code that imports it from
here.
"""

from toolbooth.adapters.connect import served as served
