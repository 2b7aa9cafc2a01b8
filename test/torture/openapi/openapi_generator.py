"""Made by openapi-generator for Python: reads, acts, and bears a refusal. Prints what it saw as JSON."""
import json
import sys

import openapi_client

url, key = sys.argv[1:]
client = openapi_client.ApiClient(openapi_client.Configuration(host=url, api_key={"keyInHeader": key}))
miners, groups = openapi_client.MinersApi(client), openapi_client.GroupsApi(client)
ids = [miner.id for group in miners.list_miners().group_list for miner in group.miner_list]
miner = miners.get_miner(ids[0])
action = miners.miner_action(ids[0], action="set", var_property="fan", value="60")
history = miners.get_history(ids[0])
group = groups.add_group(openapi_client.GroupBody(name="made by a client"))
removed = groups.delete_group(group.id)
try:
    miners.get_miner(999)
    refused = None
except openapi_client.ApiException as error:
    refused = [error.status, json.loads(error.body)["code"]]
print(json.dumps({
    "ids": ids,
    "model": miner.readings.hashrate > 0 and miner.name,
    "controls": [str(control.key) for control in miner.controls],
    "action": action.success,
    "step": history.step,
    "group": group.name,
    "removed": removed.success,
    "refused": refused,
}))
