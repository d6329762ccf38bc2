"""Gaussians with slopes: one convex problem in every cell.

Modules
-------
bumps     Gaussians around landmarks and their derivatives.
division  Rows divided into cells.
newton    The best function of some Gaussians and their derivatives, by Newton's method.
"""
