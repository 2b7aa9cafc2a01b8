import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { MinerActionQuery, minerActions } from "../contract/inputs.ts";
import { didYouMean } from "../contract/nearest.ts";
import { invalid, type Mistake, RigbridgeError } from "../contract/problems.ts";
import { wording } from "../contract/wording.ts";
import { failing } from "./failure.ts";
import { findRig } from "./find-rig.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { printable } from "./table.ts";

interface ActOptions extends ServiceOptions {
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
  readonly override?: true;
}

export function actCommand(): Command {
  return serviceCommand("act", "rigbridge act Garage restart", "rigbridge act Garage set_power_limit --watts 2.5kW")
    .description("Sends a command to a miner through a running service.")
    .argument("<miner>", "id, uid or name of the miner")
    .addArgument(actionArgument())
    .option("--pool <id>", "pool id, for add_pool and change_pool")
    .addOption(new Option("--pool-type <type>", "what --pool names (default: single)").choices(["single", "group"]))
    .option("--template <id>", "template id, for apply_template")
    .option("--rule <id>", "rule id, for rule")
    .option("--property <key>", "control of the miner, for set")
    .option("--value <value>", "new value, for set")
    .option("--watts <number>", "W, or with a unit, such as 2.5kW, for set_power_limit")
    .option(
      "--temperature <number>",
      "°C, or with a unit, such as 70F, for set_target_temperature and set_room_temperature",
    )
    .option("--surplus <number>", "W, for set_surplus")
    .option("--mode <name>", "mode, for set_mode")
    .option("--on", "turn the signal on, for locate")
    .option("--off", "turn the signal off, for locate")
    .option("--override", "start or set it also against a curtailment for safety")
    .action(failing(act));
}

async function act(wanted: string, action: string, options: ActOptions): Promise<void> {
  const query = queryOf(action, options);
  await withService(options, async (service) => {
    const { id, name } = await findRig(service, wanted);
    const { message } = await service.minerAction({ ...query, id }, caller);
    console.log(`${printable(name)}: ${message}`);
  });
}

/** Names the nearest action; commander does so for options and commands only. */
function actionArgument(): Argument {
  const argument = new Argument("<action>", "what to do").choices(minerActions);
  return argument.argParser((action: string) => {
    if (minerActions.some((each) => each === action)) return action;
    throw new InvalidArgumentError(`It must be one of ${minerActions.join(", ")}${didYouMean(action, minerActions)}`);
  });
}

type Query = z.output<typeof MinerActionQuery>;
type Value = string | undefined;

/** Each parameter of the request, with its option and value. */
const parameters = {
  pool_id: ["--pool", ({ pool }) => pool],
  pool_type: ["--pool-type", ({ pool, poolType }) => poolType ?? (pool === undefined ? undefined : "single")],
  template_id: ["--template", ({ template }) => template],
  rule_id: ["--rule", ({ rule }) => rule],
  property: ["--property", ({ property }) => property],
  value: ["--value", ({ value }) => value],
  watts: ["--watts", ({ watts }) => watts],
  temperature: ["--temperature", ({ temperature }) => temperature],
  surplus: ["--surplus", ({ surplus }) => surplus],
  mode: ["--mode", ({ mode }) => mode],
  override: ["--override", ({ override }) => (override ? "true" : undefined)],
  on: ["--on or --off", ({ on, off }) => (on ? "true" : off ? "false" : undefined)],
} satisfies Record<Exclude<keyof Query, "action">, readonly [option: string, value: (options: ActOptions) => Value]>;

/** The request's parameters. Throws `input.invalid` with every option that is wrong or missing. */
function queryOf(action: string, options: ActOptions): Query {
  if (options.on && options.off) throw invalid("--on, --off", "only one of them may be given");
  const values = Object.entries(parameters).map(([name, [, value]]) => [name, value(options)]);
  const checked = MinerActionQuery.safeParse({ action, ...Object.fromEntries(values) }, { error: wording });
  if (checked.success) return checked.data;
  const errors = checked.error.issues.map(({ path, message }): Mistake => ({ path: optionNamed(path[0]), message }));
  throw new RigbridgeError("input.invalid", "Nothing was sent:", { errors });
}

const optionNamed = (parameter: PropertyKey | undefined): string =>
  Object.entries(parameters).find(([name]) => name === parameter)?.[1][0] ?? String(parameter);
