"""What ``export`` does beside writing.

Modules
-------
checks  What was exported is run on sample rows and held against the model.
"""
