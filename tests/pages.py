"""The JSON blocks that pages carry for their scripts."""

import json
import re
from typing import Any


def page_json(response: Any, block: str) -> Any:
    found = re.search(rf'<script id="{block}" type="application/json">(.*?)</script>', response.content.decode())
    assert found, f"no block {block!r}"
    return json.loads(found[1])
