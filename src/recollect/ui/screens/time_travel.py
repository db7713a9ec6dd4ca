"""A page of the application; see `recollect.ui.travel`."""

from recollect.ui.travel import page

page()
