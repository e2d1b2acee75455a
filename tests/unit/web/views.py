"""A view of a monitor that is not there, with windows made by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from monitor.config import Config
from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.publish import Scrape
from monitor.stream.windows import Window
from monitor.web.view import Health, Status
from tests.unit.export.snapshots import SMALL, busy_snapshot

STATUS = Status(
    version="1.2.3",
    partitions=3,
    lag=12,
    event_time_age=64.2,
    records=1_204_331,
    rejected=17,
    open_impressions=8_412,
    pending_interactions=96,
    judgments=250_000,
)


WELL = Health(healthy=True, ready=True)


@dataclass
class MadeUpView:
    """Says what it is told to."""

    config: Config = SMALL
    label_sets: Sequence[tuple[str, ...]] = (("control",), ("treatment",))
    closed: list[Window] = field(default_factory=list)
    said: Health = WELL
    status: Status = STATUS

    acknowledged: list[int] = field(default_factory=list)
    was_there: list[bool] = field(default_factory=list)

    async def render(self, accept: str, pack: Callable[[bytes], bytes] = bytes) -> tuple[bytes, str]:
        body, content_type = Exposition().render(busy_snapshot(), ProcessStatus("1.2.3", "c0ffee"), accept)
        return pack(body), content_type

    async def scrape(self, accept: str, pack: Callable[[bytes], bytes], there: Callable[[], bool]) -> Scrape:
        self.was_there.append(there())
        body, content_type = await self.render(accept)
        return Scrape(pack(body), content_type, version=7)

    async def shown(self, accept: str, pack: Callable[[bytes], bytes]) -> tuple[bytes, str]:
        body, content_type = await self.render(accept)
        return pack(b"# what was shown\n" + body), content_type

    async def acknowledge(self, version: int) -> bool:
        self.acknowledged.append(version)
        return True

    def health(self) -> Health:
        return self.said

    def facts(self) -> Status:
        return self.status

    def windows(self) -> Sequence[Window]:
        return self.closed

    @property
    def label_names(self) -> tuple[str, ...]:
        return self.config.labels
