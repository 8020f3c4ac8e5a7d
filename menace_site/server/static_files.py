"""Storage of static files: compressed, with content hashes in their names, cached by browsers for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise has no types
    """Also rewrites imports between JavaScript modules, so that browsers can cache modules for ever too."""

    support_js_module_import_aggregation = True
