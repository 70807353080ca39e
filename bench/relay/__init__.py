"""The benchmarks of the relay: ``make bench-relay``, beside npm's ``resumable-stream`` on the same Redis.

The files, in the order in which they build on one another::

    parts.py        the processes of both sides, how they are started, and what they are asked
    ours.py         a process of unspool: it writes, follows, or joins
    resumable.mjs   the same for resumable-stream
    loads.py        live latency, writer cost, late joins and resumes
    faults.py       what is lost, doubled or stuck after a fault
    __main__.py     runs everything, prints the tables, and writes docs/relay-benchmarks.md

Every figure of a table comes from one run. Times are those of the monotonic clock, which all processes share.
"""
