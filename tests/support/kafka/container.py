"""A broker in a Docker container, run by testcontainers."""

import os
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

from tests.support.kafka.jars import kafka_version
from tests.support.kafka.settings import Settings

# Where apache/kafka has its jars. Any image with java on the PATH and the jars here will do.
LIBS = "/opt/kafka/libs"
CONFIG = "/tmp/broker"


def image() -> str:
    """Return the image's name: KAFKA_TEST_IMAGE, or Apache's of the version that the pom names."""
    return os.environ.get("KAFKA_TEST_IMAGE") or f"apache/kafka:{kafka_version()}"


def docker_answers(seconds: int = 3) -> bool:
    """Whether a Docker daemon answers at DOCKER_HOST or the usual socket."""
    try:
        with docker(seconds) as client:
            return bool(client.client.ping())
    except Exception:  # noqa: BLE001 - without a daemon docker and requests raise many types
        return False


def images_are_there(pull_seconds: int = 900) -> bool:
    """Whether the images are there or can be pulled: the broker's, and testcontainers' cleaner (Ryuk)."""
    names = [image()] if testcontainers_config.ryuk_disabled else [image(), testcontainers_config.ryuk_image]
    with docker(pull_seconds) as client:
        return all(is_there(client, name) for name in names)


def is_there(client: DockerClient, name: str) -> bool:
    try:
        client.client.images.get(name)
    except Exception:  # noqa: BLE001 - not found, by whatever type
        try:
            client.client.images.pull(name)
        except Exception:  # noqa: BLE001
            return False
    return True


@contextmanager
def docker(seconds: int) -> Iterator[DockerClient]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = DockerClient(timeout=seconds)
        try:
            yield client
        finally:
            client.client.close()


class Container:
    """Runs a broker in a container; its ports are the same on both sides, so that it comes back to them."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._container: DockerContainer | None = None

    def __str__(self) -> str:
        return f"a container of {image()}"

    def start(self) -> None:
        """Start the container without waiting for the broker; the first time it is made."""
        if self._container is None:
            self._container = self._make()
            self._container.start()
        else:
            self._container.get_wrapped_container().start()

    def stop(self, *, kill: bool = False) -> None:
        """Stop the container, by SIGTERM or at once by SIGKILL; its data stay in it."""
        if self._container is not None:
            wrapped = self._container.get_wrapped_container()
            wrapped.stop(timeout=0 if kill else 20)

    def remove(self) -> None:
        """Stop and remove the container; its log stays in the folder."""
        if self._container is not None:
            (self.folder / "broker.log").write_text(self.log())
            self._container.stop()
            self._container = None

    def alive(self) -> bool:
        if self._container is None:
            return False
        self._container.reload()
        return self._container.status == "running"

    def log(self) -> str:
        if self._container is None:
            return ""
        return b"".join(self._container.get_logs()).decode(errors="replace")

    def _make(self) -> DockerContainer:
        settings, ports = self.settings, self.settings.ports
        properties = settings.properties(bind="0.0.0.0", config=CONFIG, data="/tmp/data")
        run = (
            shlex.join(settings.format_command(libs=LIBS, config=CONFIG))
            + " && exec "
            + shlex.join(settings.server_command(libs=LIBS, config=CONFIG))
        )
        container = DockerContainer(image(), entrypoint=["sh", "-c"]).with_command([run])
        for port in (ports.plaintext, ports.ssl, ports.sasl_ssl):
            container.with_bind_ports(port, port)
        container.with_copy_into_container(properties.encode(), f"{CONFIG}/server.properties")
        for name in ("broker.pem", "ca.pem"):
            container.with_copy_into_container(self.folder / name, f"{CONFIG}/{name}")
        return container
