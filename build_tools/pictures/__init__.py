"""The pictures of the README and the documentation, each made from a real run: ``python -m build_tools.pictures``.

themes.py       the colours of light and dark pages
terminal.py     lines of a terminal as a drawing, still or animated
watching.py     `unspool watch`, animated
profiles.py     `unspool profile` and `unspool profile --compare`
benchmarks.py   the plots, from bench/results.json
layers.py       the layers of the source, and the imports between them
studio.py       screenshots of the studio, in Chromium
gallery.py      all drawings by file name, and whether the files are up to date
"""
