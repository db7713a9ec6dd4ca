"""A page of the application; see `recollect.ui.search`."""

from recollect.ui.search import page

page()
