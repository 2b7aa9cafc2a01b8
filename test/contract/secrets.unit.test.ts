import { expect, test } from "@jest/globals";
import { z } from "zod";
import { Config } from "../../src/config/schema.ts";
import { ServiceEvent } from "../../src/contract/events.ts";
import { type Operation, operationNames, operations } from "../../src/contract/operations.ts";
import { holdsSecrets, isSecret, secret, withoutSecrets } from "../../src/contract/secrets.ts";

/** Every field of a schema by its path, `[]` for what a list or a record holds. */
function fieldsOf(schema: z.core.$ZodType, path = "", inside: readonly z.core.$ZodType[] = []): [string, boolean][] {
  if (inside.includes(schema)) return [];
  const within = (part: z.core.$ZodType, name = "") => fieldsOf(part, `${path}${name}`, [...inside, schema]);
  const own: [string, boolean][] = isSecret(schema) ? [[path, true]] : [[path, false]];
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, part]) => within(part, `.${name}`));
  if (schema instanceof z.ZodArray) return within(schema.element, "[]");
  if (schema instanceof z.ZodRecord) return within(schema.valueType, "[]");
  if (schema instanceof z.ZodUnion) return [...own, ...schema.options.flatMap((option) => within(option))];
  if (schema instanceof z.ZodPipe) return [...own, ...within(schema.in), ...within(schema.out)];
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return [...own, ...within(schema.def.innerType)];
  return own;
}

const all = new Map<string, boolean>();
const note = (name: string, schema: z.core.$ZodType | undefined): void => {
  for (const [path, marked] of schema === undefined ? [] : fieldsOf(schema))
    all.set(`${name}${path}`, marked || (all.get(`${name}${path}`) ?? false));
};
for (const name of operationNames) {
  const { params = {}, query, body, reply }: Operation = operations[name];
  note(`${name} takes `, z.object(params));
  note(`${name} takes `, query);
  note(`${name} takes `, body);
  note(`${name} answers `, reply);
}
note("event ", ServiceEvent);
note("config ", Config);

test("the secrets of the contract and of the configuration are these", () => {
  expect([...all].filter(([, marked]) => marked).map(([path]) => path)).toEqual([
    "listPools answers .list[].plainWorkerPassword",
    "getPool answers .plainWorkerPassword",
    "savePool takes .plainWorkerPassword",
    "savePool answers .plainWorkerPassword",
    "listManagedMiners answers [].commandLineParams",
    "getManagedMiner answers .commandLineParams",
    "saveManagedMiner takes .commandLineParams",
    "saveManagedMiner answers .commandLineParams",
    "listManagedTemplates answers .managedTemplateList[].commandLineParams",
    "addMiner takes .password",
    "addMiner takes .token",
    "addMiner takes .supply.password",
    "changeMiner takes .password",
    "changeMiner takes .token",
    "changeMiner takes .supply.password",
    "saveManagedTemplate takes .commandLineParams",
    "saveManagedTemplate answers .commandLineParams",
    "saveUser takes .key",
    "addRule takes .do[].headers[]",
    "addRule takes .onClear[].headers[]",
    "addRule takes .onGiveUp[].headers[]",
    "changeRule takes .do[].headers[]",
    "changeRule takes .onClear[].headers[]",
    "changeRule takes .onGiveUp[].headers[]",
    "addSchedule takes .do[].headers[]",
    "addSchedule takes .onEnd[].headers[]",
    "changeSchedule takes .do[].headers[]",
    "changeSchedule takes .onEnd[].headers[]",
    "addChannel takes .url",
    "addChannel takes .topic",
    "addChannel takes .token",
    "addChannel takes .user",
    "addChannel takes .config",
    "addChannel takes .secret",
    "addChannel takes .password",
    "addChannel takes .headers",
    "addChannel takes .body",
    "changeChannel takes .url",
    "changeChannel takes .topic",
    "changeChannel takes .token",
    "changeChannel takes .user",
    "changeChannel takes .config",
    "changeChannel takes .secret",
    "changeChannel takes .password",
    "changeChannel takes .headers",
    "changeChannel takes .body",
    "addAgent answers .token",
    "admitSite answers .token",
    "replaceOwned takes .pools[][]",
    "replaceOwned takes .templates[][]",
    "config .http.key",
    "config .miners[].password",
    "config .miners[].token",
    "config .miners[].supply.password",
    "config .miners[].electricity.source.token",
    "config .miners[].electricity.source.headers[]",
    "config .logins[].password",
    "config .logins[].token",
    "config .groups[].electricity.source.token",
    "config .groups[].electricity.source.headers[]",
    "config .pools[].password",
    "config .pools[].view.headers[]",
    "config .templates[].commandLineParams",
    "config .rules[].do[].headers[]",
    "config .rules[].onClear[].headers[]",
    "config .rules[].onGiveUp[].headers[]",
    "config .schedules[].do[].headers[]",
    "config .schedules[].onEnd[].headers[]",
    "config .sites[].key",
    "config .centre.token",
    "config .users[].key",
    "config .electricity.source.token",
    "config .electricity.source.headers[]",
    "config .market.sources[].token",
    "config .heating.roomTemperature.headers[]",
    "config .heating[].roomTemperature.headers[]",
    "config .follow.surplus.headers[]",
    "config .follow[].surplus.headers[]",
    "config .facility[].authPassword",
    "config .facility[].privPassword",
    "config .facility[].community",
    "config .facility[].writeCommunity",
    "config .facility[].password",
    "config .facility[].headers[]",
    "config .signals[].clientSecret",
    "config .channels[].url",
    "config .channels[].topic",
    "config .channels[].token",
    "config .channels[].user",
    "config .channels[].config",
    "config .channels[].secret",
    "config .channels[].password",
    "config .channels[].headers[]",
    "config .channels[].body",
    "config .hooks[].secret",
    "config .mqtt.password",
    "config .history.remoteWrite.headers[]",
  ]);
});

test("no field that is called like a secret is left unmarked", () => {
  /**
   * `hasKey` says only whether there is one; keys of controls, channels, rooms, facility devices, settings, rules, schedules, their events, and of the causes of
   * commands are names; mqtt.key is the name of a file; tokenId is the number of an agent's token; tokenUrl is the address that issues tokens.
   */
  const harmless = new RegExp(
    [
      /\.(hasKey|tokenId|tokenUrl|mqtt\.key)$/,
      /\.(controls|channels)\[\]\.key$/,
      /\.cause\.key$/,
      /^\w+(Rule|Schedule)s? .*\.key$/,
      /^listRuns answers \.runs\[\]\.key$/,
      /^(event|watch\w+ answers) \.data\.key$/,
      /(Channel|Room)s? (takes|answers) .*\.key$/,
      /^config \.(rules|schedules|facility|signals)\[\]\.key$/,
      /^\w+Curtailment(Plan)?s? (takes|answers) .*\.?key$/,
      /^list(Facility|Signals) answers \[\]\.key$/,
      /Settings answers .*\.key$/,
    ]
      .map(({ source }) => source)
      .join("|"),
  );
  const unmarked = [...all].filter(([path, marked]) => !marked && !harmless.test(path)).map(([path]) => path);
  expect(all.size).toBeGreaterThan(500);
  expect(
    unmarked.filter((path) => /pass|token|secret|credential|key$|authorization|command.?line/i.test(path)),
  ).toEqual([]);
});

test("no event contains a secret, since users with the privilege view receive all events", () => {
  expect(holdsSecrets(ServiceEvent)).toBe(false);
});

test("secrets are emptied wherever they stand, and nothing else is changed", () => {
  const Entry = z.object({ name: z.string(), word: secret(z.string()).describe("kept") });
  const Tree = z.object({
    entry: Entry.optional(),
    get inner() {
      return z.array(Tree).optional();
    },
  });
  const Reply = z.object({
    list: z.array(Entry),
    either: z.union([z.object({ pin: secret(z.string().nullable()) }), z.object({ code: z.int() })]),
    tree: Tree,
    headers: z.record(z.string(), secret(z.string())),
    plain: z.object({ word: z.string() }),
  });
  const entry = { name: "a", word: "hidden" };
  const value = {
    list: [entry, { ...entry, beyond: "the schema" }],
    either: { pin: "hidden" },
    tree: { entry, inner: [{ entry, inner: [{}] }] },
    headers: { authorization: "hidden" },
    plain: { word: "shown" },
  };
  expect(withoutSecrets(Reply, value)).toEqual({
    list: [
      { name: "a", word: "" },
      { name: "a", word: "", beyond: "the schema" },
    ],
    either: { pin: "" },
    tree: { entry: { name: "a", word: "" }, inner: [{ entry: { name: "a", word: "" }, inner: [{}] }] },
    headers: { authorization: "" },
    plain: { word: "shown" },
  });
  expect(withoutSecrets(Reply.shape.either, { pin: null })).toEqual({ pin: null });
  const { plain } = Reply.shape;
  expect(withoutSecrets(plain, value.plain)).toBe(value.plain);
});
