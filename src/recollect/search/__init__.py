"""Search: an engine finds some hundred candidates by words and by meaning, one scorer of ours ranks them.

`index` keeps the words in step with the rows, inside the same transaction. `find` asks the database for candidates;
`fusion` (pure) ranks them; `embed` and `vectors` add meaning where the extra `semantic` is installed. `tokens` and
`times` are what both sides agree on: one tokenizer and one reading of dates, whatever the database.
"""
