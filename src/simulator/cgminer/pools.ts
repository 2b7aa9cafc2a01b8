import { activePool, type Pool } from "../model.ts";
import { type Answer, type CgminerRig, type Command, status } from "./rig.ts";

/** The commands that change pools, with the answers and quirks of cgminer. */

const missing = status("E", 25, "Missing pool id parameter");

/** A pool id parsed as in C: text that is not a number is 0, so that a mistyped id selects the first pool. */
const idOf = (text: string): number => Number.parseInt(text, 10) || 0;

const outOfRange = (rig: CgminerRig, id: number): Answer =>
  status("E", 26, `Invalid pool id ${id} - range is 0 - ${rig.model.pools.length - 1}`);

/** Runs with the pool of the parameter. */
const onPool =
  (act: (rig: CgminerRig, pool: Pool, id: number) => Answer): Command["run"] =>
  (rig, parameter) => {
    if (parameter === null) return missing;
    const id = idOf(parameter);
    const pool = rig.model.pools[id];
    return pool === undefined ? outOfRange(rig, id) : act(rig, pool, id);
  };

const byPriority = (pools: readonly Pool[]): Pool[] => pools.toSorted((a, b) => a.priority - b.priority);

const inOrder = (pools: readonly Pool[]): void => {
  for (const [priority, pool] of pools.entries()) pool.priority = priority;
};

/** Parts are separated by commas; a backslash escapes the next character. */
export function partsOf(parameter: string): string[] {
  const parts = parameter.match(/(?:\\.|[^,\\])+/gs) ?? [];
  return parts.map((part) => part.replace(/\\(.)/gs, "$1"));
}

export const add: Command["run"] = (rig, parameter) => {
  if (parameter === null) return status("E", 52, "Missing addpool details");
  const [url, user, password, ...more] = partsOf(parameter);
  if (url === undefined || user === undefined || password === undefined || more.length > 0) {
    return status("E", 53, `Invalid addpool details '${parameter}'`);
  }
  const { model } = rig;
  const id = model.pools.length;
  const fresh = { enabled: true, alive: true, priority: id, quota: 1, hashes: 0, lastShareAt: null };
  const difficulty = model.pools[0]?.difficulty ?? 1024;
  model.change(() => model.pools.push({ url, user, password, difficulty, ...fresh }));
  return status("S", 55, rig.dialect.device === "PGA" ? `Added pool '${url}'` : `Added pool ${id}: '${url}'`);
};

/** The pool becomes the first; the others keep their order. */
export const switchTo = onPool(({ model }, pool, id) => {
  model.change(() => {
    pool.enabled = true;
    inOrder([pool, ...byPriority(model.pools).filter((other) => other !== pool)]);
  });
  return status("S", 27, `Switching to pool ${id}:'${pool.url}'`);
});

export const enable = onPool(({ model }, pool, id) => {
  if (pool.enabled) return status("I", 49, `Pool ${id}:'${pool.url}' already enabled`);
  model.change(() => {
    pool.enabled = true;
  });
  return status("S", 47, `Enabling pool ${id}:'${pool.url}'`);
});

export const disable = onPool(({ model }, pool, id) => {
  if (!pool.enabled) return status("I", 50, `Pool ${id}:'${pool.url}' already disabled`);
  if (model.pools.every((other) => other === pool || !other.enabled)) {
    return status("E", 51, `Cannot disable last active pool ${id}:'${pool.url}'`);
  }
  model.change(() => {
    pool.enabled = false;
  });
  return status("S", 48, `Disabling pool ${id}:'${pool.url}'`);
});

/** The pools after it move up by one, in number and in priority. */
export const remove = onPool(({ model, dialect }, pool, id) => {
  const others = model.pools.filter((other) => other !== pool);
  if (others.length === 0) return status("E", 66, `Cannot remove last pool ${id}:'${pool.url}'`);
  const stays = dialect.keepsActivePool || activePool(others) === null;
  if (pool === model.activePool && stays) return status("E", 67, `Cannot remove active pool ${id}:'${pool.url}'`);
  model.setPools(others);
  model.change(() => inOrder(byPriority(model.pools)));
  return status("S", 68, `Removed pool ${id}:'${pool.url}'`);
});

/** The named pools come first, in that order; the others keep their order. */
export const prioritize: Command["run"] = (rig, parameter) => {
  if (parameter === null) return missing;
  const { model } = rig;
  const named: Pool[] = [];
  for (const id of parameter.split(",").map(idOf)) {
    const pool = model.pools[id];
    if (pool === undefined) return outOfRange(rig, id);
    if (named.includes(pool)) return status("E", 74, `Duplicate pool specified ${id}`);
    named.push(pool);
  }
  model.change(() => inOrder([...named, ...byPriority(model.pools).filter((pool) => !named.includes(pool))]));
  return status("S", 73, "Changed pool priorities");
};

/** The stray quote at the end is as in cgminer. */
export const setQuota = onPoolAndNumber(({ model }, pool, quota) => {
  model.change(() => {
    pool.quota = quota;
  });
  return status("S", 122, `Set pool '${pool.url}' to quota ${quota}'`);
});

function onPoolAndNumber(act: (rig: CgminerRig, pool: Pool, number: number) => Answer): Command["run"] {
  return (rig, parameter) => {
    const [id = "", number] = (parameter ?? "").split(",");
    if (parameter === null || number === undefined) return missing;
    const pool = rig.model.pools[idOf(id)];
    return pool === undefined ? outOfRange(rig, idOf(id)) : act(rig, pool, idOf(number));
  };
}
