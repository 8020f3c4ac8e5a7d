"""Addresses of pages that join games and learning."""

from django.urls import path, re_path

from learning.api import machines as api_machines
from learning.api import runs as api_runs
from learning.views import pages

urlpatterns = [
    path("", pages.lobby, name="lobby"),
    path("account", pages.account, name="account"),
    path("machines/<int:machine_id>", pages.machine_page, name="machine"),
    path("machines/<int:machine_id>/boxes/<str:position>", pages.box_page, name="box"),
    # The API of machines, boxes and training runs
    re_path(r"^api/machines/?$", api_machines.MachineListView.as_view(), name="api-machines"),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/?$", api_machines.MachineView.as_view(), name="api-machine"),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/clone/?$", api_machines.MachineCloneView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/reset/?$", api_machines.MachineResetView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/strength/?$", api_machines.MachineStrengthView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/boxes/?$", api_machines.BoxListView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/boxes/(?P<position>[^/]+)/?$", api_machines.BoxView.as_view()),
    re_path(r"^api/training-runs/?$", api_runs.RunListView.as_view(), name="api-runs"),
    re_path(r"^api/training-runs/(?P<run_id>\d{1,18})/?$", api_runs.RunView.as_view(), name="api-run"),
    re_path(r"^api/training-runs/(?P<run_id>\d{1,18})/cancel/?$", api_runs.RunCancelView.as_view()),
]
