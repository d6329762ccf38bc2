"""Fast students of slow teachers: the teacher's word, rows to learn it from, and a report.

Modules
-------
distill   A slow model's knowledge in a fast one.
fidelity  How near a student comes to its teacher: on held-out rows, in time and in bytes.
lessons   What a student learns from.
new_rows  New rows for a teacher to label: each lies between a row and one of its neighbors.
odds      Candidates that learn log odds of several classes by least squares.
teachers  A teacher's scores.
"""
