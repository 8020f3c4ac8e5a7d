"""Compares API responses with the OpenAPI schema."""

from typing import Any

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}


def differences(value: Any, schema: dict[str, Any], known: dict[str, Any], where: str) -> list[str]:
    """Return the differences between a value and a schema as texts. ``known`` has the schema's named components."""
    while "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        by_option = [differences(value, option, known, where) for option in schema["oneOf"]]
        return [] if [] in by_option or (value is None and schema.get("nullable")) else by_option[0]
    if "allOf" in schema:
        if value is None and schema.get("nullable"):
            return []
        return [text for part in schema["allOf"] for text in differences(value, part, known, where)]
    if value is None:
        return [] if schema.get("nullable") or "type" not in schema else [f"{where} is null"]
    if not isinstance(value, TYPES.get(schema.get("type", ""), object)):
        return [f"{where} is no {schema['type']}: {value!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where} is none of {schema['enum']}: {value!r}"]
    if isinstance(value, list):
        return [text for item in value[:20] for text in differences(item, schema["items"], known, f"{where}[]")]
    fields = schema.get("properties")
    if not isinstance(value, dict) or fields is None:
        return []
    unknown_or_missing = [
        f"{where}.{name}" for name in ({*value} - {*fields}) | ({*schema.get("required", ())} - {*value})
    ]
    return unknown_or_missing + [
        text
        for name in value.keys() & fields.keys()
        for text in differences(value[name], fields[name], known, f"{where}.{name}")
    ]
