"""Trees as gates: who is met on the way down.

Modules
-------
balanced    A balanced binary tree of linear splits.
linked      Rows down a tree whose nodes name their children, many rows side by side.
lockstep    Narrow rows down a tree side by side.
node_gates  What a tree's node adds to its linear model: the gate γ_k(x) = I_k(x) c_k(x).
walk        A block of rows down a tree, rows of one node together.
"""
