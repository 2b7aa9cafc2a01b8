import { createContext, Script } from "node:vm";
import type { Miner, Notification } from "rigbridge";
import type { Farm } from "../shared/farm-connection.ts";
import { fieldFault, shortened, wordsOf } from "../shared/faults.ts";
import { type Choice, chosenMiners, groupNamed, withSubgroups } from "../shared/miner-choice.ts";

export type Filter = (notification: Notification) => boolean;

/** ms for one text; a pattern like `(a+)+$` can take forever. */
const timeoutMs = 100;
/** Tries while the machine is busy: the timeout is wall-clock time, whichever program uses the processor. */
const tries = 20;

/**
 * Whether title or message contain the text or match the regular expression, ignoring case. Throws a Fault if the text
 * is not an expression; the filter throws one if the expression takes too long.
 */
export function textFilter(kind: "contains" | "regex", text: string): Filter {
  if (text === "") return () => true;
  const matches = kind === "regex" ? regexTest(text) : containsTest(text);
  return ({ title, message }) => [title ?? "", message].some(matches);
}

const containsTest = (part: string) => (text: string) => text.toLowerCase().includes(part.toLowerCase());

function regexTest(source: string): (text: string) => boolean {
  const pattern = compiled(source);
  const place: { pattern: RegExp; text: string } = { pattern, text: "" };
  const context = createContext(place);
  const script = new Script("pattern.test(text)");
  return (text) => {
    place.text = text;
    for (let left = tries; ; left -= 1) {
      const before = process.cpuUsage();
      try {
        return script.runInContext(context, { timeout: timeoutMs }) === true;
      } catch {
        if (left > 1 && usedMs(process.cpuUsage(before)) < timeoutMs / 2) continue;
        throw fieldFault("text", "slow-regex", { ms: timeoutMs, text: shortened(text) });
      }
    }
  };
}

/** Of the processor. */
const usedMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

function compiled(source: string): RegExp {
  try {
    return new RegExp(source, "iu");
  } catch (error) {
    throw fieldFault("text", "regex", { why: wordsOf(error) });
  }
}

/** Whether a notification is about one of the selected miners. Throws a Fault that names the field. */
export function minerFilter(farm: Farm, choice: Choice): Filter {
  if (choice.scope === "all") return () => true;
  const miners = choice.scope === "group" ? inGroup(farm, choice.group) : chosenMiners(farm, choice);
  const ids = new Set(miners.map(({ id }) => id));
  const names = new Set(miners.map(({ name }) => name));
  return ({ minerId, minerName }) => (minerId === null ? names.has(minerName) : ids.has(minerId));
}

/** An empty group is not an error here, since miners may be added. */
function inGroup({ miners, groups }: Farm, group: unknown): readonly Miner[] {
  const ids = withSubgroups(groups, groupNamed(groups, group).id);
  return [...miners.values()].filter(({ groupId }) => ids.has(groupId));
}

/** The miner of a notification; null if there is none, or if several share its name. */
export function minerOf({ miners }: Pick<Farm, "miners">, { minerId, minerName }: Notification): Miner | null {
  if (minerId !== null) return miners.get(minerId) ?? null;
  const [only, another] = [...miners.values()].filter(({ name }) => name === minerName);
  return another === undefined ? (only ?? null) : null;
}
