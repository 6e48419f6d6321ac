"""Counts the tokens of texts offline, with a tokenizer from PyPI that contains its vocabulary, in
its own environment.
"""

from __future__ import annotations

import json
import subprocess

from environments import set_up

PACKAGE, VERSION = "bpe-openai", "0.1.4"
ENCODING = "o200k_base"
"""The encoding of OpenAI's models since GPT-4o. Tokenizers of other vendors are not public; their
ratios on JSON differ little.
"""

_COUNT = f"""
import json, sys, bpe_openai
encoding = bpe_openai.get_encoding("{ENCODING}")
texts = json.load(sys.stdin)
json.dump([sum(len(encoding.encode(part)) for part in parts) for parts in texts], sys.stdout)
"""


def tokens(texts: list[list[str]]) -> list[int]:
    """The number of tokens of each text. Its parts are counted separately, because the tokenizer
    does not accept megabytes.
    """
    python = set_up("tokens", f"{PACKAGE}=={VERSION}")
    ran = subprocess.run(
        [python, "-c", _COUNT], input=json.dumps(texts), capture_output=True, check=True, text=True
    )
    return json.loads(ran.stdout)
