import { jestExpect } from "@jest/expect";
import { ModernFakeTimers } from "@jest/fake-timers";
import type { Config } from "@jest/types";
import { ModuleMocker } from "jest-mock";

/** `@jest/globals` in a test process. `jest` has what works without a module registry. */
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from "jest-circus";
export const expect = jestExpect;

const mocker = new ModuleMocker(globalThis);
let timers: ModernFakeTimers | null = null;

export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  replaceProperty: mocker.replaceProperty.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (options?: Config.FakeTimersConfig) => theTimers().useFakeTimers(options),
  useRealTimers: () => theTimers().useRealTimers(),
  advanceTimersByTime: (ms: number) => theTimers().advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms: number) => theTimers().advanceTimersByTimeAsync(ms),
  setSystemTime: (now: number | Date) => theTimers().setSystemTime(now),
};

/** Called before the first file of the process. */
export function useConfig(config: Config.ProjectConfig): void {
  timers ??= new ModernFakeTimers({ config, global: globalThis });
}

function theTimers(): ModernFakeTimers {
  if (timers === null) throw new Error("Fake timers exist only while a test file runs.");
  return timers;
}
