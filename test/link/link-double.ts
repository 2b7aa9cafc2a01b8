import { RigbridgeError } from "../../src/contract/problems.ts";
import { RigFirmware } from "../../src/link/firmware.ts";
import type { Link } from "../../src/link/link.ts";
import { Pace } from "../../src/link/pace.ts";

const close = (): void => {};
const unreachable = async (): Promise<never> => Promise.reject(new RigbridgeError("rig.unreachable", "nothing"));

/** A link without a rig behind it: what is not given here answers nothing. */
export const linkOf = (answers: {
  readonly credentials?: Link["credentials"];
  readonly now?: () => number;
  readonly rpc?: Partial<Link["rpc"]>;
  readonly frames?: Partial<Link["frames"]>;
  readonly http?: Partial<Link["http"]>;
  readonly lines?: Partial<Link["lines"]>;
}): Link => {
  const http = { at: "rig:80", getJson: unreachable, send: unreachable, call: unreachable, close, ...answers.http };
  return {
    credentials: answers.credentials ?? {},
    knownControls: [],
    knownFans: 0,
    wasRead: false,
    pace: new Pace(5_000),
    firmware: new RigFirmware(),
    monotonicNow: () => performance.now(),
    now: answers.now ?? Date.now,
    rpc: { at: "rig:4028", send: unreachable, ask: unreachable, close, ...answers.rpc },
    frames: { at: "rig:4433", ask: unreachable, close, ...answers.frames },
    http,
    httpOn: () => http,
    lines: { at: "rig:3333", ask: unreachable, text: unreachable, close, ...answers.lines },
  };
};
