"""Compares API responses with the OpenAPI schema."""

from typing import Any

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}


def differences(value: Any, schema: dict[str, Any], components: dict[str, Any], path: str) -> list[str]:
    """Return the differences between a value and a schema as texts. ``components`` has the schema's named parts."""
    while "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        differences_by_option = [differences(value, option, components, path) for option in schema["oneOf"]]
        return (
            []
            if [] in differences_by_option or (value is None and schema.get("nullable"))
            else differences_by_option[0]
        )
    if "allOf" in schema:
        if value is None and schema.get("nullable"):
            return []
        return [text for part in schema["allOf"] for text in differences(value, part, components, path)]
    if value is None:
        return [] if schema.get("nullable") or "type" not in schema else [f"{path} is null"]
    if not isinstance(value, TYPES.get(schema.get("type", ""), object)):
        return [f"{path} is no {schema['type']}: {value!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path} is none of {schema['enum']}: {value!r}"]
    if isinstance(value, list):
        return [text for item in value[:20] for text in differences(item, schema["items"], components, f"{path}[]")]
    fields = schema.get("properties")
    if not isinstance(value, dict) or fields is None:
        return []
    unknown_or_missing = [
        f"{path}.{name}" for name in ({*value} - {*fields}) | ({*schema.get("required", ())} - {*value})
    ]
    return unknown_or_missing + [
        text
        for name in value.keys() & fields.keys()
        for text in differences(value[name], fields[name], components, f"{path}.{name}")
    ]
