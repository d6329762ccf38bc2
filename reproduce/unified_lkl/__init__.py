"""Moeller, Swaminathan, Venkatasubramanian, "A Unified View of Localized Kernel Learning", 2016."""
