import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { isRecord } from "../../mqtt/home-assistant-message.ts";
import { until } from "../../until.ts";
import type { Installed } from "./installed.ts";
import { baseConfiguration, configuration, type HomeAssistant, type State } from "./instance.ts";

const folder = new URL("../../../examples/home-assistant/", import.meta.url);

/** A reference to an input of a blueprint. */
const inputTag = { tag: "!input", resolve: (name: string) => ({ input: name }) };

const Selector = z.record(z.string(), z.unknown());
const Input = z.looseObject({
  default: z.unknown().optional(),
  selector: Selector.optional(),
});
const Blueprint = z.looseObject({
  blueprint: z.looseObject({
    domain: z.string(),
    input: z
      .record(z.string(), z.union([z.looseObject({ input: z.record(z.string(), Input.nullable()) }), Input.nullable()]))
      .default({}),
  }),
});
const Automation = z.looseObject({ triggers: z.array(z.unknown()), actions: z.unknown() });

const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml"));
const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");
const parsed = files.map((file) => ({
  file,
  text: textOf(file),
  yaml: parse(textOf(file), { customTags: [inputTag], logLevel: "error" }) as unknown,
}));

const entityId = /^(binary_sensor|button|climate|event|number|select|sensor|switch)\.[a-z0-9_]+$/;

/** The entities that the dashboards and cards name. */
export function dashboardEntities(): { readonly file: string; readonly entity: string }[] {
  const named = parsed.flatMap(({ file, yaml }) =>
    textsIn(yaml).flatMap((entity) => (entityId.test(entity) ? [{ file, entity }] : [])),
  );
  return [...new Map(named.map((each) => [`${each.file} ${each.entity}`, each])).values()];
}

/** All strings in it, without keys and without the names of actions, such as `switch.turn_on`. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => (actionKeys.includes(key) ? [] : textsIn(each)));
};
const actionKeys = ["action", "perform_action", "service"];

interface Checked {
  readonly point: string;
  readonly measured: string;
  readonly wrongs: readonly string[];
}

/** Home Assistant's own check of the blueprints and automations, and their loading by the running one. */
export async function checkExamples(
  here: Installed,
  home: HomeAssistant,
  states: ReadonlyMap<string, State>,
): Promise<Checked[]> {
  const blueprints = parsed.flatMap(({ file, text, yaml }) =>
    isRecord(yaml) && "blueprint" in yaml ? [{ file, text, ...Blueprint.parse(yaml).blueprint }] : [],
  );
  const own = parsed.flatMap(({ file, yaml }) => {
    const all = z.array(Automation).safeParse(Array.isArray(yaml) ? yaml : [yaml]);
    return all.success && !blueprints.some((blueprint) => blueprint.file === file)
      ? all.data.map((automation) => ({ file, automation }))
      : [];
  });
  const registry = await home.registry();
  const devices = z
    .array(z.looseObject({ id: z.string(), identifiers: z.array(z.array(z.string())) }))
    .parse(await home.ask("config/device_registry/list"));
  const device = devices.find(({ identifiers }) => identifiers.some(([, id]) => /_miner_/.test(id ?? "")))?.id ?? "";
  const ours = new Set([...registry.values()].map((each) => each.entity_id));
  const automations = [
    ...blueprints.map(({ file, input }, index) => ({
      id: `blueprint_${index}`,
      alias: `blueprint ${index}`,
      use_blueprint: { path: `rigbridge/${file}`, input: inputsFor(input, { states, ours, device }) },
    })),
    ...own.map(({ automation }, index) => ({ id: `example_${index}`, alias: `example ${index}`, ...automation })),
  ];
  const written: Record<string, string> = {
    "automations.yaml": stringify(automations),
    ...Object.fromEntries(
      blueprints.map(({ file, text, domain }) => [`blueprints/${domain}/rigbridge/${file}`, text] as const),
    ),
  };
  const measured = `${blueprints.length} blueprints, ${own.length} automations`;
  return [
    {
      point: "examples: Home Assistant's check of the configuration",
      measured,
      wrongs: await checkConfig(here, written),
    },
    {
      point: "examples: a running Home Assistant loads them",
      measured,
      wrongs: await load(home, written, automations.length),
    },
  ];
}

/** `hass --script check_config` */
async function checkConfig(here: Installed, written: Readonly<Record<string, string>>): Promise<string[]> {
  const text = `${stringify({ ...baseConfiguration(8123), http: undefined })}automation: !include automations.yaml\n`;
  const { inside, folder: place } = configuration(here, { "configuration.yaml": text, ...written });
  try {
    const output = await here.run("hass", ["--script", "check_config", "--config", inside, "--files"]);
    const bad = output.split("\n").filter((line) => /error|invalid|fail|could not/i.test(line));
    return bad;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function load(home: HomeAssistant, written: Readonly<Record<string, string>>, count: number): Promise<string[]> {
  const logged = home.log.length;
  for (const [path, text] of Object.entries(written)) {
    mkdirSync(dirname(join(home.folder, path)), { recursive: true });
    writeFileSync(join(home.folder, path), text);
  }
  const { status, text } = await home.call("automation.reload", {});
  const loaded = async () =>
    [...(await home.states()).values()].filter(({ entity_id: id }) => id.startsWith("automation."));
  await until(async () => (await loaded()).length === count, "the automations", { timeoutMs: 15_000 }).catch(
    () => undefined,
  );
  const all = await loaded();
  // They would act on the rigs of the next checks.
  writeFileSync(join(home.folder, "automations.yaml"), "[]\n");
  await home.call("automation.reload", {});
  return [
    ...(status === 200 ? [] : [`automation.reload answered ${status}: ${text}`]),
    ...(all.length === count ? [] : [`${all.length} of ${count} automations are there`]),
    ...all.flatMap(({ entity_id: id, state }) => (state === "on" ? [] : [`${id} is ${state}`])),
    ...home.log.slice(logged).map(({ level, logger, text: said }) => `${level} [${logger}] ${said}`),
  ];
}

type Inputs = z.infer<typeof Blueprint>["blueprint"]["input"];
interface Known {
  readonly states: ReadonlyMap<string, State>;
  /** Entities of Rigbridge. */
  readonly ours: ReadonlySet<string>;
  readonly device: string;
}

/** What a user might choose for the inputs that have no default; sections of inputs are opened. */
function inputsFor(inputs: Inputs, known: Known): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]): [string, unknown][] => {
      if (input !== null && "input" in input && input.input !== undefined)
        return Object.entries(inputsFor(input.input as Inputs, known));
      if (input !== null && "default" in input && input.default !== undefined) return [];
      return [[name, valueFor(Selector.parse(input?.selector ?? {}), known)]];
    }),
  );
}

const Filter = z.looseObject({
  domain: z.union([z.string(), z.array(z.string())]).optional(),
  device_class: z.union([z.string(), z.array(z.string())]).optional(),
});
const ForEntity = z.looseObject({
  ...Filter.shape,
  filter: z.union([Filter, z.array(Filter)]).optional(),
  multiple: z.boolean().optional(),
});

function valueFor(selector: Record<string, unknown>, known: Known): unknown {
  const [kind = "text"] = Object.keys(selector);
  const options = selector[kind];
  switch (kind) {
    case "entity":
      return entityFor(ForEntity.parse(options ?? {}), known);
    case "target":
      return { entity_id: [...known.ours].find((id) => id.startsWith("switch.")) ?? "" };
    case "device":
      return z.looseObject({ multiple: z.boolean().optional() }).parse(options ?? {}).multiple === true
        ? [known.device]
        : known.device;
    case "number":
      return z.looseObject({ min: z.number().default(0) }).parse(options ?? {}).min;
    case "boolean":
      return true;
    case "time":
      return "22:00:00";
    case "duration":
      return { minutes: 5 };
    case "action":
    case "condition":
      return [];
    case "select": {
      const [first] = z
        .looseObject({ options: z.array(z.union([z.string(), z.looseObject({ value: z.string() })])) })
        .parse(options).options;
      return typeof first === "string" ? first : first?.value;
    }
    // A uid that no rig has: a blueprint that is loaded may act at once.
    default:
      return "020000000000";
  }
}

function entityFor(options: z.infer<typeof ForEntity>, { states, ours }: Known): unknown {
  const filters = options.filter === undefined ? [Filter.parse(options)] : [options.filter].flat();
  const fits = ({ entity_id: id, attributes }: State) =>
    filters.some(({ domain, device_class: wanted }) => {
      const domains = domain === undefined ? [] : [domain].flat();
      const classes = wanted === undefined ? [] : [wanted].flat();
      return (
        (domains.length === 0 || domains.includes(id.split(".")[0] ?? "")) &&
        (classes.length === 0 || classes.includes(String(attributes.device_class)))
      );
    });
  const fitting = [...states.values()].filter(fits);
  const one = fitting.find(({ entity_id: id }) => ours.has(id)) ?? fitting[0];
  const id = one?.entity_id ?? "sensor.none";
  return options.multiple === true ? [id] : id;
}
