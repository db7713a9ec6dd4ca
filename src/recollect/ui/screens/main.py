"""What Streamlit runs; see `recollect.ui.frame`."""

from recollect.ui.frame import run

run()
