"""Tokens of texts, counted offline: a tokenizer from PyPI that carries its vocabulary, in an
environment of its own.
"""

from __future__ import annotations

import json
import subprocess

from environments import set_up

PACKAGE, VERSION = "bpe-openai", "0.1.4"
ENCODING = "o200k_base"
"""Of OpenAI's models since GPT-4o. Other vendors' tokenizers are not public; on JSON they differ
little in ratio.
"""

_COUNT = f"""
import json, sys, bpe_openai
encoding = bpe_openai.get_encoding("{ENCODING}")
texts = json.load(sys.stdin)
json.dump([sum(len(encoding.encode(part)) for part in parts) for parts in texts], sys.stdout)
"""


def tokens(texts: list[list[str]]) -> list[int]:
    """How many tokens each of the texts has, its parts counted one by one: the tokenizer takes no
    megabytes.
    """
    python = set_up("tokens", f"{PACKAGE}=={VERSION}")
    ran = subprocess.run(
        [python, "-c", _COUNT], input=json.dumps(texts), capture_output=True, check=True, text=True
    )
    return json.loads(ran.stdout)
