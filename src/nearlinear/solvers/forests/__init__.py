"""The numbers of a forest whose trees are given."""
