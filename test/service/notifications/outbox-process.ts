import { openStore } from "../../../src/store/index.ts";
import { offline, openOutboxRun } from "./outbox-run.ts";

/** A process that raises a notification for two channels, whose server never answers, and waits to be killed. */
const [file = "", url = ""] = process.argv.slice(2);
const store = await openStore({ file, now: Date.now });
const run = await openOutboxRun(
  [
    { key: "phone", type: "ntfy", url, topic: "farm" },
    { key: "room", type: "matrix", url, token: "t", room: "!r:e" },
  ],
  store,
);
run.notices.raise(offline(1));
run.clock.now += 30_000;
await run.outbox.turn();
