import { request } from "../../api.ts";
import { t } from "../../language.ts";

/** The answer of GET /health. */
export interface Health {
  readonly status: string;
  readonly mqtt?: { readonly state: string; readonly detail: string | null };
}

export const health = async (signal: AbortSignal): Promise<Health> =>
  (await request("GET", "health", undefined, { signal })).json();

export const mqttWord = (state: string): string =>
  Object.entries(t.settings.mqtt).find(([each]) => each === state)?.[1] ?? state;
