"""Runs conformance suites on the model. The program beside this folder is `conformance`.

Modules, lowest first: `tables` has the statuses and the file formats. `process` runs a program with
a watchdog. `suites` has the suites. `build` builds them. `choose` chooses the cases of a run. `engine` runs them.
`report` merges results. `command` is the command line. `selftest` tests all of this with fake
suites.
"""


class Problem(Exception):
    """An error that the user can repair. The text says what is wrong and what to do."""
