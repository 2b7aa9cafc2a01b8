import { z } from "zod";
import type { PoolViewSettings, poolViewTypes } from "../../config/money.ts";
import { valueAt } from "../../link/quantity.ts";
import { fieldsOf, listOf, numberOf, type SourceShape, textOf } from "./feed.ts";

const figure = z.number().nullable();

/** A pool's data about one worker, or about the whole account (`worker` is null). */
export const WorkerView = z.object({
  worker: z.string().nullable(),
  hashrate: figure,
  rejected: figure,
  balance: figure,
  lastShare: figure,
});
export type WorkerView = z.infer<typeof WorkerView>;

export const PoolFacts = z.array(WorkerView).max(5_000);
export type PoolFacts = z.infer<typeof PoolFacts>;

type PoolSource = SourceShape<PoolViewSettings, PoolFacts>;

const prefixes: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  p: 1e15,
  e: 1e18,
  z: 1e21,
};

const longestFigure = 80;

/** A number, or a text such as "1.23T" or "600 GH/s"; H/s. */
export function hashrateOf(value: unknown): number | null {
  const number = numberOf(value);
  if (number !== null) return number >= 0 ? number : null;
  const text = textOf(value);
  if (text.length > longestFigure) return null;
  const [, digits, prefix = ""] = /^(\d{1,15}(?:\.\d{1,15})?)\s*([kmgtpez]?)(?:h\/s|h)?$/i.exec(text.trim()) ?? [];
  return digits === undefined ? null : Number(digits) * (prefixes[prefix.toLowerCase()] ?? Number.NaN);
}

/** Epoch ms of epoch seconds or ms, or of ISO 8601; null if there was none. */
function timeOf(value: unknown): number | null {
  const number = numberOf(value);
  if (number !== null) return number < 1e9 ? null : number < 1e11 ? number * 1000 : number;
  const time = /^\d{4}-\d\d-\d\dT/.test(textOf(value)) ? Date.parse(textOf(value)) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

const count = (value: unknown): number | null => {
  const number = numberOf(value);
  return number !== null && number >= 0 ? number : null;
};

const requests: PoolSource["requests"] = ({ headers }, url) => [{ url, headers }];
const mostWorkers = 4_000;

/** ckpool and its kin: texts with K, M, G, T, P; seconds. */
const ckpool: PoolSource = {
  url: null,
  requests,
  read: ([answer]) => {
    const account = fieldsOf(answer);
    const view = (row: Readonly<Record<string, unknown>>, worker: string | null): WorkerView => ({
      worker,
      hashrate: hashrateOf(row.hashrate5m ?? row.hashrate1m ?? row.hashrate1hr),
      rejected: count(row.rejected),
      balance: count(row.balance),
      lastShare: timeOf(row.lastshare),
    });
    if (account.worker === undefined && account.hashrate5m === undefined && account.hashrate1m === undefined)
      return null;
    const workers = listOf(account.worker).slice(0, mostWorkers).map(fieldsOf);
    return [view(account, null), ...workers.map((row) => view(row, textOf(row.workername)))];
  },
};

/** public-pool: H/s, and a session for each connection of a worker. */
const publicPool: PoolSource = {
  url: null,
  requests,
  read: ([answer]) => {
    const { workers } = fieldsOf(answer);
    if (!Array.isArray(workers)) return null;
    const byName = new Map<string, WorkerView>();
    for (const row of workers.slice(0, mostWorkers).map(fieldsOf)) {
      const worker = textOf(row.name);
      const [hashrate, lastShare] = [hashrateOf(row.hashRate), timeOf(row.lastSeen)];
      const before = byName.get(worker);
      byName.set(worker, {
        worker,
        hashrate: hashrate === null ? (before?.hashrate ?? null) : hashrate + (before?.hashrate ?? 0),
        rejected: null,
        balance: null,
        lastShare: Math.max(lastShare ?? 0, before?.lastShare ?? 0) || null,
      });
    }
    return [...byName.values()];
  },
};

const units: Readonly<Record<PoolViewSettings["unit"], number>> = {
  "H/s": 1,
  "kH/s": 1e3,
  "MH/s": 1e6,
  "GH/s": 1e9,
  "TH/s": 1e12,
  "PH/s": 1e15,
};

/** Any other pool, by the paths in the configuration. */
const json: PoolSource = {
  url: null,
  requests,
  read: ([answer], { worker, name, hashrate, unit, rejected, balance, balanceFactor, lastShare }, remark) => {
    const at = (value: unknown, path: string | undefined): unknown =>
      path === undefined ? undefined : valueAt(value, path);
    const view = (row: unknown, who: string | null): WorkerView => {
      const rate = hashrateOf(at(row, hashrate));
      const coins = numberOf(at(row, balance));
      return {
        worker: who,
        hashrate: rate === null ? null : rate * units[unit],
        rejected: count(at(row, rejected)),
        balance: coins === null ? null : coins * balanceFactor,
        lastShare: timeOf(at(row, lastShare)),
      };
    };
    if (worker === undefined) {
      const one = view(answer, null);
      const isEmpty = [one.hashrate, one.rejected, one.balance].every((value) => value === null);
      if (isEmpty) remark("its answer has nothing at the paths of view");
      return isEmpty ? null : [one];
    }
    const rows = at(answer, worker);
    if (!Array.isArray(rows)) {
      remark(`its answer has no list at ${worker}`);
      return null;
    }
    return rows.slice(0, mostWorkers).map((row: unknown) => view(row, textOf(at(row, name))));
  },
};

export const poolViewSources: Readonly<Record<(typeof poolViewTypes)[number], PoolSource>> = {
  ckpool,
  "public-pool": publicPool,
  json,
};
