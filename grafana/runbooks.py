"""Which page says what to do: one for each alert."""

from enum import StrEnum

URL = "docs/runbooks"
"""Where they are, as in the alert rules; `python -m grafana.build --runbooks URL` puts in another address.

A dashboard holds it once, in its variable `runbooks`.
"""


class Runbook(StrEnum):
    """The alerts, by the names of their pages."""

    NDCG = "VectorNDCGRegression"
    NDCG_BUDGET = "VectorNDCGBudgetBurn"
    MRR = "VectorMRRRegression"
    CTR = "VectorCTRRegression"
    ABANDONMENT = "VectorAbandonmentRise"
    EMPTY_RESULTS = "VectorEmptyResultsRise"
    COVERAGE = "VectorJudgedCoverageDrop"
    TRAFFIC = "VectorTrafficDrop"
    DOWN = "RankingMonitorDown"
    NO_EVENTS = "RankingMonitorNoEvents"
    LAG = "RankingMonitorLagGrowing"
    WATERMARK = "RankingMonitorWatermarkStuck"
    REJECTIONS = "RankingMonitorRejectionsHigh"
    EVICTING = "RankingMonitorEvicting"
    COMMITS = "RankingMonitorCommitsStopped"
    SKIPPING = "RankingMonitorSkipping"
    CRASH_LOOP = "RankingMonitorCrashLooping"
    SENDER_AHEAD = "RankingMonitorSenderAhead"
    LATE_IMPRESSIONS = "RankingMonitorLateImpressions"
    CLOCK_SKEW = "RankingMonitorClockSkew"
