"""The sentence about a wrapper, written by hand once for all tests that compare it."""

from collections.abc import Sequence


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def wrapper(
    key: str,
    *,
    inside: str = "",
    as_text: bool = False,
    send: Sequence[str] = (),
    conflicting: Sequence[str] = (),
    sent: Sequence[str] = (),
    similar: Sequence[tuple[str, str]] = (),
    undeclared: Sequence[str] = (),
    content: Sequence[str] = (),
) -> str:
    """Return the sentence about the wrapper `key`, which is in the object at the path `inside`."""
    level = f"directly in {inside}" if inside else "at the top level"
    said = [
        f'"{key}" is not a declared field and its value is a nested object{" as JSON text" * as_text}.'
    ]
    # Without a field that belongs here, it is an unknown field rather than a wrapper.
    if send or conflicting or sent or similar or content:
        said.append(f"Likely cause: a {'REST-style ' * (not inside and not as_text)}wrapper.")
    if send:
        said.append(f'Send {quoted(send)} {level}, not inside "{key}".')
    for name in conflicting:
        said.append(f'"{name}" is also sent outside "{key}", with another value: send it once.')
    for name in sent:
        said.append(f'"{name}" is already sent {level}.')
    for name, near in similar:
        said.append(f'"{name}" is not a declared field; did you mean "{near}"?')
    if undeclared:
        are = "is not a declared field" if len(undeclared) == 1 else "are not declared fields"
        said.append(f"{quoted(undeclared)} {are} either.")
    if content:
        said.append(f"{quoted(content)} can be sent there too.")
    if not (send or conflicting or similar or undeclared or content):
        said.append(f'Leave "{key}" out.')
    return " ".join(said).removesuffix(".")
