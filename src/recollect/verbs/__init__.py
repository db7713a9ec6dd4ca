"""The verbs of a store, in rooms by noun; `Store` is all of them together.

A verb checks what it was given in the caller's thread, then runs one function of the module named after its noun, in one
transaction. What every verb stands on is in `handle`, how arguments are read in `arguments`. A room inherits from the
rooms whose verbs it calls, so each can be read with the one above it in mind and no other.
"""
