"""Texts that people wrote, out of the packages and the Python that are installed here, and names
that fields may have.
"""

import re
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

ROOTS = tuple(Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib"))
WHOLE = (".html", ".htm", ".xhtml", ".xml", ".xsl", ".md", ".rst", ".jsx", ".tsx", ".txt", ".js")
IN_PARTS = (*WHOLE, ".py")
DRAWINGS = 2_000
"""SVG files, of which some packages have thousands."""
LONGEST = 60_000

FIELDS = ("content", "body", "title", "description", "summary")
"""In which every text is sent."""

TAGS_AND_ATTRIBUTES = """
    a abbr address area article aside audio b base blockquote br button canvas caption cite code col
    data datalist dd del details dialog div dl dt em embed fieldset figcaption figure footer form h1
    h2 h3 head header hr html i iframe img input ins kbd label legend li link main map mark menu meta
    nav object ol option output p param parameter picture pre progress q s script search section
    select small source span strong style sub sup table tbody td template textarea tfoot th thead
    time tr u ul var video svg g path rect circle line text image defs use item entry author id
    category channel guid name value version url key type string array dict Link Route Button
    class href src alt width height lang rel target role tabindex action method placeholder disabled
    checked colspan rowspan onclick className htmlFor viewBox fill stroke d x y r points xmlns
    content body title description summary
""".split()

ARGUMENT_NAMES = """
    user username user_name email password token query q filter filters sort order limit offset page
    page_size cursor start end date due due_date created_at updated_at timestamp status state priority
    tags labels tag_list reason evidence metadata attributes properties options config settings
    parameters arguments params payload request response message messages text prompt note notes
    comment comments subject recipients recipient sender cc bcc attachments file files filename
    file_path directory repo repository branch commit owner org organization team project project_id
    task task_id issue_number assignee assignees milestone parent_id children customer customer_id
    order_id product_id sku quantity price amount currency country city street zip phone first_name
    last_name full_name birthday age gender language locale timezone format mode verbose dry_run force
    recursive include exclude max_results
""".split()

UNSENT = [*TAGS_AND_ATTRIBUTES[:-5], *ARGUMENT_NAMES]


def real_texts(count: int) -> list[str]:
    """The same texts in every run, as long as the same packages are installed: whole files, then
    parts of files between blank lines, then drawings.
    """
    files = sorted(path for root in ROOTS for path in root.rglob("*.*") if _is_wanted(root, path))
    drawings = [path for path in files if path.suffix == ".svg"]
    found: dict[str, None] = {}
    for text in (*_whole(files, WHOLE), *map(_read, drawings[:DRAWINGS])):
        found.setdefault(text)
    for text in islice(_parts(files), 10 * count):
        if len(found) >= count:
            break
        found.setdefault(text)
    return list(found)[:count]


def _is_wanted(root: Path, path: Path) -> bool:
    inside = path.relative_to(root).parts
    is_text = path.suffix in (*IN_PARTS, ".svg")
    return is_text and "site-packages" not in inside and path.is_file()


def _whole(files: list[Path], suffixes: tuple[str, ...]) -> Iterator[str]:
    for path in files:
        if path.suffix in suffixes:
            text = _read(path)
            if "<" in text and len(text) <= LONGEST:
                yield text


def _parts(files: list[Path]) -> Iterator[str]:
    """Parts with tags in them. Of each file the first ten, so that many files are used."""
    for path in files:
        if path.suffix in IN_PARTS:
            parts = re.split(r"\n\s*\n", _read(path))
            tagged = (part for part in parts if "</" in part and len(part) <= LONGEST)
            yield from islice(tagged, 10)


def _read(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")
