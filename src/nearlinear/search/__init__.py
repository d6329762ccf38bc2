"""The front door: which model, inside which budget."""
