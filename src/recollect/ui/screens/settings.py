"""A page of the application; see `recollect.ui.settings`."""

from recollect.ui.settings import page

page()
