"""The 40 rows of `docs/project/evidence/parameter-flattening.md` as data: a tool, its calls, and
their results.

`test_flattening.py` sends them to the engine, `test_decorator_rows.py` to plain hosts. Every tool
returns its arguments as text. A call marked `by_host` has a key that no flat signature can name: a
plain host decides it before our code is reached (`test_decorator_rows.py` lists the behaviour of
each host).
"""

from flattening_fields import FIELDS
from flattening_kinds import KINDS
from flattening_validators import VALIDATORS

ROWS = [*FIELDS, *VALIDATORS, *KINDS]
