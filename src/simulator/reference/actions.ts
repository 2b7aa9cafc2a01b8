import type { ActivePool } from "./active-pools.ts";
import type { PoolDefinition } from "./definitions.ts";
import { rules, templates } from "./layout.ts";
import { badRequest, notNow, notThere } from "./refusals.ts";
import type { Site } from "./site.ts";
import type { TwinMiner } from "./twin-miner.ts";
import { seesPool, type TwinUser } from "./users.ts";

/** POST /api/miners/{id}: executes the action and returns the answer. */
export function minerAction(site: Site, miner: TwinMiner, query: URLSearchParams, user: TwinUser): string {
  switch (query.get("action")) {
    case "reboot":
      miner.reboot();
      return `${miner.name} is rebooting.`;
    case "stop":
      miner.stop();
      return `${miner.name} is stopping.`;
    case "restart":
      miner.restart();
      return `${miner.name} is restarting.`;
    case "start":
      miner.start();
      return `${miner.name} is starting.`;
    case "add_pool":
      miner.addPools(poolsIn(site, query, user));
      return `The pool was added to ${miner.name}.`;
    case "change_pool":
      miner.usePools(poolsIn(site, query, user));
      return `The pool of ${miner.name} was changed.`;
    case "apply_template":
      return applyTemplate(site, miner, numberIn(query, "template_id"));
    case "rule":
      return runRule(miner, numberIn(query, "rule_id"));
    default:
      throw badRequest("Unknown action.");
  }
}

/** POST /api/miners/{id}/pools/{active_pool_id}. */
export function poolAction(miner: TwinMiner, pool: ActivePool, query: URLSearchParams): string {
  switch (query.get("action")) {
    case "remove":
      miner.removePool(pool);
      return `${pool.name} was removed.`;
    case "disable":
      miner.disablePool(pool);
      return `${pool.name} was disabled.`;
    case "enable":
      miner.enablePool(pool);
      return `${pool.name} was enabled.`;
    case "prioritize":
      miner.prioritizePool(pool);
      return `${pool.name} has the highest priority.`;
    default:
      throw badRequest("Unknown action.");
  }
}

function poolsIn(site: Site, query: URLSearchParams, user: TwinUser): PoolDefinition[] {
  const type = query.get("pool_type");
  if (type !== "single" && type !== "group") throw badRequest("The parameter pool_type must be single or group.");
  const id = numberIn(query, "pool_id");
  const pools = site.definitions.poolsOf(type, id);
  if (!pools.every((pool) => seesPool(user, pool.id))) throw notThere(type === "group" ? "pool group" : "pool", id);
  return pools;
}

/** The contents of the managed templates of the layout. */
function applyTemplate(site: Site, miner: TwinMiner, id: number): string {
  const template = templates.find((each) => each.id === id);
  if (template === undefined) throw notThere("managed template", id);
  if (id === 3) {
    if (miner.algorithm !== "sha256") throw notNow(`${template.name} does not fit ${miner.name}.`);
    miner.usePools(site.definitions.poolsOf("group", 1));
  } else miner.throttle(id === 1 ? 0.7 : 1);
  return `The template ${template.name} was applied to ${miner.name}.`;
}

function runRule(miner: TwinMiner, id: number): string {
  const rule = rules.find((each) => each.id === id);
  if (rule === undefined) throw notThere("rule", id);
  const backup = miner.pools[1];
  if (id === 1) miner.stop();
  else if (backup === undefined) throw notNow(`${miner.name} has no other pool.`);
  else miner.prioritizePool(backup);
  return `The rule ${rule.name} was run on ${miner.name}.`;
}

function numberIn(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^\d{1,10}$/.test(text)) throw badRequest(`The parameter ${name} is required.`);
  return Number(text);
}
