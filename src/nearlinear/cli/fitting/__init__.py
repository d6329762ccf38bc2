"""What ``fit`` does: a search or one method, held-out rows, and what is told of it.

Modules
-------
blocks      ``fit`` of tables that are larger than the memory they may take: in blocks.
budgets     What a model may cost: options that ``fit`` and ``compare`` share.
held_out    Figures of a model on rows that it has not seen, before it is fitted to all.
one_method  One method, as ``fit --method`` takes it: its parameters, and what comes before it.
search      The search as a command runs it: what is seen of it, and what Ctrl-C leaves.
told        What ``fit`` tells of what it has done: to programs, and to people.
"""
