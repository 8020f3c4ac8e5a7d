from django.db import migrations

from games.transport.migration_operations import AlterHelpTexts

HELP_TEXTS = {
    "room.opponent": "Slug of the requested opponent; empty in an exhibition.",
    "room.machine": "Id or slug of the requested machine, if any.",
    "room.takes_over": "The automated player or machine whose seat the person was to take over, if any.",
    "room.first": "In an exhibition: the requested player of the first side.",
    "room.second": "In an exhibition: the requested player of the second side.",
    "room.fresh": "Whether the machines in the room are copies made for it.",
    "room.opened_from": "Keyed hash of the address from which the room was opened; deleted after a day.",
    "room.links": "Ids of the shared links that the room's host had opened.",
    "room.changed_at": "Truncated to the minute.",
    "match.answer_by": "Until this time, one process alone searches for a slow player's next move.",
    "seat.player": "'human', or the slug of an automated player.",
    "seat.takes_over": "Slug of the automated player whose seat a person has taken over.",
    "ply.position": "The position after the move.",
    "apitoken.name": "The purpose of the token.",
    "apitoken.expires_at": "Empty if the token never expires.",
    "addressblock.network": "An address or a network, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/64, or the address hash "
    "of a room (32 characters).",
    "addressblock.reason": "A note for staff. Visitors do not see it.",
}


class Migration(migrations.Migration):
    dependencies = [("games", "0016_match_draw_offered_by")]

    operations = [migrations.SeparateDatabaseAndState(state_operations=[AlterHelpTexts(HELP_TEXTS)])]
