"""The results of a class: a page for the class, and a table and sheets of paper for its teacher."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.accounts.principal import Principal
from games.exceptions import PlayError
from games.live.game_view import game_view
from games.transport.error_responses import not_found_response, refusal_response
from learning.kinds.class_results import final_view, result_rows, result_sheets
from learning.selectors.classrooms import classroom_for_viewer, classroom_of, results_of
from learning.views.classrooms import teacher_required
from learning.views.tables import csv_download


@never_cache
@require_safe
def class_results(request: HttpRequest, classroom_id: int) -> HttpResponse:
    """Show the final to a class: the places, and a typical match move by move."""
    viewer = Principal.of(request.user)
    try:
        classroom, pupil = classroom_for_viewer(viewer, classroom_id)
        final = results_of(classroom)
    except PlayError as error:
        return not_found_response(request, error)
    context = {
        "classroom": classroom,
        "final": final,
        "final_view": final_view(classroom, final),
        "game": {"layout": game_view(classroom.game_rules)["layout"]},
        "own": None if pupil is None else pupil.number,
        "is_teacher": viewer.user_id == classroom.teacher_id,
    }
    return render(request, "classes/results.html", context)


@teacher_required
@never_cache
@require_safe
def results_csv(request: HttpRequest, classroom_id: int) -> HttpResponse:
    """Send the results of a class as a table."""
    try:
        classroom = classroom_of(request.user, classroom_id)
        rows = result_rows(classroom, results_of(classroom))
    except PlayError as error:
        return refusal_response(request, error, "classes")
    return csv_download(f"class-{classroom.pk}-results.csv", rows)


@teacher_required
@never_cache
@require_safe
def results_pdf(request: HttpRequest, classroom_id: int) -> HttpResponseBase:
    """Send a sheet of paper for each pupil of a class, as PDF."""
    try:
        classroom = classroom_of(request.user, classroom_id)
        sheets = result_sheets(classroom, results_of(classroom))
    except PlayError as error:
        return refusal_response(request, error, "classes")
    return FileResponse(
        sheets, as_attachment=True, content_type="application/pdf", filename=f"class-{classroom.pk}-results.pdf"
    )
