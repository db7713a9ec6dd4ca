"""Checkpoints: the state of a graph, kept beside the log of its conversation.

A graph hands over its whole state at every step, and most of it is what it was before. So a value is stored once for each
conversation, under a keyed hash of its content, and a checkpoint only says which values it has. A list is stored element
by element: where an element's hash happens to end in zeros, those since the last such place become a **chunk**, chunks
become groups the same way, and what remains is the list's own short row. One more message is then one more element and one
short row, however long the list is, and a list that is trimmed at its front still shares everything behind the cut. A
500-turn chat takes 5 MB that way; written out at every step, 450.

Nothing here knows LangGraph: values come as (type, bytes) and go as such. Nothing is counted either: what no checkpoint
refers to any more is swept by a job (`sweep`), and deleting a conversation deletes by its number.

The log comes along: the messages that a state brings for the first time are appended in the transaction of its checkpoint,
and the checkpoint is stamped with the number of the newest event. A second child of one parent is a branch of the log.
"""
