"""`python -m tilescope` is the command `tilescope`."""

from ._command import main

main()
