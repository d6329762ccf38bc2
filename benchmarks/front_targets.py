"""What was asked of the front, what was measured, and where we lose."""
def results_of(rows):
    return []
