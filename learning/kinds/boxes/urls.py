"""Addresses of the boxes of a machine: pages, and the API."""

from django.urls import path, re_path

from learning.kinds.boxes import api, views

urlpatterns = [
    path("machines/<int:machine_id>/boxes/<str:position>", views.box_page, name="box"),
    path("machines/<int:machine_id>/boxes", views.gallery, name="gallery"),
    path("machines/<int:machine_id>/boxes-at/<int:number>", views.boxes_at, name="boxes_at"),
    path("machines/<int:machine_id>/why", views.why, name="why"),
    path("machines/<int:machine_id>/drawings", views.drawings, name="drawings"),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/boxes/?$", api.BoxListView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/boxes/(?P<position>[^/]+)/?$", api.BoxView.as_view()),
]
