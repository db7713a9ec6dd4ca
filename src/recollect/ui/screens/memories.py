"""A page of the application; see `recollect.ui.memories`."""

from recollect.ui.memories import page

page()
