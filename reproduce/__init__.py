"""Published tables run again: one folder per paper, shared data and protocol beside them."""
