"""Pages that take a machine out of the site, on paper, and bring one in from a file."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from games.answers import not_found
from games.exceptions import PlayError
from games.views import starting
from learning.access import machine_for
from learning.core.exchange.registry import FORMATS
from learning.forms.exchange import ImportForm, PrintForm
from learning.kinds.machines import import_notes, machine_sheets
from learning.models import Machine
from learning.services import machines as services

CHOOSE = f"choose one under “{ImportForm.base_fields['preset'].label}”"
"""How another rule is had here."""


@require_GET
def print_page(request: HttpRequest, machine_id: int) -> HttpResponseBase:
    """Choose paper and size; with them chosen, the sheets themselves."""
    try:
        machine = machine_for(request.user, machine_id)
        machine.box_rule  # noqa: B018  # whoever has no boxes is refused
    except PlayError as error:
        return not_found(request, error)
    form = PrintForm(request.GET if "paper" in request.GET else None)
    if not form.is_bound:
        return _print_form(request, machine, form)
    if form.is_valid():
        try:
            sheets = machine_sheets(machine, form.options())
        except PlayError as error:
            form.add_error(None, str(error))
        else:
            return FileResponse(
                sheets, as_attachment=True, content_type="application/pdf", filename=f"{machine.slug}-boxes.pdf"
            )
    return _print_form(request, machine, form, status=400)


@login_required
@require_http_methods(["GET", "POST"])
@starting
def import_page(request: HttpRequest) -> HttpResponse:
    """Bring a machine in from a file; a file that cannot be read is told where it is wrong."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            imported = services.machine_import(user=request.user, **form.wanted())
        except PlayError as error:
            form.add_error("file", str(error))
        else:
            messages.success(request, f"{imported.machine.name} is here.")
            for note in import_notes(imported.machine, imported.data, CHOOSE):
                messages.info(request, note)
            return redirect(imported.machine)
    status = 400 if form.is_bound else 200
    return render(request, "learning/import.html", {"form": form, "formats": FORMATS.values()}, status=status)


def _print_form(request: HttpRequest, machine: Machine, form: PrintForm, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "machine": {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url()},
        "form": form,
        "formats": FORMATS.values(),
    }
    return render(request, "learning/print.html", context, status=status)
