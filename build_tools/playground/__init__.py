"""The playground: the studio as a static folder. Python runs in the browser, in a worker of the page.

`__main__` builds the folder. `bridge` runs in the worker's Python and passes the requests of the page to the studio's
application. `page/` has the JavaScript: the transport that replaces the one of the served studio (`server.js`), the
worker, and the service worker that keeps the files for the next visit.
"""
