"""The eleven jobs that two real agents did on the example, as data.

`first` is the agent's first call, if that was refused: in "flat" the agent with one tool per
action, in "dispatched" the agent with one tool for all. Names of fields and the form are the
agents' own; the values are those of the job.
"""

from typing import Literal

from scripted_agent import Encoded, Goal, Json, Known

Kind = Literal["flat", "dispatched"]

COMPANY = Known("companies", "Windmill BV")
DEAL = Known("deals", "Blades")
JAN = Known("contacts", "jan.molen@example.org")
NOTE = Known("notes", "Deal Blades")
LINES = [
    {"product": "Rotor blade", "quantity": 3, "price": 1250.5},
    {"product": "Hub", "quantity": 1, "price": 899},
]
PEOPLE = [("Jan", "Molen"), ("Piet", "Wiek"), ("Klaas", "As"), ("Els", "Steen"), ("Mia", "Kap")]


def person(first: str, last: str) -> Json:
    email = f"{first}.{last}@example.org".lower()
    return {
        "email": email,
        "first name": first,
        "last name": last,
        "company": COMPANY,
        "tags": ["vip"],
    }


def jobs(kind: Kind) -> dict[str, list[Goal]]:
    """The goals of each job, in their order."""
    if kind == "flat":
        deal = closed = note = None
        nobody: Json = {"email": ""}
    else:
        deal = packed(name="Blades", company=COMPANY, close_date="2026-12-31", lines=LINES)
        closed = packed(id=DEAL, stage="won", reason="Best price and delivery time")
        note = packed(deal=DEAL, text="Won on price. Send contract.")
        nobody = packed(email="")
    return {
        "find Ada": [
            Goal(verb="List", resource="contacts", facts={"search": "Ada"}),
            Goal(
                verb="Get", resource="companies", facts={"id": Known("contacts", "Ada", "company")}
            ),
        ],
        "create a company": [
            Goal(
                verb="Create",
                resource="companies",
                facts={
                    "name": "Windmill BV",
                    "employees": 45,
                    "website": "https://windmill.example.org",
                },
            )
        ],
        "five contacts at once, with a tag": [
            Goal(
                verb="Create", resource="contacts", rows=tuple(person(*names) for names in PEOPLE)
            ),
        ],
        "a deal with two lines": [
            Goal(
                verb="Create",
                resource="deals",
                facts={
                    "name": "Blades",
                    "company": COMPANY,
                    "close date": "2026-12-31",
                    "lines": LINES,
                },
                first=deal,
            )
        ],
        "close it as won": [
            Goal(
                verb="Close",
                resource="deals",
                facts={"id": DEAL, "stage": "won", "reason": "Best price and delivery time"},
                first=closed,
            )
        ],
        "change one last name": [
            Goal(verb="Change", resource="contacts", facts={"id": JAN, "last name": "Molenaar"})
        ],
        "e-mails of subscribed contacts": [
            Goal(verb="List", resource="contacts", facts={"subscribed": True}, columns=("email",))
        ],
        "write, change and delete a note": [
            Goal(
                verb="Create",
                resource="notes",
                facts={"title": "Deal Blades", "text": "Won on price. Send contract."},
                first=note,
            ),
            Goal(
                verb="Change",
                resource="notes",
                facts={"id": NOTE, "text": "Won on price. Contract sent."},
            ),
            Goal(verb="Delete", resource="notes", facts={"id": NOTE}),
        ],
        "delete the company": [Goal(verb="Delete", resource="companies", facts={"id": COMPANY})],
        "contacts without e-mail": [
            Goal(verb="List", resource="contacts", facts={"email": ""}, first=nobody)
        ],
        "five malformed calls": malformed(kind),
    }


def packed(**fields: object) -> Json:
    """Fields as the agent behind the dispatcher sent them."""
    return {"params": Encoded(fields)}


def company(letter: str, employees: object = 45) -> Json:
    website = f"https://{letter.lower()}.example.org"
    return {"name": f"Sloppy {letter}", "employees": employees, "website": website}


def creation(letter: str, first: Json) -> Goal:
    return Goal(verb="Create", resource="companies", facts=company(letter), first=first)


def malformed(kind: Kind) -> list[Goal]:
    """A wrapper, camel case, numbers as text, everything as JSON text, and a wrong type."""
    site = "https://b.example.org"
    named = {"companyName": "Sloppy B", "employeeCount": 45}
    if kind == "flat":
        camel_case = {**named, "websiteUrl": site}
        as_text: Json = {"arguments": Encoded(company("D"))}
    else:
        camel_case = packed(**named, webSite=site)
        as_text = {"params": Encoded(company("D"), times=2)}
    return [
        creation("A", {"data": company("A")}),
        creation("B", camel_case),
        creation("C", company("C", "45")),
        creation("D", as_text),
        creation("E", company("E", "forty-five")),
    ]


def further(kind: Kind) -> list[Goal]:
    """Other attempts of the agents after the jobs, with malformed calls."""
    otto = {"first name": "Otto", "email": "otto@example.org"}
    camel_case = {"firstName": "Otto", "email": "otto@example.org"}
    if kind == "dispatched":
        return [
            creation("G", packed(data=company("G", "45"))),
            creation("H", {"params": company("H")}),
            Goal(verb="Create", resource="contacts", facts=otto, first=camel_case),
        ]
    wrong: list[tuple[str, object]] = [("F", "45 people"), ("G", 45.5), ("H", [45]), ("J", True)]
    tagged = {**otto, "tags": ["nosuchtag"], "company": COMPANY}
    return [
        *(creation(letter, company(letter, value)) for letter, value in wrong),
        Goal(verb="Create", resource="companies", facts=company("I", None)),
        Goal(verb="Create", resource="contacts", facts=otto, first=camel_case),
        Goal(
            verb="Create",
            resource="contacts",
            facts=tagged,
            missing={
                "tags": {"slug": "nosuchtag", "title": "A new tag"},
                "company": {"name": "Windmill BV"},
            },
        ),
        Goal(
            verb="List",
            resource="contacts",
            facts={"email": ""},
            first={"filters": {"email__isnull": True}},
        ),
    ]
