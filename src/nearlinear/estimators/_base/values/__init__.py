"""What only machines that learn values have.

Modules
-------
loss_weight  C, found on held-out rows.
units        The unit in which a regression measures its values.
"""
