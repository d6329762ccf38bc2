"""Whether the numbers of a target are classes or values."""

from ...tables.target import holds_values as holds_values

RULE = """\
A target of text is one of classes. Numbers are values, and learned by a regressor, if any has a
fraction, or if there are more than 20 different ones (or more than a third of the rows) and some
stand in fewer than 10 rows. Two whole numbers are always classes. --method decides otherwise."""
