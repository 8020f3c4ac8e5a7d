"""Pages that print a machine, export its boxes as a table, and import a machine from a file."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from beadbox.learners.formats import FORMATS
from games.accounts.forms import refusal_add
from games.accounts.views import account_required
from games.exceptions import PlayError
from games.transport.error_responses import refusal_response
from learning.access import machine_for
from learning.exceptions import ManyBeadsRefusedError
from learning.forms.exchange import ImportForm, PrintForm
from learning.kinds.machines import import_notes, machine_export
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.services import machines as services
from learning.views.tables import csv_download

CHOOSE = f"choose one under “{ImportForm.base_fields['preset'].label}”"
"""The end of the sentence "import the file again and …" in the notes of an import."""


@require_safe
def print_page(request: HttpRequest, machine_id: int) -> HttpResponseBase:
    """Show the choice of paper and size; with a valid choice, send the sheets as PDF."""
    try:
        machine = machine_for(request.user, machine_id, to="export")
        choices = kind_of(machine).files.print_choices(machine)
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    parameters = request.GET if "paper" in request.GET else None
    form = PrintForm(parameters, choices=choices)
    if not form.is_bound:
        return _print_form(request, machine, form)
    if form.is_valid():
        try:
            sheets = kind_of(machine).files.sheets(machine, form.options())
        except ManyBeadsRefusedError as error:
            return _print_form(request, machine, form, many=str(error))
        except PlayError as error:
            refusal_add(form, error)
        else:
            return FileResponse(
                sheets, as_attachment=True, content_type="application/pdf", filename=f"{machine.slug}-boxes.pdf"
            )
    return _print_form(request, machine, form, status=400)


@require_safe
def table_csv(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Send the boxes of a machine as CSV for spreadsheets, with the same content as the export of the API."""
    try:
        file = machine_export(machine_for(request.user, machine_id, to="export"), "csv")
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    return csv_download(file.name, csv.reader(StringIO(file.text)))


@account_required("Log in to import a machine from a file.", "Without an account you can export every public machine.")
@require_http_methods(["GET", "HEAD", "POST"])
def import_page(request: HttpRequest) -> HttpResponse:
    """Import a machine from a file; for an invalid file, show the place of the error."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            imported = services.machine_import(user=request.user, **form.options())
        except PlayError as error:
            form.add_error("file", str(error))
        else:
            messages.success(request, f"{imported.machine.name} was imported.")
            for note in import_notes(imported.machine, imported.data, CHOOSE):
                messages.info(request, note)
            return redirect(imported.machine)
    status = 400 if form.is_bound else 200
    return render(request, "learning/import.html", {"form": form, "formats": FORMATS.values()}, status=status)


def _print_form(
    request: HttpRequest, machine: Machine, form: PrintForm, status: int = 200, many: str = ""
) -> HttpResponse:
    """Render the form; ``many`` is a warning about the number of beads, which the visitor can override."""
    context: dict[str, Any] = {
        "machine": {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url()},
        "form": form,
        "formats": FORMATS.values(),
        "many": many,
        "asked": request.GET.urlencode(),
    }
    return render(request, "learning/print.html", context, status=status)
