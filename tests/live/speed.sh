#!/bin/sh
# Compares the speed of the model with software drivers: see speed.py --help.
exec python3 "$(dirname "$0")/speed.py" "$@"
