import { problems } from "../contract/problems.ts";

/** How Rigbridge behaves where the API document leaves it open. */
export const description = `\
Rigbridge serves the HTTP API of Awesome Miner (the Mining Management Service API) and extends it. Extensions are marked
with \`(Rigbridge extension)\` and \`x-rigbridge-addition\`; everything else follows the API document. Where that
document is silent, the following applies.

**Authentication.** Send the key as query parameter \`key\` or as header \`X-API-Key\`. If no key is configured, only
clients on the same machine are served. An \`Authorization\` header is ignored. \`user_id\` is a filter: a client with
the service's key may name any user, and an unknown user is answered with 404. A user may have an API key of their own,
which implies their \`user_id\` and covers only what they may see and do: what they cannot see is answered with 404, and
what they may not do with 403.

**Values.** Ids and all values called integer are JSON integers. Display strings use the operator's language, currency
and time zone (\`73.22 TH/s\`, \`59 59 59 °C\`, \`$10.17\`). Programs should read the fields named \`...Value\` and the
\`readings\`: plain numbers in H/s, W, °C, rpm, s and Wh, \`null\` if the rig does not report them. Times named \`...Utc\`
are ISO 8601 with Z; all others are \`yyyy-MM-dd HH:mm:ss\` in local time. \`groupId\` and \`groupID\` are the same, of
which the schemas have the first; 0 means no group. Ids of external miners start at 1000000001, ids of managed miners at 1. Replies may gain fields.

**Miners.** A miner that cannot be reached is \`Disconnected\` and \`isOffline\`, has no devices, and counts in no total
except the number of miners; its last values are never shown as current. Readings are \`stale\` if the miner missed its
last read or has not been read yet. \`Starting\` means that the miner has not answered since the service started,
nor missed three reads (\`hasValidStatus\` is false), that it is starting up, or that it has been silent for no longer
than an accepted restart may take; it does not count as offline. A miner of a site that cannot be reached is \`Starting\` and \`isOffline\`,
without readings, and its \`reason\` names the site. A rig gets its \`uid\` when it is first identified and keeps it; until then,
\`uid\` is null. An active pool id belongs to a URL and worker on that miner and is never reused.

**Rows.** \`GET /api/miners/rows\` (or \`/api/miners?view=list\`) answers with rows for tables, about 300 bytes a miner, and
with a \`version\`. The same request with \`since=\` and that version is answered with what has changed: \`miners\` has the rows whose values differ,
\`removed\` the ids of miners that are gone, that the caller no longer sees or that no longer match the filters. If \`whole\`
is true, the rows are all there are, and replace those that the client has; that is so for a version of another request,
user or run of the service, and for any that is too old. \`GET /api/events/rows\` with the version as \`after\` continues
from that list without a gap; its \`miner\` events carry rows, and none comes for a row that has not changed.

**Actions** are answered once the rig, or the store, has accepted them; \`message\` is the rig's response. 202 with a
\`commandId\` means that the rig has not answered yet; 200 with the state \`sent\` means that it has accepted a restart
and not confirmed it yet. GET /api/commands and \`command\` events report the result: \`done\`, or \`unknown\` if the rig
has not confirmed it within the control's \`seconds\`. A command that waits for its rig is sent within 60 s of the request
or not at all; until it is sent, DELETE /api/commands/{id} cancels it. Actions ignore the request body; all other bodies
must be JSON. Unknown keys of a body are ignored, and the header \`X-Ignored-Keys\` of the answer names them.
\`apply_template\` and \`rule\` run several steps: the message says what the rig took of each, and only if it took all is the
action done; what has only a name answers 409 \`nothing.to.do\`. A save is answered with the stored resource and its id; it
adds one if the id is 0 or absent. What this version does not support yet is answered with 409 \`not.yet\` and does nothing.

**Repeating a write.** Any POST, PUT, PATCH or DELETE of this list may carry \`Idempotency-Key\`: 1 to 255 visible ASCII
characters, quoted or bare, such as a UUID, and a new one for each request. A client that got no answer sends the same
request with the same key again: it is done once, and within 24 h each repeat gets the first answer, with
\`Idempotency-Replayed: true\`. A repeat while the first request is running waits for its answer. Users do not share keys;
all clients with the service's own key do. The key with another operation, path, query or body is answered with 409
\`idempotency.reused\`. Answers are kept for requests that have done something or may have: all successes, 500, 502 and
504, and any failure of an action that has a command. Other refusals are not kept, and the request may be sent again with the same key. An answer that contains a
secret, or is longer than 256,000 characters, is not kept: the repeat is answered with 409 \`idempotency.not-kept\`, which
means that the request was done. If the service stopped before it answered, the repeat of an action gets the result of
its command, which is not sent again; any other repeat gets 409 \`idempotency.unknown\`: look whether it was done, and
use a new key. The newest 10,000 keys of each user and 16,000,000 characters of answers are kept.

**Reads** carry an \`ETag\` and answer \`If-None-Match\` with 304; the passage of time alone changes no tag. HEAD works
wherever GET does. Documented operations ignore unknown query parameters, Rigbridge extensions refuse them; a parameter
that is given twice is an error.

**Money.** A miner's coin is the coin of the pool definition whose host it mines at; an unknown coin earns nothing. Amounts
are in the display currency, 0 without an exchange rate; a month has 30.3 days. A coin's \`profit\` is in BTC per MH/s per
day. Based on market data, a coin earns hashes × reward / (difficulty × the algorithm's hashes per unit of difficulty).

**Errors** are problem documents (RFC 9457) with a stable \`code\`; for invalid input, \`errors\` lists every mistake.`;

/** The types of events, and how the stream behaves. */
export const streamDescription = `\
Server-sent events: \`event:\` is the type, \`id:\` counts up, and \`data:\` is one line of JSON:

- \`miner\`: the miner's current state
- \`miner-removed\`: \`{id, uid}\`
- \`miner-event\`: \`{id, uid, event, value, before}\`, where \`event\` is \`best_share\` (a new record) or \`block_found\`
- \`summary\`, \`command\`: as in the replies of their own operations
- \`notification\`: the same, when it is new, has repeated or is over
- \`notification-acknowledged\`, \`notification-removed\`: \`{ids}\` of those that were acknowledged, or cleared from the list;
  not of old ones that the service drops
- \`rule\`: \`{kind, id, key, state}\` of a rule, schedule or maintenance window that was added, changed or removed, or that
  has done something; for each about once a second at most. Read the rest from its own operation
- \`reset\`: missed events are no longer available, or the set of visible miners has changed; read the lists again

With \`types=\`, only events of these types are sent, and \`reset\`. At \`/api/events/rows\`, \`miner\` events carry the miner as a
row (see GET /api/miners), and a change that no row shows causes no event.

With \`Last-Event-ID\` (or \`after\`), the stream resumes after that event, up to 10,000 events back, or after the list of rows
with that \`version\`. After a \`reset\`, read the list again and reopen the stream after its version. A comment is sent
every 15 s. A client that falls 1,000 events behind is disconnected and may resume. The passage of time alone is no event.
Each user, key and address may have 64 open streams; all clients together may have 256, of which 16 are reserved for the
service's own key. Further streams are refused with 429 or 503.`;

export const sessionDescription = `\
The session of a browser, instead of a key in each request: a cookie that scripts cannot read (HttpOnly, SameSite=Strict) and
that holds for requests below the folder of this path. It counts only in requests of the service's own pages: a write needs
the header \`Origin\` or \`Sec-Fetch-Site\`, which browsers send, and a key in the request comes before it. A session ends 30 days
after it was opened, 7 days after its last use, with its key and with its user; the oldest ends when a user has 20. Wrong
keys and cookies count together. A service that needs no key needs no session.`;

export const marked = (text: string): string => `${text} (Rigbridge extension)`;

export const tags = [
  { name: "miners", description: "Rigs and their actions" },
  { name: "pools", description: "Pool definitions" },
  { name: "poolgroups", description: "Pools that are used together" },
  { name: "hosts", description: "Computers that run mining software" },
  { name: "managedminers", description: "Mining software on hosts" },
  { name: "miningsoftware", description: "The catalogue of mining software" },
  { name: "algorithms", description: "The catalogue of algorithms" },
  { name: "notifications", description: "Notifications about miners and the service" },
  { name: "managedtemplates", description: "Templates" },
  { name: "summary", description: "Dashboard totals" },
  { name: "coins", description: "Coins and their profitability" },
  { name: "users", description: "Users, and what they may see and do" },
  { name: "groups", description: marked("Groups of miners") },
  { name: "commands", description: marked("Commands sent to rigs, and their results") },
  { name: "discovery", description: marked("Network scans for rigs") },
  { name: "imports", description: marked("Lists of rigs: a preview, and its commit") },
  { name: "actions", description: marked("One action for many miners") },
  { name: "money", description: marked("What was earned and spent") },
  { name: "prices", description: marked("The price of electricity") },
  { name: "market", description: marked("What sources say about coins and exchange rates") },
  { name: "agents", description: marked("Tokens of host agents") },
  { name: "events", description: marked("Changes as they happen") },
  { name: "service", description: marked("The service itself") },
];

/** Codes of failures that occur before the server can answer. */
const atStart: readonly string[] = ["config.invalid", "store.refused"];

/** The codes that a status may carry, with their titles. */
export const problemCodes = (status: number): string =>
  Object.entries(problems)
    .filter(([code, problem]) => problem.status === status && !atStart.includes(code))
    .map(([code, { title }]) => `${title} (\`${code}\`)`)
    .join("; ");
