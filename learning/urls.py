"""URLs of the pages and the API of the learning app."""

from django.urls import path, re_path

from learning.api import ai as api_ai
from learning.api import classrooms as api_classrooms
from learning.api import exchange as api_exchange
from learning.api import experiments as api_experiments
from learning.api import learn as api_learn
from learning.api import machines as api_machines
from learning.api import room_advice as api_room_advice
from learning.api import runs as api_runs
from learning.api import schedules as api_schedules
from learning.api import snapshots as api_snapshots
from learning.api import tournaments as api_tournaments
from learning.kinds.boxes import urls as boxes
from learning.views import (
    account,
    advice,
    class_addresses,
    class_results,
    classrooms,
    exchange,
    experiments,
    game_facts,
    lab,
    learn,
    lobby,
    machines,
    play,
    pupils,
    runs,
    schedules,
    sharing,
    tournaments,
    values,
)

# Endpoints that are open to everybody, without log-in and session. The ASGI server answers them before Django's
# middleware (menace_site/server/fast_path.py); under another server they are ordinary URLs.
open_urlpatterns = [
    re_path(r"^api/ai/move/?$", api_ai.AiMoveView.as_view(), name="api-ai-move"),
    re_path(r"^api/ai/evaluate/?$", api_ai.AiEvaluateView.as_view(), name="api-ai-evaluate"),
    re_path(r"^api/ai/health/?$", api_ai.AiHealthView.as_view(), name="api-ai-health"),
]

urlpatterns = [
    *open_urlpatterns,
    path("", lobby.lobby, name="lobby"),
    path("play", lobby.choose, name="choose"),
    path("play/<slug:slug>", play.play_page, name="play"),
    path("play/<slug:slug>/facts", game_facts.facts_page, name="game_facts"),
    path("play/<slug:slug>/facts.json", game_facts.facts_json, name="game_facts_json"),
    path("teach", play.teach, name="teach"),
    path("learn", learn.learn_page, name="learn"),
    path("learn/keep", learn.learn_keep, name="learn_keep"),
    path("learn/save", learn.learn_save, name="learn_save"),
    path("learn/<str:slug>", learn.learn_page, name="learn_game"),
    path("ai", advice.advice, name="advice"),
    path("learnt/<str:slug>", values.learnt_page, name="learnt"),
    path("account", account.account, name="account"),
    path("machines/<int:machine_id>", machines.machine_page, name="machine"),
    path("about/teachers", lab.teachers, name="teachers"),
    # The overview of the lab, and the pages of machines and training runs
    path("lab", lab.lab, name="lab"),
    path("machines", runs.machine_list, name="machines"),
    path("machines/new", machines.machine_new, name="machine_new"),
    path("machines/compare", runs.compare, name="compare"),
    path("machines/compare.csv", runs.compare_csv, name="compare_csv"),
    path("machines/compare.json", runs.compare_json, name="compare_json"),
    path("machines/<int:machine_id>/edit", machines.machine_edit, name="machine_edit"),
    path("machines/<int:machine_id>/set", machines.machine_set, name="machine_set"),
    path("machines/<int:machine_id>/clone", machines.machine_clone, name="machine_clone"),
    path("machines/<int:machine_id>/reset", machines.machine_reset, name="machine_reset"),
    path("machines/<int:machine_id>/share", sharing.machine_share, name="machine_share"),
    path("shared/<str:secret>", sharing.shared, name="shared"),
    path("machines/<int:machine_id>/snapshot", machines.machine_snapshot, name="machine_snapshot"),
    path("machines/<int:machine_id>/delete", machines.machine_delete, name="machine_delete"),
    path("machines/<int:machine_id>/train", runs.run_start, name="run_start"),
    path("machines/<int:machine_id>/train-together", runs.run_together, name="run_together"),
    path("machines/<int:machine_id>/values", values.values_page, name="values"),
    path("runs/<int:run_id>", runs.run_page, name="run"),
    path("runs/<int:run_id>/cancel", runs.run_cancel, name="run_cancel"),
    path("runs/<int:run_id>/curve.csv", runs.run_csv, name="run_csv"),
    path("runs/<int:run_id>/run.json", runs.run_json, name="run_json"),
    re_path(r"^api/rooms/(?P<code>[^/]+)/advice/?$", api_room_advice.RoomAdviceView.as_view(), name="api-room-advice"),
    *boxes.urlpatterns,
    # Printing and exchange
    path("machines/import", exchange.import_page, name="machine_import"),
    path("machines/<int:machine_id>/boxes.csv", exchange.table_csv, name="machine_csv"),
    path("machines/<int:machine_id>/print", exchange.print_page, name="machine_print"),
    # This address precedes those with an id or a slug (``ref``), which would take "import" for a slug.
    re_path(r"^api/machines/import/?$", api_exchange.MachineImportView.as_view(), name="api-machine-import"),
    re_path(
        r"^api/machines/(?P<ref>[-\w]+)/export/?$", api_exchange.MachineExportView.as_view(), name="api-machine-export"
    ),
    re_path(r"^api/classes/(?P<classroom_id>\d{1,18})/table/?$", api_classrooms.ClassTableView.as_view()),
    # The API of machines and training runs
    re_path(r"^api/machines/?$", api_machines.MachineListView.as_view(), name="api-machines"),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/?$", api_machines.MachineView.as_view(), name="api-machine"),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/clone/?$", api_machines.MachineCloneView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/reset/?$", api_machines.MachineResetView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/strength/?$", api_machines.MachineStrengthView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/progress/?$", api_machines.MachineProgressView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/values/(?P<position>[^/]+)/?$", api_machines.ValuesView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/snapshots/?$", api_snapshots.SnapshotListView.as_view()),
    re_path(r"^api/machines/(?P<ref>[-\w]+)/snapshots/choose/?$", api_snapshots.SnapshotChooseView.as_view()),
    re_path(
        r"^api/machines/(?P<ref>[-\w]+)/snapshots/(?P<snapshot_id>\d{1,18})/weights/?$",
        api_snapshots.SnapshotWeightsView.as_view(),
    ),
    re_path(r"^api/training-runs/?$", api_runs.RunListView.as_view(), name="api-runs"),
    re_path(r"^api/training-runs/(?P<run_id>\d{1,18})/?$", api_runs.RunView.as_view(), name="api-run"),
    re_path(r"^api/training-runs/(?P<run_id>\d{1,18})/cancel/?$", api_runs.RunCancelView.as_view()),
    # Schedules
    path("schedules", schedules.schedule_list, name="schedules"),
    path("machines/<int:machine_id>/schedule", schedules.schedule_new, name="schedule_new"),
    path("schedules/<int:schedule_id>", schedules.schedule_page, name="schedule"),
    path("schedules/<int:schedule_id>/pause", schedules.schedule_pause, name="schedule_pause"),
    path("schedules/<int:schedule_id>/delete", schedules.schedule_delete, name="schedule_delete"),
    re_path(r"^api/schedules/?$", api_schedules.ScheduleListView.as_view(), name="api-schedules"),
    re_path(r"^api/schedules/(?P<schedule_id>\d{1,18})/?$", api_schedules.ScheduleView.as_view(), name="api-schedule"),
    # Tournaments
    path("tournaments", tournaments.tournament_list, name="tournaments"),
    path("tournaments/new", tournaments.tournament_new, name="tournament_new"),
    path(
        "tournaments/<int:tournament_id>/entries/<int:number>.json",
        tournaments.tournament_entry,
        name="tournament_entry",
    ),
    path("tournaments/<int:tournament_id>", tournaments.tournament_page, name="tournament"),
    path(
        "tournaments/<int:tournament_id>/standings.csv",
        tournaments.tournament_csv,
        {"table": "standings"},
        name="tournament_standings_csv",
    ),
    path(
        "tournaments/<int:tournament_id>/pairings.csv",
        tournaments.tournament_csv,
        {"table": "pairings"},
        name="tournament_pairings_csv",
    ),
    path("tournaments/<int:tournament_id>/tournament.json", tournaments.tournament_json, name="tournament_json"),
    path("tournaments/<int:tournament_id>/cancel", tournaments.tournament_cancel, name="tournament_cancel"),
    path("tournaments/<int:tournament_id>/delete", tournaments.tournament_delete, name="tournament_delete"),
    re_path(r"^api/tournaments/?$", api_tournaments.TournamentListView.as_view(), name="api-tournaments"),
    re_path(
        r"^api/tournaments/(?P<tournament_id>\d{1,18})/?$",
        api_tournaments.TournamentView.as_view(),
        name="api-tournament",
    ),
    re_path(r"^api/tournaments/(?P<tournament_id>\d{1,18})/cancel/?$", api_tournaments.TournamentCancelView.as_view()),
    # Experiments
    path("experiments", experiments.experiment_list, name="experiments"),
    path("experiments/<slug:slug>", experiments.experiment_page, name="experiment"),
    path("experiments/runs/<int:run_id>/cancel", experiments.experiment_cancel, name="experiment_cancel"),
    path("experiments/runs/<int:run_id>/result.csv", experiments.experiment_csv, name="experiment_csv"),
    path("experiments/runs/<int:run_id>/result.json", experiments.experiment_json, name="experiment_json"),
    re_path(r"^api/experiments/?$", api_experiments.ExperimentListView.as_view(), name="api-experiments"),
    re_path(r"^api/experiment-runs/?$", api_experiments.ExperimentRunListView.as_view(), name="api-experiment-runs"),
    re_path(
        r"^api/experiment-runs/(?P<run_id>\d{1,18})/?$",
        api_experiments.ExperimentRunView.as_view(),
        name="api-experiment-run",
    ),
    re_path(r"^api/experiment-runs/(?P<run_id>\d{1,18})/cancel/?$", api_experiments.ExperimentRunCancelView.as_view()),
    # Classes: addresses under classes/ are for the teacher
    path("classes", classrooms.classroom_list, name="classes"),
    path("classes/new", classrooms.classroom_new, name="classroom_new"),
    path("classes/privacy", classrooms.class_privacy, name="class_privacy"),
    path("classes/help", class_addresses.class_help, name="class_help"),
    path("classes/plans/<int:minutes>", class_addresses.class_plan, name="class_plan"),
    path("classes/<int:classroom_id>/try", classrooms.classroom_trial, name="classroom_trial"),
    path("classes/<int:classroom_id>", classrooms.classroom_page, name="classroom"),
    path("classes/<int:classroom_id>/results", class_results.class_results, name="class_results"),
    path("classes/<int:classroom_id>/results.csv", class_results.results_csv, name="class_results_csv"),
    path("classes/<int:classroom_id>/results.pdf", class_results.results_pdf, name="class_results_pdf"),
    path("classes/<int:classroom_id>/<slug:action>", classrooms.classroom_act, name="classroom_act"),
    path(
        "classes/<int:classroom_id>/pupils/<int:participant_id>/<slug:action>", classrooms.pupil_act, name="pupil_act"
    ),
    # Addresses under class/ are for pupils and for the projector
    path("class", pupils.class_code, name="class_code"),
    path("class/me", pupils.class_me, name="class_me"),
    path("class/play", pupils.class_play, name="class_play"),
    path("class/leave", pupils.class_leave, name="class_leave"),
    path("class/join/<str:secret>", pupils.class_join, name="class_join"),
    path("class/try/<str:secret>", class_addresses.class_try, name="class_try"),
    path("class/screen/<str:secret>", pupils.class_screen, name="class_screen"),
    # Training in the browser
    re_path(r"^api/learn/?$", api_learn.AddressView.as_view(), name="api-learn"),
    re_path(r"^api/learn/graph/?$", api_learn.GraphView.as_view(), name="api-learn-graph"),
    re_path(r"^api/learn/keep/?$", api_learn.KeepView.as_view(), name="api-learn-keep"),
]
