"""The benchmarks of the relay: ``make bench-relay``, beside its peers on the same Redis.

The files, in the order in which they build on one another::

    parts.py           the sides, their processes, how they are started, and what they are asked
    process.py         what the processes of Python share
    ours.py            a process of unspool: it writes, follows, or joins
    bridge.py          the same for a plain bridge, as applications write them by hand
    openai_resume.py   openai-python, which resumes a response from a loopback server
    roles.mjs          what the processes of Node share: their roles, which are those of ours.py
    resumable.mjs      resumable-stream
    assistant.mjs      assistant-stream
    durable.mjs        durable-streams
    redis.py           the servers of a run
    loads.py           live latency, and the cost of a writer
    joins.py           late joins and resumes
    costs.py           what a stream and its followers cost Redis
    faults.py          what is lost, doubled or stuck after a fault
    tables.py          a table of each of them
    __main__.py        runs everything, prints the tables, and writes docs/relay-benchmarks.md

Every figure of a table comes from one run. Times are those of the monotonic clock, which all processes share.
"""
