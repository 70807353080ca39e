"""The benchmarks: ``python -m bench`` from the root of the project.

The files, in the order in which they build on one another::

    documents.py    the texts, and how they are cut into fragments
    timing.py       one job -> one reading; several jobs in turn -> the best reading of each
    rows.py         what a row of the table is: some work, and the contenders that do it
    peers.py        how each other library is called, and what it leaves out
    doubling.py     time(2n) / time(n): is it linear?
    rows_events.py  the rows about events
    rows_values.py  the rows about values
    rows_snapshots.py  the rows about snapshots
    rows_typed.py   the rows about typed values
    rows_messages.py  the rows about messages
    goals.py        what each row has to reach
    pure.py         the uncompiled build, in a child process that takes its turn among the others
    race.py         runs a row
    machine.py      where it ran, with which versions
    report.py       the table, results.json, docs/benchmarks.md
    plot.py         results.svg
"""
