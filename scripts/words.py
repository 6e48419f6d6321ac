"""Write the list of words that `toolbooth.spelling` knows: `make words`.

A slip of the pen that spells another word may be meant, so it is never corrected. The list has the
words of field names and documentation of installed packages (those of this project, and some with
large APIs or much text), without the misspellings in them, and the English words that are one slip
away from them.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolbooth.spelling import NEIGHBOURS

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".words"
LIST = ROOT / "src" / "toolbooth" / "words.txt"

PACKAGES = (
    # The descriptions of thousands of APIs, with their field names.
    *("ansible", "ansible-core", "botocore", "google-api-python-client", "kubernetes"),
    *("plaid-python", "PyGithub", "stripe", "twilio"),
    # Much text.
    *(
        "astropy",
        "Babel",
        "django-countries",
        "Faker",
        "networkx",
        "nltk",
        "pandas",
        "scipy",
        "sympy",
    ),
    # English words, to distinguish rare words from misspellings.
    "symspellpy",
)
ENGLISH = "frequency_dictionary_en_82_765.txt"

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
TEXTS = {".py", ".pyi", ".md", ".rst", ".txt", ".yml", ".yaml"}

SHORTEST, LONGEST = 4, 20
"""Letters of a word. A slip in a word of five letters or more leaves at least four."""

USUAL = 4
"""A word that is not English must occur in this many packages or APIs."""

COMMON, OFTEN = 10, 50
"""A word that is not English is a misspelling if it is one slip away from a word that occurs in at
least this many packages, and this many times as often.
"""


def main() -> None:
    install()
    sources, times = counted(texts())
    english = english_words()
    known = {word for word, found in sources.items() if found >= USUAL or word in english}
    known -= set(misspelt(known - english, sources, times))
    known |= {slip for word in known if len(word) > SHORTEST for slip in slips(word)} & english
    LIST.write_text("".join(f"{word}\n" for word in sorted(known)), encoding="ascii")
    print(f"{len(known):,} words in {LIST.relative_to(ROOT)}")


def install() -> None:
    """The packages whose texts are read, into an environment of their own."""
    print(f"Installing {len(PACKAGES)} packages into .words (a minute or two)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", HOME], check=True)
    pip = [sys.executable, "-m", "pip", "--python", HOME / "bin" / "python", "install", "-qq"]
    subprocess.run([*pip, "--no-compile", "--no-deps", *PACKAGES], check=True)


def texts() -> Iterator[tuple[str, str]]:
    """Every text, with the package or API that it belongs to."""
    for environment in (ROOT / ".venv", HOME):
        [packages] = environment.glob("lib/*/site-packages")
        for file in sorted(packages.rglob("*")):
            path = file.relative_to(packages)
            if file.is_file() and file.name != ENGLISH and is_text(path):
                data = file.read_bytes()
                data = gzip.decompress(data) if file.suffix == ".gz" else data
                yield owner(path), data.decode(errors="ignore")


def is_text(path: Path) -> bool:
    if path.parts[0] == "googleapiclient" and path.suffix == ".json":
        return True
    return path.suffix in TEXTS or path.name in ("METADATA", "service-2.json.gz")


def owner(path: Path) -> str:
    """The package; of a package with many APIs, the API."""
    if path.parts[0] in ("ansible_collections", "botocore"):
        return "/".join(path.parts[:3])
    if path.parts[0] == "googleapiclient" and path.suffix == ".json":
        return path.name.partition(".")[0]
    return path.parts[0].partition("-")[0].lower()


def counted(every: Iterable[tuple[str, str]]) -> tuple[dict[str, int], Counter[str]]:
    """For each word, the number of packages or APIs that it occurs in, and how often it occurs."""
    sources: dict[str, set[str]] = defaultdict(set)
    times: Counter[str] = Counter()
    for name, text in every:
        words = Counter(word.lower() for word in WORD.findall(text))
        for word, count in words.items():
            if SHORTEST <= len(word) <= LONGEST:
                sources[word].add(name)
                times[word] += count
    return {word: len(found) for word, found in sources.items()}, times


def english_words() -> set[str]:
    [file] = HOME.glob(f"lib/*/site-packages/symspellpy/{ENGLISH}")
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    words = {line.split()[0] for line in lines}
    return {word for word in words if word.isascii() and word.isalpha() and len(word) >= SHORTEST}


def misspelt(strange: set[str], sources: dict[str, int], times: Counter[str]) -> Iterator[str]:
    for word, found in sources.items():
        if found >= COMMON and len(word) > SHORTEST:
            yield from (
                slip
                for slip in slips(word)
                if slip in strange and times[word] >= OFTEN * times[slip]
            )


def slips(word: str) -> Iterator[str]:
    """Every text that one slip can make from a word."""
    for index, letter in enumerate(word):
        before, after = word[:index], word[index + 1 :]
        yield before + after
        yield before + letter + letter + after
        yield from (before + other + after for other in NEIGHBOURS[letter])
        if after and after[0] != letter:
            yield before + after[0] + letter + after[1:]


if __name__ == "__main__":
    main()
