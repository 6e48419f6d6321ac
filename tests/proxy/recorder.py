"""Stands between the proxy and a server, and adds every line for the server to a file, byte for
byte. Run: python recorder.py FILE COMMAND...
"""

import subprocess
import sys


def main() -> int:
    file, *command = sys.argv[1:]
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert child.stdin is not None
    with open(file, "ab", buffering=0) as recorded:
        for line in sys.stdin.buffer:
            recorded.write(line)
            try:
                child.stdin.write(line)
                child.stdin.flush()
            except BrokenPipeError:
                break
    child.stdin.close()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
