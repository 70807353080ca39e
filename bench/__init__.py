"""The benchmarks: ``python -m bench`` from the root of the project.

The files, in the order in which they build on one another::

    documents.py    the texts, and the ways to cut them into fragments
    timing.py       one job -> one reading; several jobs in turn -> the best reading of each
    rows.py         a row of the table: some work, and the contenders that do it
    peers.py        the calls of the other libraries, and their limitations
    floor.py        the least that a value after each fragment can cost
    doubling.py     time(2n) / time(n): is it linear?
    rows_events.py  the rows about events
    rows_values.py  the rows about values
    rows_repair.py  the rows about repair
    rows_snapshots.py  the rows about snapshots
    rows_typed.py   the rows about typed values
    rows_messages.py  the rows about messages
    rows_encoders.py  the rows about encoders
    goals.py        the goal of each row
    pure.py         the uncompiled build, in a child process that takes its turn among the others
    race.py         runs a row
    machine.py      the processor and the versions
    report.py       the table, results.json, docs/benchmarks.md; build_tools/pictures draws the plots

The folder ``relay`` has the benchmarks of the relay, a command of its own.
"""
