"""The one line that a user gets for a metric that cannot be."""

import pytest

from monitor.metrics import MetricError, UnknownMetric, parse

LIST = "run 'ranking-monitor metrics' for the list"

MESSAGES = {
    "ndgc@10": f'unknown metric "ndgc@10"; did you mean "ndcg@10"? {LIST}',
    "NDCG@10": f'unknown metric "NDCG@10"; did you mean "ndcg@10"? {LIST}',
    "mpa@5": f'unknown metric "mpa@5"; did you mean "map@5"? {LIST}',
    "ndgc(gain=linear)": f'unknown metric "ndgc(gain=linear)"; did you mean "ndcg(gain=linear)"? {LIST}',
    "zzz": f'unknown metric "zzz"; {LIST}',
    "ndcg(gian=linear)@10": 'metric "ndcg(gian=linear)@10": unknown parameter "gian"; did you mean "gain"?'
    " ndcg takes gain, ideal, undefined, unjudged",
    "ndcg(colour=red)": 'metric "ndcg(colour=red)": unknown parameter "colour";'
    " ndcg takes gain, ideal, undefined, unjudged",
    "ctr(gain=linear)@1": 'metric "ctr(gain=linear)@1": ctr takes no parameters; take "gain" out',
    "ndcg(gain=cubic)@10": 'metric "ndcg(gain=cubic)@10": gain must be linear or exponential, not "cubic"',
    "mrr(undefined=one)": 'metric "mrr(undefined=one)": undefined must be zero or skip, not "one"',
    "rbp(p=1)": 'metric "rbp(p=1)": p must be a number at least 0 and below 1, not "1"',
    "rbp(p=nan)": 'metric "rbp(p=nan)": p must be a number at least 0 and below 1, not "nan"',
    "rbp(p=high)": 'metric "rbp(p=high)": p must be a number at least 0 and below 1, not "high"',
    "err@10": 'metric "err@10": max_grade is missing, a number above 0 and at most 1000;'
    ' write "err(max_grade=...)@10"',
    "err(max_grade=0)": 'metric "err(max_grade=0)": max_grade must be a number above 0 and at most 1000,'
    ' not "0"',
    "alpha_ndcg(alpha=-1)": 'metric "alpha_ndcg(alpha=-1)": alpha must be a number at least 0 and at most 1,'
    ' not "-1"',
    "rbp(p=0.5,p=0.6)": 'metric "rbp(p=0.5,p=0.6)": p is given twice; give it once',
    "rbp(0.5)": 'cannot read "0.5" in metric "rbp(0.5)"; write parameter=value',
    "abandonment@10": 'metric "abandonment@10": abandonment takes no k; write "abandonment"',
    "r_precision(undefined=skip)@5": 'metric "r_precision(undefined=skip)@5": r_precision takes no k;'
    ' write "r_precision(undefined=skip)"',
    "position_ctr": 'metric "position_ctr": k is missing, a whole number, 1 or more; write "position_ctr@1"',
    "ndcg@0": 'metric "ndcg@0": k must be a whole number, 1 or more, not "0"',
    "ndcg@-1": 'metric "ndcg@-1": k must be a whole number, 1 or more, not "-1"',
    "ndcg@1.5": 'metric "ndcg@1.5": k must be a whole number, 1 or more, not "1.5"',
    "ndcg@": 'metric "ndcg@": k must be a whole number, 1 or more, not ""',
    "ndcg@９": 'metric "ndcg@９": k must be a whole number, 1 or more, not "９"',
    "": 'cannot read metric ""; write it as name@k or name(parameter=value)@k, say "ndcg@10"',
    "ndcg@10(gain=linear)": 'cannot read metric "ndcg@10(gain=linear)";'
    ' write it as name@k or name(parameter=value)@k, say "ndcg@10"',
    'a\n"b"': r'cannot read metric "a\n\"b\""; write it as name@k or name(parameter=value)@k, say "ndcg@10"',
}


@pytest.mark.parametrize("text", MESSAGES)
def test_a_metric_that_cannot_be_gets_one_clear_line(text):
    with pytest.raises(MetricError) as caught:
        parse(text)
    assert str(caught.value) == MESSAGES[text]


def test_only_an_unknown_name_is_an_unknown_metric():
    with pytest.raises(UnknownMetric):
        parse("ndgc")
    with pytest.raises(MetricError) as caught:
        parse("ndcg@0")
    assert not isinstance(caught.value, UnknownMetric)


def test_a_very_long_text_is_shown_in_part():
    with pytest.raises(MetricError) as caught:
        parse("n" * 10_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "name"),
    {
        "ndcg@10": "ndcg@10",
        " ndcg @ 10 ": "ndcg@10",
        "ndcg@010": "ndcg@10",
        "ndcg()@10": "ndcg@10",
        "hit@5": "success@5",
        "rr": "mrr",
        "recip_rank": "mrr",
        "p@10": "precision@10",
        "rbp(p=0.80)": "rbp",
        "rbp(p=.5)": "rbp(p=0.5)",
        "err(max_grade=4.0)@10": "err(max_grade=4)@10",
        "ndcg(unjudged=condensed, gain=exponential)@3": "ndcg(gain=exponential,unjudged=condensed)@3",
    }.items(),
)
def test_a_measure_has_one_canonical_name(text, name):
    assert parse(text).name == name
