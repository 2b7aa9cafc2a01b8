import type { z } from "zod";
import { startTwin, type Twin, type TwinOptions } from "../../../src/simulator/index.ts";
import { onTestFinished } from "../../finished.ts";
import { type Miner, MinerDetail, MinerList, minersIn, Summary } from "./shapes.ts";

export const first = 1_000_000_001;

/** A twin with its own clock, closed after the test. */
export interface Bench {
  readonly twin: Twin;
  pass(seconds: number): void;
  get<T>(path: string, shape: z.ZodType<T>): Promise<T>;
  /** The status and the body. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  miner(id: number): Promise<Miner>;
  miners(query?: string): Promise<Miner[]>;
  summary(query?: string): Promise<z.infer<typeof Summary>>;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export async function bench(options: TwinOptions = {}): Promise<Bench> {
  let now = Date.UTC(2026, 5, 1, 12);
  const twin = await startTwin({ miners: 12, timeZone: "UTC", clock: () => now, ...options });
  onTestFinished(() => twin.close());
  const ask: Bench["ask"] = async (method, path, body, headers = {}) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(twin.url + path, { method, headers: { ...type, ...headers }, ...json });
    return { status: response.status, type: response.headers.get("content-type") ?? "", text: await response.text() };
  };
  const get: Bench["get"] = async (path, shape) => {
    const { status, text } = await ask("GET", path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return shape.parse(JSON.parse(text));
  };
  return {
    twin,
    ask,
    get,
    pass: (seconds) => {
      now += seconds * 1000;
    },
    miner: async (id) => {
      const { metaData, ...miner } = await get(`/api/miners/${id}`, MinerDetail);
      return miner;
    },
    miners: async (query = "") => minersIn((await get(`/api/miners${query}`, MinerList)).groupList),
    summary: (query = "") => get(`/api/summary${query}`, Summary),
  };
}
