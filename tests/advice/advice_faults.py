"""The faults in one entry: the fields as sent, and the intended ones.

`meant` is None if a reader of the call and of the schema cannot be certain of it: then no
correction may be given, only words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

UUIDS = ("6b7e67eb-52a4-4c0c-9d8e-1f2f3a4b5c6d", "b1b58efa-7a3c-4c57-9d3f-6f0f5c1a2b3c")
BOM = "\ufeff"
LINES = [{"sku": "A-1", "quantity": 2}, {"sku": "B-2", "quantity": 3}]


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    sent: dict[str, Any]
    meant: dict[str, Any] | None
    """The intended fields for the sent ones."""


def faults() -> Iterator[Fault]:
    yield from names()
    yield from values()
    yield from structures()


# --- names --------------------------------------------------------------------------------------

VALUES: dict[str, Any] = {
    "first_name": "Ann",
    "website": "https://example.org",
    "description": "New",
    "employees": 45,
    "page_size": 20,
    "is_active": False,
    "starts_at": "2026-12-31T10:00:00Z",
    "tags": ["a", "b"],
    "address": {"street": "High Street 1", "city": "Ghent"},
    "lines": LINES,
}

CERTAIN_NAMES = {
    "another case": """
        first_name:firstName,FirstName,FIRST_NAME,first-name,first.name  website:Website,WEBSITE,web_site,webSite
        page_size:pageSize,PageSize,PAGE_SIZE,page-size,pagesize  is_active:isActive,IS_ACTIVE,IsActive,isactive
        starts_at:startsAt,StartsAt,STARTS_AT  employees:Employees,EMPLOYEES  address:Address,ADDRESS  lines:Lines,LINES""",
    "another order": """
        first_name:name_first,nameFirst  page_size:size_page,sizePage  is_active:active_is  starts_at:at_starts""",
    "singular or plural": """
        tags:tag,Tag  lines:line  employees:employee  website:websites  description:descriptions  first_name:first_names""",
    "neighbours swapped": """
        website:wbesite,webiste,websiet  description:descripiton,decsription,descritpion  employees:emplyoees,employese
        address:adderss,addrses  first_name:fisrt_name,frist_name,firts_name  is_active:is_atcive,is_acitve""",
    "one dropped": """
        website:webste,wesite,wbsite  description:descripton,descrption,desription  employees:employes,emplyees
        address:adress,addess  first_name:firt_name,fist_name  is_active:is_actve,is_ative""",
    "one doubled": """
        website:webssite,websiite,wwebsite  description:desscription,descripttion  employees:empployees,employeees
        address:adddress,addresss  first_name:firsst_name,firrst_name  is_active:is_acttive,is_activve""",
    "a neighbouring key": """
        website:wevsite,webaite,websitr  description:descriptiom,fescription  employees:emplotees,wmployees
        address:afdress,addtess  first_name:forst_name,firsr_name  is_active:is_actibe,is_axtive""",
}

SPELLS_A_WORD = {"fist_name"}
"""Slips that spell another word: a reader cannot be certain of them."""

UNCERTAIN_NAMES = {
    "another word": """
        first_name:given_name,forename  website:homepage,url,webpage  description:summary,details,text
        employees:staff,headcount,workers  page_size:limit,per_page  is_active:enabled,inactive  address:location
        starts_at:begins,start_time,ends_at  tags:labels_list,keywords  lines:rows,items""",
    "another prefix": """
        first_name:person_first_name,contact_first_name,last_name  website:company_website,website_url
        employees:employee_count,number_of_employees  description:short_description,description_text
        page_size:max_page_size,page  is_active:was_active,is_inactive,is_interactive""",
    "a direction": """
        starts_at:starts_in,starts_before,starts_after""",
    "two slips": """
        website:wbeiste,wbsit  description:dscripton,descriptoin_s  employees:emploeys  address:adrss""",
    "digits": """
        first_name:first_name_2,first_name1,2_first_name  website:website2,website_1  address:address_1,address2""",
}


def _spelt(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        declared, _, others = word.partition(":")
        for each in others.split(","):
            yield declared, each


def names() -> Iterator[Fault]:
    for kind, text in CERTAIN_NAMES.items():
        for declared, sent in _spelt(text):
            value = VALUES[declared]
            meant = None if sent in SPELLS_A_WORD else {declared: value}
            yield Fault(f"name: {kind}", {sent: value}, meant)
    for kind, text in UNCERTAIN_NAMES.items():
        for declared, sent in _spelt(text):
            yield Fault(f"name: {kind}", {sent: VALUES[declared]}, None)
    yield Fault("name: singular or plural", {"tag": "a"}, None)
    yield Fault("name: singular or plural", {"line": LINES[0]}, None)
    yield Fault(
        "name: two at once",
        {"firstName": "Ann", "webSite": "x.org"},
        {"first_name": "Ann", "website": "x.org"},
    )
    yield Fault("name: two at once", {"firstName": "Ann", "homepage": "x.org"}, None)
    yield Fault("name: sent twice", {"firstName": "Ann", "first_name": "Eve"}, None)


# --- values -------------------------------------------------------------------------------------

CERTAIN_VALUES: dict[str, list[tuple[str, list[Any], Any]]] = {
    "value: a boolean": [
        ("is_active", ["False", "FALSE", "no", "No", "off", "Off", 0], False),
        ("is_active", ["True", "TRUE", "yes", "Yes", "on", "ON", 1], True),
    ],
    "value: in a list": [
        ("employees", [[45]], 45),
        ("ratio", [[0.25]], 0.25),
        ("is_active", [[False]], False),
        ("status", [["closed"]], "closed"),
        ("first_name", [["Ann"]], "Ann"),
        ("due_date", [["2026-12-31"]], "2026-12-31"),
        ("address", [[{"street": "High Street 1"}]], {"street": "High Street 1"}),
    ],
    "value: alone for a list": [
        ("tags", ["a"], ["a"]),
        ("numbers", [3], [3]),
        ("partners", [UUIDS[0]], [UUIDS[0]]),
        ("states", ["open"], ["open"]),
        ("lines", [LINES[0]], [LINES[0]]),
    ],
    "value: a list in an object": [
        ("tags", [{"item": ["a", "b"]}, {"items": ["a", "b"]}, {"0": "a", "1": "b"}], ["a", "b"]),
        ("numbers", [{"item": [1, 2]}, {"0": 1, "1": 2}], [1, 2]),
        ("lines", [{"item": LINES}, {"0": LINES[0], "1": LINES[1]}], LINES),
    ],
    "value: a map as pairs or lines": [
        (
            "labels",
            [[["A", "b"], ["C", "d"]], [{"key": "A", "value": "b"}, {"key": "C", "value": "d"}]],
            {"A": "b", "C": "d"},
        ),
        ("labels", ["A: b\nC: d", "A: b\r\nC: d\n"], {"A": "b", "C": "d"}),
    ],
    "value: a list as text": [
        ("numbers", ["1, 2, 3", "1,2,3", "1\n2\n3", "(1, 2, 3)", "[1, 2, 3,]"], [1, 2, 3]),
        (
            "partners",
            [", ".join(UUIDS), "\n".join(UUIDS), str(UUIDS), str(list(UUIDS))],
            list(UUIDS),
        ),
        (
            "states",
            ["open, closed", "open\nclosed", "('open', 'closed')", "['open', 'closed']"],
            ["open", "closed"],
        ),
        ("tags", ["['a', 'b']", "('a', 'b')", '["a", "b",]', '```\n["a", "b"]\n```'], ["a", "b"]),
        (
            "lines",
            ['{"sku": "A-1", "quantity": 2}\n{"sku": "B-2", "quantity": 3}', str(LINES)],
            LINES,
        ),
    ],
    "value: an object as text": [
        (
            "address",
            [
                "{'street': 'High Street 1', 'city': 'Ghent'}",
                '{"street": "High Street 1", "city": "Ghent",}',
                '```json\n{"street": "High Street 1", "city": "Ghent"}\n```',
                BOM + '{"street": "High Street 1", "city": "Ghent"}',
            ],
            {"street": "High Street 1", "city": "Ghent"},
        ),
        (
            "labels",
            ["{'A': 'b', 'C': 'd'}", '```json\n{"A": "b", "C": "d"}\n```'],
            {"A": "b", "C": "d"},
        ),
    ],
    "value: a number for text": [
        ("title", [45], "45"),
        ("first_name", [7, -3], None),
        ("labels", [{"A": 2, "C": "d"}], {"A": "2", "C": "d"}),
        ("tags", [[1, "b"]], ["1", "b"]),
        ("address", [{"street": 12}], {"street": "12"}),
    ],
    "value: a choice": [
        ("status", ["Open", "OPEN"], "open"),
        (
            "status",
            ["In Progress", "IN_PROGRESS", "in-progress", "inProgress", "in progress"],
            "in_progress",
        ),
        ("states", [["Open", "In Progress"]], ["open", "in_progress"]),
    ],
    "value: an integer with thousands": [
        ("employees", ["1,000", "12,345,678"], None),
    ],
    "value: a time as a number": [
        (
            "starts_at",
            [1798711200, "1798711200", 1798711200000, "1798711200000"],
            "2026-12-31T10:00:00Z",
        ),
        ("due_date", [20261231, "20261231"], "2026-12-31"),
    ],
}

COMPUTED: dict[tuple[str, Any], Any] = {
    ("first_name", 7): "7",
    ("first_name", -3): "-3",
    ("employees", "1,000"): 1000,
    ("employees", "12,345,678"): 12345678,
}
"""The intended values, if each sent value means another one."""

LEFT_OUT = {
    "employees": ["None", "N/A", "n/a", "none"],
    "due_date": ["None", "N/A", ""],
    "starts_at": ["None", "N/A"],
    "reference": ["None", "N/A"],
    "address": ["None", "N/A"],
}
"""Words for "nothing", for fields whose default is null."""

UNCERTAIN_VALUES: dict[str, list[tuple[str, list[Any]]]] = {
    "value: a unit": [
        ("employees", ["45 people", "€ 5", "10%", "3 kg", "$45", "approx. 45", "45+"]),
        ("ratio", ["10%", "0.5 l", "€ 0.50"]),
    ],
    "value: a number in words": [("employees", ["forty-five", "many", True, 45.5, "45.5", "4_5"])],
    "value: thousands or decimals": [("ratio", ["1,000", "0,5"])],
    "value: commas in text": [("tags", ["a, b", "a,b", "a; b"])],
    "value: an epoch for a date": [("due_date", [1798711200, "1798711200"])],
    "value: another format": [
        ("due_date", ["31.12.2026", "01/02/2026", "tomorrow", 20261399, "20261399"]),
        ("starts_at", ["tomorrow", 17987112, 179871120000000000]),
        ("timeout", ["5 minutes", "5m"]),
        ("reference", ["nr-12", 12]),
    ],
    "value: another choice": [("status", ["opened", "done", "ope", 1])],
    "value: another boolean": [("is_active", ["maybe", "ja", 2, "active", -1])],
    "value: nothing, of a default": [("page_size", ["None", "N/A"]), ("ratio", ["None"])],
    "value: several for one": [
        ("employees", [[45, 46], []]),
        ("address", [[{"street": "a"}, {"street": "b"}]]),
        ("numbers", ["1, two, 3", {"0": 1, "2": 3}, {"count": 3}]),
        ("labels", [["A", "b", "C"], "A b C"]),
    ],
}


def values() -> Iterator[Fault]:
    for kind, rows in CERTAIN_VALUES.items():
        for field, every, meant in rows:
            for sent in every:
                right = meant if meant is not None else COMPUTED[field, sent]
                yield Fault(kind, {field: sent}, {field: right})
    for field, every in LEFT_OUT.items():
        for sent in every:
            yield Fault("value: a word for nothing", {field: sent}, {})
    for kind, pairs in UNCERTAIN_VALUES.items():
        for field, every in pairs:
            for sent in every:
                yield Fault(kind, {field: sent}, None)


# --- structure ----------------------------------------------------------------------------------

HOME = {"street": "High Street 1", "city": "Ghent"}


def structures() -> Iterator[Fault]:
    meant = {"address": HOME}
    for join in ("_", "__", ".", "/"):
        sent = {f"address{join}{key}": value for key, value in HOME.items()}
        yield Fault("structure: a path as a name", sent, meant if join != "/" else None)
    yield Fault(
        "structure: a path as a name",
        {"address[street]": "High Street 1", "address[city]": "Ghent"},
        meant,
    )
    yield Fault("structure: one level too high", dict(HOME), meant)
    yield Fault(
        "structure: one level too high",
        {"street": "High Street 1", "address": {"city": "Ghent"}},
        meant,
    )
    deep = {"address": {**HOME, "first_name": "Ann"}}
    yield Fault("structure: one level too deep", deep, {**meant, "first_name": "Ann"})
    deep = {"lines": [{**LINES[0], "website": "x.org"}]}
    yield Fault("structure: one level too deep", deep, {"lines": [LINES[0]], "website": "x.org"})
    inner = {"first_name": "Ann", "website": "x.org"}
    for wrapper in ("data", "input", "params", "body", "fields", "kwargs", "entry_data", "payload"):
        yield Fault("structure: a wrapper", {wrapper: dict(inner)}, inner)
    yield Fault("structure: a wrapper", {"data": {"attributes": dict(inner)}}, inner)
    yield Fault(
        "structure: a wrapper", {"data": '{"first_name": "Ann", "website": "x.org"}'}, inner
    )
    yield Fault(
        "structure: a wrapper",
        {"data": {"firstName": "Ann", "is_active": "False"}},
        {"first_name": "Ann", "is_active": False},
    )
    yield Fault("structure: a wrapper", {"data": {**inner, "homepage": "y.org"}}, None)
    yield Fault("structure: a wrapper", {"address": {"data": dict(HOME)}}, meant)
    yield Fault(
        "structure: a wrapper",
        {"lines": [{"item": LINES[0]}, {"item": LINES[1]}]},
        {"lines": LINES},
    )
