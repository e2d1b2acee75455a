"""One broker's settings: server.properties and the two commands, the same in a process and in a container."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support.ports import free_ports

CLUSTER_ID = "cmFua2luZy1tb25pdG9yMQ"
HEAP = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

TEMPLATE = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://{bind}:{plaintext},SSL://{bind}:{ssl},SASL_SSL://{bind}:{sasl_ssl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plaintext},SSL://127.0.0.1:{ssl},SASL_SSL://127.0.0.1:{sasl_ssl}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}

ssl.keystore.type=PEM
ssl.keystore.location={config}/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location={config}/ca.pem
listener.name.ssl.ssl.client.auth=required
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config={login}.plain.PlainLoginModule required {user};
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config={login}.scram.ScramLoginModule required;
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config={login}.scram.ScramLoginModule required;

# One node holds everything.
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1

# Tests do not wait: a killed broker is let in again soon, groups form at once, short sessions are allowed,
# compaction runs when a topic asks for it.
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
log.cleaner.backoff.ms=500
log.cleaner.dedupe.buffer.size=8388608

# Event times of any age: nothing is deleted because it is old or refused because it is ahead.
log.retention.ms=-1
log.message.timestamp.after.max.ms=9223372036854775807

# A missing topic stays missing.
auto.create.topics.enable=false
"""


@dataclass(frozen=True, slots=True)
class Ports:
    """A port for each listener, the same inside a container and outside."""

    plaintext: int
    ssl: int
    sasl_ssl: int
    controller: int


def new_ports() -> Ports:
    """Pick four free ports."""
    return Ports(*free_ports(4))


@dataclass(frozen=True, slots=True)
class Settings:
    """What differs between two brokers."""

    ports: Ports = field(default_factory=new_ports)
    username: str = "monitor"
    password: str = "correct-horse-battery"
    more: Mapping[str, str] = field(default_factory=dict)
    """Properties that only this broker has; they win over the template's."""

    def properties(self, *, bind: str, config: str, data: str) -> str:
        """Write server.properties for a broker whose files lie in `config` and whose log goes to `data`."""
        text = TEMPLATE.format(
            bind=bind,
            config=config,
            data=data,
            login="org.apache.kafka.common.security",
            user=f'user_{self.username}="{self.password}"',
            plaintext=self.ports.plaintext,
            ssl=self.ports.ssl,
            sasl_ssl=self.ports.sasl_ssl,
            controller=self.ports.controller,
        )
        return text + "".join(f"{name}={value}\n" for name, value in self.more.items())

    def format_command(self, *, libs: str, config: str) -> list[str]:
        """Prepare the log folder, with the SCRAM user; does nothing the second time."""
        user = f"[name={self.username},password={self.password}]"
        scram = [f"--add-scram=SCRAM-SHA-{bits}={user}" for bits in (256, 512)]
        return [
            *java(libs, "kafka.tools.StorageTool"),
            *("format", "--ignore-formatted", "-t", CLUSTER_ID, "-c", f"{config}/server.properties"),
            *scram,
        ]

    def server_command(self, *, libs: str, config: str) -> list[str]:
        """Run the broker."""
        return [*java(libs, "kafka.Kafka"), f"{config}/server.properties"]


def java(libs: str, main: str) -> list[str]:
    return ["java", *HEAP, "-cp", f"{libs}/*", main]
