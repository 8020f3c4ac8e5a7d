"""How static files are stored: compressed, named by their content, and kept by browsers for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise has no types
    """Also rewrites the imports between JavaScript modules, so that those are kept for ever too."""

    support_js_module_import_aggregation = True
