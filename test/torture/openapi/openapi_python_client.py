"""Made by openapi-python-client: reads, acts, and bears a refusal. Prints what it saw as JSON."""
import json
import sys

from rigbridge_client import AuthenticatedClient
from rigbridge_client.api.groups import add_group, delete_group
from rigbridge_client.api.miners import get_history, get_miner, list_miners, miner_action
from rigbridge_client.models import GroupBody, MinerActionAction

url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key, auth_header_name="X-API-Key", prefix="")
ids = [miner.id for group in list_miners.sync(client=client).group_list for miner in group.miner_list]
miner = get_miner.sync(ids[0], client=client)
action = miner_action.sync(ids[0], client=client, action=MinerActionAction.SET, property_="fan", value="60")
history = get_history.sync(ids[0], client=client)
group = add_group.sync(client=client, body=GroupBody(name="made by a client"))
removed = delete_group.sync(group.id, client=client)
refused = get_miner.sync(999, client=client)
print(json.dumps({
    "ids": ids,
    "model": miner.readings.hashrate > 0 and miner.name,
    "controls": [str(control.key) for control in miner.controls],
    "action": action.success,
    "step": history.step,
    "group": group.name,
    "removed": removed.success,
    "refused": [refused.status, refused.code],
}))
