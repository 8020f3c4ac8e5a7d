"""``python -m beadbox`` is the command ``beadbox``."""

import sys

from beadbox.public.command import main

sys.exit(main())
