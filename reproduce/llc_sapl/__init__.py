"""Mao, Fu, Wu, Hu: Optimizing Locally Linear Classifiers with Supervised Anchor Point Learning."""
