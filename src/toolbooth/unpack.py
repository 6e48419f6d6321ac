"""The two public names for flattening:

`from toolbooth.unpack import Unpack, unpack_pydantic_params`. They are the same objects as in
`toolbooth`.
"""

from __future__ import annotations

from toolbooth.decorator import unpack_pydantic_params
from toolbooth.markers import Unpack

__all__ = ["Unpack", "unpack_pydantic_params"]
