import { Problem } from "./api.ts";

/** ms to wait where the service asks for fewer requests. */
const restMs = 1_000;

/** Sends one of many requests, again as often as the service asks for fewer of them. */
export async function patiently<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Problem && error.status === 429)) throw error;
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}
