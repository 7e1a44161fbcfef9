"""`python -m alpha` is the command `alpha`."""

import sys

from alpha.cli.main import main

sys.exit(main())
