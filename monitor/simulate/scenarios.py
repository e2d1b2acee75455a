"""What happens in the world while it is watched."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A story; `deploy_at` is when the candidate's encoder breaks, in seconds after the start."""

    name: str
    doc: str
    deploy_at: float | None = None


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(name="steady", doc="Both variants search equally well, all the time."),
        Scenario(
            name="bad-deploy",
            doc="The variants are equal until a deploy breaks the candidate's query encoder; control stays.",
            deploy_at=600.0,
        ),
    )
}
