"""Whether Docker answers and has the images that the Kafka fixture needs, or gets them."""

import os
import subprocess
import sys

from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient

from tests.support.kafka.jars import kafka_version

PULL_SECONDS = 900


def image() -> str:
    """Return the image's name: KAFKA_TEST_IMAGE, or Apache's of the version that the pom names."""
    return os.environ.get("KAFKA_TEST_IMAGE") or f"apache/kafka:{kafka_version()}"


def docker_is_ready() -> bool:
    """Whether a container can be started.

    Asked in a process of its own: where no daemon answers, the Docker client leaves sockets open, and the
    warning about them would fail whichever test runs when they are collected.
    """
    asked = subprocess.run([sys.executable, "-m", __name__], check=False, capture_output=True)
    return asked.returncode == 0


def main() -> None:
    """End with an error unless a daemon answers and the images are there or can be pulled."""
    DockerClient(timeout=3).client.ping()
    docker = DockerClient(timeout=PULL_SECONDS).client
    names = {image()} if testcontainers_config.ryuk_disabled else {image(), testcontainers_config.ryuk_image}
    for name in names:
        if not docker.images.list(name):
            docker.images.pull(name)


if __name__ == "__main__":
    main()
