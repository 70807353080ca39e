// The tests of the core on the Python of the playground, in Node: the wheel of the playground, and the tests as they are.
//
//     node core_tests.mjs PLAYGROUND PACKAGES PROJECT TESTS...

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [playground, packages, project, ...tests] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(playground, "pyodide", "pyodide.mjs")));
const env = {
  HOME: "/tmp",
  UNSPOOL_EXPECT: "pure",
  HYPOTHESIS_PROFILE: "brief",
  HYPOTHESIS_STORAGE_DIRECTORY: "/tmp/hypothesis",
};
const python = await loadPyodide({ env });
for (const name of readdirSync(join(playground, "wheels")))
  if (name.startsWith("unspool-"))
    python.unpackArchive(new Uint8Array(readFileSync(join(playground, "wheels", name))), "zip", { extractDir: "/site" });
for (const [from, to] of [[packages, "/packages"], [project, "/project"]]) {
  python.FS.mkdirTree(to);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: from }, to);
}
python.globals.set("tests", python.toPy(tests));
const status = python.runPython(`
import asyncio, functools, os, sys, time

sys.path[:0] = ["/site", "/packages"]
sys.dont_write_bytecode = True
os.chdir("/project")

import pytest

class Loop(asyncio.BaseEventLoop):
    """An event loop that returns when its work is done. Pyodide's own runs later, on the loop of JavaScript.

    There are no sockets and no threads here, so the loop waits only for its timers.
    """

    def __init__(self):
        super().__init__()
        self._selector = self

    def select(self, timeout):
        if timeout is None:
            raise RuntimeError("the loop would wait for ever")
        time.sleep(timeout)
        return ()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

asyncio.run = functools.partial(asyncio.run.__wrapped__, loop_factory=Loop)
asyncio._set_running_loop(None)

LACKING = ("does not support processes", "can't start new thread")

class WithoutProcesses:
    """Skips a test, by name, where it asks for what WebAssembly lacks."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        try:
            return (yield)
        except (OSError, RuntimeError) as error:
            lacking = [words for words in LACKING if words in str(error)]
            if not lacking:
                raise
            pytest.skip(f"WebAssembly: {lacking[0]}")

int(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *tests], plugins=[WithoutProcesses()]))
`);
process.exit(status);
