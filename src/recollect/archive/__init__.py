"""Archives: everything a user has, or a part of it, as lines of JSON that need no database to be read.

`write` makes one, `read` brings one in, `lines` says what may stand on a line, `markdown` is for people. An archive is the
history in the order in which it happened, because that order has a meaning (a memory as it stood at an event); only what is
known beforehand (conversations, branches) stands at its beginning and what refers to all of it (graph state) at its end.

An archive holds what was said and learned, never what can be made anew from that: no index, no embedding, no job.
"""

from __future__ import annotations

NAME = "recollect"
"""The format, as the first line says it."""
VERSION = 2
"""Of the format. A reader takes this one and those before; a change that an older reader would misread makes it larger."""
