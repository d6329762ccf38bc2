"""Local linear models along the paths of a tree.

Modules
-------
adam      Splits, slopes and weights of a tree learned together by mini-batch Adam.
model     A tree in training: all its parameters, in the coordinates of scaled rows.
original  The original schedule of LDKL: mini-batches of √n rows and splits that harden with time.
paths     Scores and slopes along hard paths: the splits stay, each row touches depth + 1 nodes.
phases    The two phases of training a tree: soft splits that sharpen, then hard paths.
pruning   Which nodes of a tree may go: those whose weights, and those of all below them, are short.
soft      Slopes of the loss in all parameters of a soft tree, in matrix products.
start     Where a tree starts: splits from the data, top down, so that every node has rows.
"""
