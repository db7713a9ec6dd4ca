"""What Streamlit runs: `main.py` is the application, the others are its pages. Nothing here is imported."""
