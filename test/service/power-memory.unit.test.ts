import { expect, test } from "@jest/globals";
import { type Control, unknownReadings } from "../../src/contract/readings.ts";
import { trigger } from "../../src/link/controls.ts";
import { blank, learnedDraw } from "../../src/service/power/power-memory.ts";

const lasting = { lasting: true, restartsMining: true, seconds: 60 };
const mode: Control = { ...trigger("mode", lasting), kind: "choice", value: "low", options: ["normal", "low"] };

const learned = (powerSource: "measured" | "nameplate") => {
  const settled = { power: 3250, powerSource, mining: true, hashrate: 100e12, uptime: 3600 };
  return learnedDraw(blank, {
    readings: { ...unknownReadings(), ...settled },
    controls: [mode],
    pools: [],
    devices: [],
  });
};

test("a measured draw is that of the mode, too", () => {
  expect(learned("measured")).toEqual({ full: 3250, modes: { low: 3250 } });
});

test("a nameplate does not give the draw of a mode", () => {
  expect(learned("nameplate")).toEqual({ full: 3250 });
});
