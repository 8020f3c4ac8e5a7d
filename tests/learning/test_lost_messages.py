"""The broker is killed while a machine's page is open: the page requests the lost changes."""

from typing import Any

import pytest
from channels.db import database_sync_to_async

from beadbox.rules.outcome import Side
from games.transport import broadcaster
from games.transport.broadcaster import Broadcaster, broadcaster_close
from learning import consumers
from tests.factories import guest, house_machines, play_out, room
from tests.outage import Outage
from tests.sockets import RunSocket

in_db = database_sync_to_async


@pytest.mark.soak
async def test_a_page_notices_that_the_broker_lost_the_last_lesson(
    outage: Outage, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = settings.CHANNEL_LAYERS["default"]
    layer_with_broker = {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [{"address": outage.redis_url}]}}
    settings.CHANNEL_LAYERS, settings.REDIS_URL = {"default": layer_with_broker}, outage.redis_url
    monkeypatch.setattr(consumers, "MISSED_AFTER_S", 0.0)
    monkeypatch.setattr(broadcaster, "CLOSE_WITHIN_S", 1e6)
    learner = (await in_db(house_machines)())[Side.SECOND]
    path = f"/api/machines/{learner.pk}/ws"
    async with RunSocket(path) as page:
        assert await page.expect("joined") == {"lesson": 0}
        await in_db(play_match)()
        while (await page.expect("boxes"))["lesson"] < 1:
            pass
        outage.kill_broker()
        await in_db(play_match)()
        await broadcaster_close()  # after an attempt to send
        outage.start_broker()
        await page.send_json_to({"type": "ping"})
        await page.expect("pong")
        assert (await page.receive_output())["code"] == 1011
    Broadcaster.current = None
    async with RunSocket(path) as second_page:
        assert await second_page.expect("joined") == {"lesson": 2}
        await in_db(play_match)()
        while (await second_page.expect("boxes"))["lesson"] < 3:
            pass


def play_match() -> None:
    """Play a match that teaches the house's MENACE."""
    play_out(room("menace").room.code, guest())
