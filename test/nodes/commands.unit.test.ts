import { expect, test } from "@jest/globals";
import { hindrance, hindranceCodes, offers } from "../../nodes/miner-action/commands.ts";
import { MessageQueue } from "../../nodes/shared/message-queue.ts";
import { type Miner, RigbridgeError } from "../../src/index.ts";
import { miner } from "../homebridge/miners.ts";
import { labelled } from "./english.ts";

test("every command and every reason against one has a label, and none is to spare", () => {
  const names = offers([], new Set()).map(({ value }) => value);
  expect(labelled("command")).toEqual([...names, "board"].toSorted());
  expect(labelled("hindrance")).toEqual(Object.keys(hindranceCodes).toSorted());
});

test("boards are offered by the slots that a miner has", () => {
  const control: Miner["controls"][number] = {
    key: "board_2",
    kind: "switch",
    unit: null,
    min: null,
    max: null,
    step: null,
    options: null,
    value: true,
    lasting: false,
    restartsMining: false,
    seconds: 1,
  };
  const names = offers([miner({ controls: [control] })], new Set(["minerAction"])).map(({ value }) => value);
  expect(names.filter((name) => name.startsWith("board"))).toEqual(["board_2"]);
});

test("a miner that has not answered yet, as while it restarts, is not said to lack what it cannot show", () => {
  const features = new Set(["minerAction"] as const);
  const why = (state: Partial<Miner>) => hindrance("restart", miner({ canRestart: false, ...state }), features);
  expect(why({ isOffline: false, hasValidStatus: false })).toEqual({ key: "silent", lasting: false });
  expect(why({ isOffline: false, hasValidStatus: true })).toEqual({ key: "no-control", lasting: true });
  expect(why({ isOffline: true, hasValidStatus: false })).toEqual({ key: "offline", lasting: false });
});

test("a queue passes messages in the order in which they came, even if one is evaluated more slowly or fails", async () => {
  const connected = () => {
    throw new RigbridgeError("service.not-ready", "not needed");
  };
  const options = { queue: "none", queueCount: 1, queueAge: 1 } as const;
  const queue = new MessageQueue(options, { phase: { kind: "connected" }, connected }, () => undefined);
  const slow = Promise.withResolvers<string>();
  const passed: string[] = [];
  const first = queue.pass(slow.promise).then((value) => passed.push(value));
  const second = queue.pass(Promise.reject(new Error("wrong field"))).catch(() => passed.push("failed"));
  const third = queue.pass(Promise.resolve("third")).then((value) => passed.push(value));
  await new Promise(setImmediate);
  expect(passed).toEqual([]);
  slow.resolve("first");
  await Promise.all([first, second, third]);
  expect(passed).toEqual(["first", "failed", "third"]);
});
