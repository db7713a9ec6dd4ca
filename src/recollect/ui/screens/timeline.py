"""A page of the application; see `recollect.ui.timeline`."""

from recollect.ui.timeline import page

page()
