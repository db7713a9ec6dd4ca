"""The application in the browser: a chat that remembers, over the verbs of `Store`.

`screens/` holds what Streamlit runs, one short file a page; each calls `page()` of a module here. `state` has what they
share: the one store of the process, whose it is, which conversation is looked at. `frame` puts the pages together,
`look` is how things are drawn. Importing any of it does nothing.
"""
