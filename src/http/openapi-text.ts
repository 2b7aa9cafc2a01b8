import { problems } from "../contract/problems.ts";

/** What a client's author must know beside the operations: where the API document is silent, and what was chosen. */
export const description = `\
Rigbridge serves the Mining Management Service HTTP API and adds to it. What is **ours**, an addition, is marked with
\`(ours)\` and \`x-rigbridge-addition\`; all else is as documented. The document leaves much open; this is what holds here.

**Who asks.** The key goes as query parameter \`key\` or as header \`X-API-Key\`; without a key in the configuration only
the service's own machine is served. A stray \`Authorization\` header is ignored. \`user_id\` is a filter: whoever holds the
service's key may name any user, an unknown one is 404. A user may have a key of their own, which implies their
\`user_id\`, and holds only what they may see and do: what is outside is 404, what they may not do is 403.

**Values.** Ids and whatever is called integer are JSON integers. Figures as text are written for people in the
operator's language, currency and time zone (\`73.22 TH/s\`, \`59 59 59 °C\`, \`$10.17\`); programs read fields named
\`...Value\`, and \`readings\`: plain numbers in H/s, W, °C, rpm, s and Wh, \`null\` where the rig does not say. Times with
\`Utc\` are ISO 8601 with Z, the others \`yyyy-MM-dd HH:mm:ss\` in local time. \`groupId\` and \`groupID\` are the same;
0 = in no group. Ids of miners that run by themselves count from 1000000001. Replies may gain fields.

**Miners.** A miner that cannot be reached is \`Disconnected\`, \`isOffline\`, without devices, and stands in no total but the
count of all; what it last said is never shown as if it still held. \`stale\` readings are those of a miner that missed its
last read or was not asked yet. \`Starting\`: not asked yet since the service started (\`hasValidStatus\` is false), on its way
up, or silent for no longer than a restart that it took may need; it is not counted as offline. \`uid\` is given when a rig is first recognised and kept; until then it is null. Active pool ids belong to URL and
worker on that miner and are never reused.

**Actions** answer once the rig, or the store, has taken them; \`message\` is what the rig said. 202 with \`commandId\`
means that the rig has not answered yet; 200 with the state \`sent\` that it took a restart and has not shown it yet.
GET /api/commands and \`command\` events tell its result: \`done\`, or \`unknown\` after the control's \`seconds\`. A
command that waits for a rig is not sent later than 60 s after it was asked for; until it is sent,
DELETE /api/commands/{id} cancels it. A body sent with them is ignored,
whatever it is; other bodies must be JSON. Adding answers with what was stored, its id included; id 0 or none adds. What
this version has no engine for says 409 \`not.yet\` and does nothing.

**Reads** carry an \`ETag\` and answer \`If-None-Match\` with 304; passing time alone changes no tag. HEAD works wherever
GET does. Parameters that an operation does not know are ignored; one that is given twice is a mistake.

**Money.** A miner's coin is that of the pool definition whose host it mines at; an unknown coin earns nothing. Amounts
are in the display currency, 0 without a rate; a month is 30.3 days. \`profit\` of a coin is BTC per MH/s per day. From
market data a coin earns hashes × reward / (difficulty × the algorithm's hashes per unit of difficulty).

**Errors** are problem documents (RFC 9457) with a stable \`code\`, and for bad input all mistakes at once in \`errors\`.`;

/** What the events of the stream say. */
export const streamDescription = `\
Server-sent events. \`event:\` is the type, \`id:\` counts up, \`data:\` is one line of JSON:

- \`miner\`: the miner as it is now
- \`miner-removed\`: \`{id, uid}\`
- \`miner-event\`: \`{id, uid, event, value, before}\`: \`best_share\` (beaten) or \`block_found\`
- \`summary\`, \`notification\`, \`command\`: as their own operations show them
- \`reset\`: what was missed is no longer known, or other miners are to be seen: read the lists anew

With \`Last-Event-ID\` (or \`after\`) the stream resumes behind that event, up to 10,000 events back. A comment comes
every 15 s. A client that lags 1,000 events behind is cut off and may resume. Passing time alone is no event. A user, a key and an address may
have 64 streams each, and all together 256, of which 16 are kept for the service's own key: else 429 or 503.`;

export const tags = [
  { name: "miners", description: "Rigs and what they can be told" },
  { name: "pools", description: "Pool definitions" },
  { name: "poolgroups", description: "Pools that are used together" },
  { name: "hosts", description: "Computers that mining software runs on" },
  { name: "managedminers", description: "Mining software on hosts" },
  { name: "miningsoftware", description: "Known mining software" },
  { name: "algorithms", description: "Known algorithms" },
  { name: "notifications", description: "What happened" },
  { name: "managedtemplates", description: "Templates" },
  { name: "summary", description: "The dashboard's figures" },
  { name: "coins", description: "What coins earn" },
  { name: "users", description: "Who may see and do what" },
  { name: "groups", description: "Groups of miners (ours)" },
  { name: "commands", description: "What was sent to rigs (ours)" },
  { name: "discovery", description: "Looking for rigs (ours)" },
  { name: "actions", description: "One action for many miners (ours)" },
  { name: "events", description: "What changes, as it changes (ours)" },
  { name: "service", description: "The service itself (ours)" },
];

/** Codes that say why something failed before a server was there to answer. */
const atStart: readonly string[] = ["config.invalid", "store.refused"];

/** The codes that a status may carry, with their titles. */
export const problemCodes = (status: number): string =>
  Object.entries(problems)
    .filter(([code, problem]) => problem.status === status && !atStart.includes(code))
    .map(([code, { title }]) => `${title} (\`${code}\`)`)
    .join("; ");
