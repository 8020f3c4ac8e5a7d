"""Addresses of pages that join games and learning."""

from django.urls import path

from learning.views import pages

urlpatterns = [
    path("", pages.lobby, name="lobby"),
    path("account", pages.account, name="account"),
    path("machines/<int:machine_id>", pages.machine_page, name="machine"),
    path("machines/<int:machine_id>/boxes/<str:position>", pages.box_page, name="box"),
]
