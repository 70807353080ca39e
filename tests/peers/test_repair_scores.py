"""The scores of repair on docs/repair.md: unspool, json_repair and jsonrepair on the same texts, in the same run.

`python -m tests.support.repair_scores` writes the tables. A peer that cannot run here skips its tests by name.
"""

from __future__ import annotations

import pytest

from tests.support.page_tables import table_in
from tests.support.repair_scores import (
    CLOSING,
    ISSUES,
    MUTATIONS,
    NEVER_WORSE_BUT,
    OURS,
    PAGE,
    PEERS,
    Answer,
    by_group,
    cases,
    counted,
    data_folder,
    issue_answers,
    issues_table,
    mutation_answers,
    mutations_table,
    our_answer,
    peer_version,
)

pytestmark = pytest.mark.skipif(data_folder() is None, reason="shared data is not here")


def test_mutations_are_read_as_they_were_meant() -> None:
    """At least 97 % of the mutations are right, and no result is wrong without a guess in the log."""
    _check_mutations(mutation_answers(OURS))


def test_mutations_inside_other_text() -> None:
    """The same holds if all of them are read with `extract=True`, which looks for the beginning of the JSON."""
    _check_mutations([our_answer(case, extract=True) for case in cases("mutations")])


def _check_mutations(answers: list[Answer]) -> None:
    assert len(answers) >= 3900
    assert counted(answers)["right"] >= 0.97 * len(answers)
    silent = [
        (case.group, case.text)
        for case, answer in zip(cases("mutations"), answers, strict=True)
        if answer.verdict == "wrong" and not answer.has_guess
    ]
    assert silent == []


def test_reported_inputs_are_read_as_they_were_meant() -> None:
    """At least 85 % of the inputs that people reported are right, with text that was cut off closed."""
    answers = issue_answers(CLOSING)
    assert len(answers) >= 30
    assert counted(answers)["right"] >= 0.85 * len(answers)
    assert counted(issue_answers(OURS))["wrong"] <= counted(answers)["wrong"]


@pytest.mark.parametrize("peer", PEERS)
def test_never_worse_than_a_peer(peer: str) -> None:
    """In no class of mutation is a peer better, but for those that the page explains."""
    if peer_version(peer) is None:
        pytest.skip(f"{peer} cannot run here")
    ours, theirs = by_group(OURS), by_group(peer)
    better = {group for group in ours if counted(theirs[group])["right"] > counted(ours[group])["right"]}
    assert better <= set(NEVER_WORSE_BUT)
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert all(reason in text for reason in NEVER_WORSE_BUT.values())


def test_the_page_says_what_was_measured() -> None:
    """The tables on the page are those of this run; without all peers, the columns of those that run."""
    if any(peer_version(peer) is None for peer in PEERS):
        pytest.skip("not all peers can run here")
    assert table_in(PAGE, MUTATIONS) == mutations_table()
    assert table_in(PAGE, ISSUES) == issues_table()
