import { Argument, Command, Option } from "commander";
import type { z } from "zod";
import { connectService } from "../client/index.ts";
import { MinerActionQuery, minerActions } from "../contract/inputs.ts";
import { invalid, type Mistake, RigbridgeError } from "../contract/problems.ts";
import { wording } from "../contract/wording.ts";
import { failing } from "./failure.ts";
import { findMiner } from "./find-miner.ts";

interface ActOptions {
  readonly service: string;
  readonly key?: string;
  readonly locale?: string;
  readonly pool?: string;
  readonly poolType?: string;
  readonly template?: string;
  readonly rule?: string;
  readonly property?: string;
  readonly value?: string;
  readonly watts?: string;
  readonly temperature?: string;
  readonly surplus?: string;
  readonly mode?: string;
  readonly on?: true;
  readonly off?: true;
}

export function actCommand(): Command {
  return new Command("act")
    .description("Tells a miner something, through a running service.")
    .argument("<miner>", "its id, uid or name")
    .addArgument(new Argument("<action>", "what to do").choices(minerActions))
    .addOption(
      new Option("--service <url>", "where the service is").default("http://127.0.0.1:17790").env("RIGBRIDGE_SERVICE"),
    )
    .addOption(new Option("--key <key>", "the service's API key").env("RIGBRIDGE_KEY"))
    .option("--locale <tag>", "how a service that is no Rigbridge writes its numbers, like sv-SE (default: en-US)")
    .option("--pool <id>", "id of a pool, for add_pool and change_pool")
    .addOption(new Option("--pool-type <type>", "what the id is of (default: single)").choices(["single", "group"]))
    .option("--template <id>", "for apply_template")
    .option("--rule <id>", "for rule")
    .option("--property <key>", "a control of the miner, for set")
    .option("--value <value>", "for set")
    .option("--watts <number>", "for set_power_limit")
    .option("--temperature <number>", "°C, for set_target_temperature and set_room_temperature")
    .option("--surplus <number>", "W, for set_surplus")
    .option("--mode <name>", "for set_mode")
    .option("--on", "for locate")
    .option("--off", "for locate")
    .addHelpText("after", "\nOther users of this machine see a command's options; the key is safer in the environment.")
    .action(failing(act));
}

async function act(wanted: string, action: string, options: ActOptions): Promise<void> {
  const query = queryOf(action, options);
  const { service: url, key, locale } = options;
  const service = connectService({ url, key, ...(locale === undefined ? {} : { locale }) });
  const caller = { actor: "command line" };
  try {
    const { id, name } = findMiner(await service.listMiners({}, caller), wanted);
    const { message } = await service.minerAction({ ...query, id }, caller);
    console.log(`${name}: ${message}`);
  } catch (error) {
    throw withAdvice(error, url);
  } finally {
    await service.close();
  }
}

/** What to do about it, on the command line. */
function withAdvice(error: unknown, url: string): unknown {
  if (!(error instanceof RigbridgeError)) return error;
  if (error.code === "key.missing" || error.code === "key.wrong")
    return new RigbridgeError(error.code, `${error.message} (give the key in RIGBRIDGE_KEY)`);
  if (error.code !== "service.unreachable") return error;
  const advice = "start one with npm start, or say where it is with --service";
  return new RigbridgeError(error.code, `No service answers at ${new URL(url).origin}; ${advice}\n${error.message}`);
}

/** Which option gives which parameter of the request. */
const optionOf = {
  pool_id: "--pool",
  pool_type: "--pool-type",
  template_id: "--template",
  rule_id: "--rule",
  property: "--property",
  value: "--value",
  watts: "--watts",
  temperature: "--temperature",
  surplus: "--surplus",
  mode: "--mode",
  on: "--on or --off",
} as const;

/** The request's parameters. Throws `input.invalid` with every option that is wrong or missing. */
function queryOf(action: string, options: ActOptions): z.output<typeof MinerActionQuery> {
  if (options.on && options.off) throw invalid("--on, --off", "only one of them can be");
  const checked = MinerActionQuery.safeParse(
    {
      action,
      pool_id: options.pool,
      pool_type: options.poolType ?? (options.pool === undefined ? undefined : "single"),
      template_id: options.template,
      rule_id: options.rule,
      property: options.property,
      value: options.value,
      watts: options.watts,
      temperature: options.temperature,
      surplus: options.surplus,
      mode: options.mode,
      on: options.on ? "true" : options.off ? "false" : undefined,
    },
    { error: wording },
  );
  if (checked.success) return checked.data;
  const errors = checked.error.issues.map(({ path, message }): Mistake => ({ path: optionNamed(path[0]), message }));
  throw new RigbridgeError("input.invalid", "Nothing was sent:", { errors });
}

const optionNamed = (parameter: PropertyKey | undefined): string =>
  Object.entries(optionOf).find(([name]) => name === parameter)?.[1] ?? String(parameter);
