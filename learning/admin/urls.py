"""URLs of the admin pages without a model: the job queue and the heaviest users."""

from django.contrib import admin
from django.urls import path

from learning.admin.queue import hand_back, queue
from learning.admin.usage import usage

urlpatterns = [
    path("queue/", admin.site.admin_view(queue), name="admin-queue"),
    path("queue/<slug:kind>/<int:job_id>/hand-back/", admin.site.admin_view(hand_back), name="admin-hand-back"),
    path("usage/", admin.site.admin_view(usage), name="admin-usage"),
]
