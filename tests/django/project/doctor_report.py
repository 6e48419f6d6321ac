"""The output of `manage.py mcp_doctor`, for tests."""

import io

from django.core.management import CommandError, call_command


def doctor(*arguments, **options):
    """Return the doctor's output, and its exit code."""
    out = io.StringIO()
    try:
        call_command("mcp_doctor", *arguments, stdout=out, stderr=out, no_color=True, **options)
    except SystemExit as end:
        return out.getvalue(), end.code
    except CommandError as error:
        return out.getvalue() + str(error), error.returncode
    return out.getvalue(), 0


def words_of_doctor(*arguments):
    """Return the doctor's whole output, without line ends, and its exit code."""
    printed, code = doctor(*arguments, verbosity=2)
    return " ".join(printed.split()), code
