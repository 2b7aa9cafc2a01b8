import { Argument, type Command, InvalidArgumentError } from "commander";
import { didYouMean, nearest } from "../contract/nearest.ts";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { RuleInfo } from "../contract/rules.ts";
import { failing } from "./failure.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { fittedTable, printable } from "./table.ts";

interface RulesOptions extends ServiceOptions {
  readonly json?: true;
}

const changes = ["enable", "disable"];

export function rulesCommand(): Command {
  const change = new Argument("[change]", `${changes.join(" or ")} a rule`).argParser((word: string) => {
    if (changes.includes(word)) return word;
    throw new InvalidArgumentError(`It must be ${changes.join(" or ")}${didYouMean(word, changes)}`);
  });
  return serviceCommand("rules", "rigbridge rules", "rigbridge rules disable too-hot")
    .description("Lists the rules of a running service with their state, or turns one on or off.")
    .addArgument(change)
    .argument("[rule]", "key, id or name of the rule")
    .option("--json", "print the list as JSON")
    .action(failing(rules));
}

async function rules(change: string | undefined, wanted: string | undefined, options: RulesOptions): Promise<void> {
  const { json, ...connection } = options;
  if (change !== undefined && wanted === undefined) throw invalid("rule", `give the key of the rule to ${change}`);
  await withService(connection, async (service) => {
    const list = (await service.listRules({}, caller)).rules;
    if (change !== undefined && wanted !== undefined) {
      const { id, name } = ruleNamed(list, wanted);
      const { enabled } = await service.changeRule({ id: String(id), enabled: change === "enable" }, caller);
      console.log(`${printable(name)} is ${enabled ? "on" : "off"}`);
    } else if (json) console.log(JSON.stringify(list, null, 2));
    else console.log(list.length === 0 ? "There are no rules." : ruleTable(list).join("\n"));
  });
}

type NamedRule = Pick<RuleInfo, "id" | "key" | "name">;

/** By key, id or name, in that order. Throws `not.found` with the nearest one. */
export function ruleNamed<R extends NamedRule>(list: readonly R[], wanted: string): R {
  const name = wanted.toLowerCase();
  const found =
    list.find(({ key }) => key === wanted) ??
    list.find(({ id }) => String(id) === wanted) ??
    list.find((rule) => rule.name.toLowerCase() === name);
  if (found !== undefined) return found;
  const meant = nearest(
    wanted,
    list.flatMap((rule) => [rule.key, rule.name]),
  );
  const advice = meant === undefined ? "`rigbridge rules` lists them" : `did you mean "${meant}"?`;
  throw new RigbridgeError("not.found", `There is no rule "${wanted}"; ${advice}`);
}

export type ListedRule = NamedRule & Pick<RuleInfo, "enabled" | "problem" | "firing" | "held" | "pending" | "lastRun">;

/** Rules as lines of a table, the heads first, at most 80 columns. */
export const ruleTable = (list: readonly ListedRule[]): string[] =>
  fittedTable(
    ["Key", "Name", "State", "Last run"],
    list.map((rule) => [rule.key, rule.name, stateOf(rule), rule.lastRun?.message ?? ""]),
    { flexible: [0, 1, 2, 3] },
  );

function stateOf({ enabled, problem, firing, held, pending }: ListedRule): string {
  if (!enabled) return "off";
  if (problem !== null) return `problem: ${problem}`;
  const counts = [
    [firing - held, "firing"],
    [held, "held"],
    [pending, "pending"],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return parts.length === 0 ? "idle" : parts.join(", ");
}
