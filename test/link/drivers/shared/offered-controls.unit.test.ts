import { expect, jest, test } from "@jest/globals";
import { toggle } from "../../../../src/link/controls.ts";
import { OfferedControls } from "../../../../src/link/drivers/shared/offered-controls.ts";

const signal = new AbortController().signal;
const mining = {
  control: toggle("mining", true, { lasting: false, restartsMining: false, seconds: 5 }),
  set: async (on: unknown) => `mining is ${on}`,
};

test("the rig is read only where it was not read before", async () => {
  const offered = new OfferedControls();
  const read = jest.fn(async (): Promise<never> => {
    offered.offer([mining]);
    return undefined as never;
  });
  expect(await offered.set({ read }, "mining", false, signal)).toBe("mining is false");
  expect(await offered.has({ read }, "fan", signal)).toBe(false);
  expect(read).toHaveBeenCalledTimes(1);
});

test("what the last read did not offer is absent, and what does not fit is refused", async () => {
  const offered = new OfferedControls();
  const rig = { read: () => Promise.reject(new Error("not expected")) };
  expect(offered.offer([mining])).toEqual([mining.control]);
  await expect(offered.set(rig, "reboot", null as never, signal)).rejects.toMatchObject({ code: "control.absent" });
  await expect(offered.set(rig, "mining", 5, signal)).rejects.toMatchObject({ code: "input.invalid" });
});
