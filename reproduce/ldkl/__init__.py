"""Jose, Goyal, Aggrwal, Varma, "Local Deep Kernel Learning", ICML 2013."""
