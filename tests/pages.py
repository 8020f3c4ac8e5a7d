"""Reads the JSON blocks that pages contain for their scripts."""

import json
import re
from typing import Any


def page_json(response: Any, block: str) -> Any:
    element = re.search(rf'<script id="{block}" type="application/json">(.*?)</script>', response.content.decode())
    assert element, f"the page has no block {block!r}"
    return json.loads(element[1])
