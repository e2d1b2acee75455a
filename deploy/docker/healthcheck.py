"""Asks the daemon of this container whether it is alive, and passes its words on; for images without curl."""
# ruff: noqa: INP001, T201 (a script: Docker keeps what it prints)

import http.client
import os
import sys


def main() -> int:
    port = os.environ.get("RANKING_MONITOR__LISTEN", "0.0.0.0:9109").rsplit(":", 1)[1]
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=4)
    try:
        connection.request("GET", "/-/healthy")
        answer = connection.getresponse()
        words = answer.read().decode()
    except OSError as error:
        print(f"no answer at port {port}: {error}")
        return 1
    print(words, end="")
    return 0 if answer.status == http.HTTPStatus.OK else 1


if __name__ == "__main__":
    sys.exit(main())
