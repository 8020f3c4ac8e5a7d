"""Addresses of pages that join games and learning."""

from django.urls import path

from learning import views

urlpatterns = [
    path("", views.lobby, name="lobby"),
    path("account", views.account, name="account"),
    path("machines/<int:machine_id>", views.machine_page, name="machine"),
    path("machines/<int:machine_id>/boxes/<str:position>", views.box_page, name="box"),
]
