import { afterEach, expect, test } from "@jest/globals";
import type { CodedText } from "../../src/contract/coded-text.ts";
import { englishOf } from "../../src/messages/detail.ts";
import { closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** What a client makes of a code with the English texts. */
const english = (coded: CodedText | null | undefined): string | undefined =>
  coded == null ? undefined : englishOf(coded);

test("the reason of a rig has a code with the same English text, also after a restart", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
  const id = await bench.add(bench.rig(0).address);
  bench.rig(0).powerOff();
  for (let read = 0; read < 8; read += 1) await bench.poll(id);
  const away = (await bench.get(id)).readings.reason;
  expect(away?.text).toMatch(/connection refused/);
  expect(english(away?.coded)).toBe(away?.text);
  await bench.restart();
  for (let read = 0; read < 8; read += 1) await bench.poll(id);
  const again = (await bench.get(id)).readings.reason;
  expect(english(again?.coded)).toBe(again?.text);
});
