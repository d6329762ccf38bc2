"""Whether a release is ready: ``python -m release check`` says yes, or what is missing.

Modules
-------
artifacts     The two files of a release, and what may be in them.
environments  Bare environments with the lowest and the newest versions of what we stand on.
findings      What was looked at, how long it took, and what is missing.
metadata      What other people's checkers say of the files.
smoke         A look at an installed package, by whatever Python it is installed in.
versions      One version everywhere, and candidates before releases.
"""
