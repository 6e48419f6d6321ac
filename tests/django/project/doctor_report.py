"""What `manage.py mcp_doctor` says, for tests."""

import io

from django.core.management import CommandError, call_command


def doctor(*arguments, **options):
    """What the doctor printed, and its exit code."""
    out = io.StringIO()
    try:
        call_command("mcp_doctor", *arguments, stdout=out, stderr=out, no_color=True, **options)
    except SystemExit as end:
        return out.getvalue(), end.code
    except CommandError as error:
        return out.getvalue() + str(error), error.returncode
    return out.getvalue(), 0


def words_of_doctor(*arguments):
    """Everything that the doctor has to say, without line ends, and its exit code."""
    printed, code = doctor(*arguments, verbosity=2)
    return " ".join(printed.split()), code
