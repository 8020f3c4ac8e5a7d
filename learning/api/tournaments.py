"""Tournaments: start them, follow their progress, and cancel them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games.accounts.principal import Principal
from games.accounts.throttles import WriteThrottle
from games.live.api import PollingView
from games.live.serializers import parse_data, refusal_responses
from learning.exceptions import MachineNotFoundError, TournamentQuotaError
from learning.filters import TournamentFilter
from learning.models import Tournament
from learning.selectors.tournaments import tournament_brief, tournament_for, tournament_view, tournaments_visible
from learning.serializers.tournaments import TournamentDetailSerializer, TournamentSerializer, TournamentStartSerializer
from learning.services import tournaments as services_tournaments


class TournamentListView(GenericAPIView[Tournament]):
    """The tournaments that the account may see."""

    serializer_class = TournamentSerializer
    filterset_class = TournamentFilter
    queryset = Tournament.objects.none()
    throttle_classes = [*APIView.throttle_classes, WriteThrottle]

    def get_queryset(self) -> QuerySet[Tournament]:
        """Return the visible tournaments, newest first."""
        return tournaments_visible(self.request.user)

    @extend_schema(operation_id="tournaments_list", responses={200: TournamentSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return a page of tournaments, newest first, without their standings."""
        page: Any = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response([tournament_brief(tournament) for tournament in page])

    @extend_schema(
        request=TournamentStartSerializer,
        responses={201: TournamentDetailSerializer, **refusal_responses(MachineNotFoundError, TournamentQuotaError)},
    )
    def post(self, request: Request) -> Response:
        """Start a tournament, which is played in the background."""
        data = parse_data(TournamentStartSerializer, request.data)
        tournament = services_tournaments.tournament_start(user=request.user, **data)
        return Response(tournament_view(tournament, Principal.of(request.user)), status=201)


class TournamentView(PollingView):
    """A single tournament, by its id."""

    @extend_schema(responses={200: TournamentDetailSerializer})
    def get(self, request: Request, tournament_id: int) -> Response:
        """Return the current standings, crosstable, ratings and pairings."""
        return Response(tournament_view(tournament_for(request.user, int(tournament_id)), Principal.of(request.user)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, tournament_id: int) -> Response:
        """Delete the tournament with its results."""
        services_tournaments.tournament_delete(user=request.user, tournament_id=int(tournament_id))
        return Response(status=204)


class TournamentCancelView(APIView):
    """Cancellation of a tournament."""

    @extend_schema(request=None, responses={200: TournamentDetailSerializer})
    def post(self, request: Request, tournament_id: int) -> Response:
        """Stop the tournament. The games already played are kept; a finished tournament does not change."""
        tournament = services_tournaments.tournament_cancel(user=request.user, tournament_id=int(tournament_id))
        return Response(tournament_view(tournament, Principal.of(request.user)))
