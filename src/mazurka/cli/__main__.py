"""`python -m mazurka.cli`."""

import sys

from mazurka.cli import main

sys.exit(main())
