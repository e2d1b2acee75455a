"""A broker in a Docker container, run by testcontainers."""

import shlex
from pathlib import Path

from testcontainers.core.container import DockerContainer

from tests.support.kafka.docker import image
from tests.support.kafka.settings import Settings

# Where apache/kafka has its jars. Any image with java on the PATH and the jars here will do.
LIBS = "/opt/kafka/libs"
CONFIG = "/tmp/broker"


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
