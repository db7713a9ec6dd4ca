"""A page of the application; see `recollect.ui.chat`."""

from recollect.ui.chat import page

page()
