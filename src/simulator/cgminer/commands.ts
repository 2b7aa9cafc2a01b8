import * as bmminer from "./bmminer-reports.ts";
import * as pools from "./pools.ts";
import * as reports from "./reports.ts";
import { type Answer, type CgminerRig, type Command, status } from "./rig.ts";
import type { Writer } from "./writer.ts";

type Run = Command["run"];

const titled = (code: number, message: string, section: string, write: (out: Writer) => void): Answer => ({
  ...status("S", code, message),
  body: { section, numbered: false, write },
});

const numbered = (code: number, message: string, section: string, write: (out: Writer) => void): Answer => ({
  ...status("S", code, message),
  body: { section, numbered: true, write },
});

const one = (key: string, value: number) => (out: Writer) => {
  out.record();
  out.int(key, value);
};

const version: Run = ({ dialect }) =>
  titled(22, "CGMiner versions", "VERSION", (out) => {
    out.record();
    for (const [key, value] of Object.entries(dialect.version)) out.text(key, value);
  });

const summary: Run = ({ model, dialect }) =>
  titled(11, "Summary", "SUMMARY", (out) =>
    dialect.bitmain ? bmminer.summary(out, model, dialect) : reports.summary(out, model, dialect),
  );

const poolList: Run = ({ model, dialect }) =>
  numbered(7, `${model.pools.length} Pool(s)`, "POOLS", (out) =>
    dialect.bitmain ? bmminer.pools(out, model) : reports.pools(out, model, dialect),
  );

const devices = ({ model, dialect }: CgminerRig): Answer => {
  if (dialect.bitmain) return numbered(9, "1 ASC(s)", "DEVS", (out) => bmminer.devices(out, model));
  const { boards } = model.hardware;
  return numbered(9, `${boards} ${dialect.device}(s)`, "DEVS", (out) => {
    for (let board = 0; board < boards; board++) reports.device(out, model, dialect, board);
  });
};

const stats: Run = ({ model, dialect }) =>
  numbered(70, "CGMiner stats", "STATS", (out) =>
    dialect.bitmain ? bmminer.stats(out, model, dialect) : reports.stats(out, model),
  );

const check: Run = (rig, parameter) => {
  if (parameter === null) return status("E", 71, "Missing check cmd");
  const command = rig.dialect.lacks.has(parameter) ? undefined : commands.get(parameter);
  const access = command !== undefined && (!command.privileged || rig.may(parameter));
  return titled(72, "Check command", "CHECK", (out) => {
    out.record();
    out.text("Exists", command === undefined ? "N" : "Y");
    out.text("Access", access ? "Y" : "N");
  });
};

/** Runs with the number of a board, parsed as in C: text that is not a number is 0. */
const onBoard =
  (act: (rig: CgminerRig, board: number) => Answer): Run =>
  (rig, parameter) => {
    const { device } = rig.dialect;
    if (parameter === null) return status("E", 15, `Missing device id parameter`);
    const board = Number.parseInt(parameter, 10) || 0;
    const last = rig.model.hardware.boards - 1;
    if (board < 0 || board > last) return status("E", 107, `Invalid ${device} id ${board} - range is 0 - ${last}`);
    return act(rig, board);
  };

const oneDevice = (code: number): Run =>
  onBoard(({ model, dialect }, board) =>
    numbered(code, `${dialect.device}${board}`, dialect.device, (out) => reports.device(out, model, dialect, board)),
  );

const enableBoard = onBoard(({ model }, board) => {
  if (!model.boardsOff.has(board)) return status("I", 108, `ASC ${board} already enabled`);
  model.change(() => model.boardsOff.delete(board));
  return status("S", 110, `ASC ${board} sent enable message`);
});

const disableBoard = onBoard(({ model }, board) => {
  if (model.boardsOff.has(board)) return status("I", 109, `ASC ${board} already disabled`);
  model.change(() => model.boardsOff.add(board));
  return status("S", 111, `ASC ${board} set disable flag`);
});

const enableCard = onBoard(({ model }, card) => {
  if (!model.boardsOff.has(card)) return status("I", 2, `GPU ${card} already enabled`);
  model.change(() => model.boardsOff.delete(card));
  return status("S", 5, `GPU ${card} sent enable message`);
});

const disableCard = onBoard(({ model }, card) => {
  if (model.boardsOff.has(card)) return status("I", 3, `GPU ${card} already disabled`);
  model.change(() => model.boardsOff.add(card));
  return status("S", 47, `GPU ${card} set disable flag`);
});

/** Of the second algorithm, where there is one. */
const dual =
  (report: (rig: CgminerRig, algorithm: string) => Answer): Run =>
  (rig) =>
    rig.dualAlgorithm === null
      ? { status: "E", code: 14, message: "Invalid command", bare: true }
      : report(rig, rig.dualAlgorithm);

const zero: Run = ({ model }, parameter) => {
  const [what = "", withSummary = ""] = (parameter ?? "").split(",");
  if (what === "") return status("E", 94, "Missing zero parameters");
  const all = what.toLowerCase() === "all";
  if (all) model.change(() => model.zero());
  const how = withSummary.toLowerCase() === "true" ? "with" : "without";
  return status("S", how === "with" ? 96 : 97, `Zeroed ${all ? "All" : "BestShare"} stats ${how} summary`);
};

const save: Run = (rig, parameter) => {
  rig.savedPools = rig.model.pools.map((pool) => ({ ...pool }));
  return status("S", 44, `Configuration saved to file '${parameter ?? "cgminer.conf"}'`);
};

/** Restarts with the initial or saved pools: unsaved changes of pools are lost. */
const restart: Run = (rig) => {
  rig.model.change((model) => {
    model.pools = rig.savedPools.map((pool) => ({ ...pool }));
    model.boardsOff.clear();
  });
  rig.model.restart(rig.body.restartSeconds);
  return rig.dialect.quit === "text" ? "RESTART" : status("S", 258, "RESTART");
};

const quit: Run = (rig) => {
  rig.body.quit();
  return rig.dialect.quit === "text" ? "BYE" : status("S", 257, "BYE");
};

const debugFlags = ["Silent", "Quiet", "Verbose", "Debug", "RPCProto", "PerDevice", "WorkTime"];

const debug: Run = () =>
  titled(79, "Debug settings", "DEBUG", (out) => {
    out.record();
    for (const flag of debugFlags) out.flag(flag, false);
  });

const open = (run: Run): Command => ({ privileged: false, writes: false, run });
const guarded = (run: Run): Command => ({ privileged: true, writes: true, run });

/** All commands by name. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["version", open(version)],
  ["summary", open(summary)],
  ["pools", open(poolList)],
  ["devs", open(devices)],
  ["edevs", open(devices)],
  ["stats", open(stats)],
  ["estats", open(() => numbered(70, "CGMiner stats", "STATS", () => {}))],
  [
    "devdetails",
    open(({ model, dialect }) =>
      numbered(69, "Device Details", "DEVDETAILS", (out) => reports.deviceDetails(out, model, dialect)),
    ),
  ],
  ["notify", open(({ model }) => numbered(60, "Notify", "NOTIFY", (out) => reports.notify(out, model)))],
  [
    "config",
    open(({ model, dialect }) => titled(33, "CGMiner config", "CONFIG", (out) => reports.config(out, model, dialect))),
  ],
  ["coin", open(({ model }) => titled(78, "CGMiner coin", "COIN", (out) => reports.coin(out, model)))],
  ["lcd", open(({ model }) => titled(125, "LCD", "LCD", (out) => reports.lcd(out, model)))],
  ["usbstats", open(() => status("I", 88, "No USB Statistics"))],
  ["check", open(check)],
  ["asc", open(oneDevice(106))],
  ["pga", open(oneDevice(17))],
  ["gpu", open(oneDevice(17))],
  ["gpucount", open(({ model }) => titled(20, "GPU count", "GPUS", one("Count", model.hardware.boards)))],
  [
    "summary2",
    open(
      dual(({ model, dialect }) => titled(11, "Summary", "SUMMARY", (out) => reports.dualSummary(out, model, dialect))),
    ),
  ],
  ["devs2", open(dual(devices))],
  [
    "pools2",
    open(
      dual(({ model }, algorithm) =>
        numbered(7, "1 Pool(s)", "POOLS", (out) => reports.dualPools(out, model, algorithm)),
      ),
    ),
  ],
  ["asccount", open(({ model }) => titled(104, "ASC count", "ASCS", one("Count", model.hardware.boards)))],
  [
    "pgacount",
    open(({ model, dialect }) =>
      titled(59, "PGA count", "PGAS", one("Count", dialect.device === "PGA" ? model.hardware.boards : 0)),
    ),
  ],
  ["privileged", { privileged: true, writes: false, run: () => status("S", 46, "Privileged access OK") }],
  ["lockstats", { privileged: true, writes: false, run: () => status("W", 124, "Lock stats not enabled") }],
  ["debug", guarded(debug)],
  ["addpool", guarded(pools.add)],
  ["switchpool", guarded(pools.switchTo)],
  ["enablepool", guarded(pools.enable)],
  ["disablepool", guarded(pools.disable)],
  ["removepool", guarded(pools.remove)],
  ["poolpriority", guarded(pools.prioritize)],
  ["poolquota", guarded(pools.setQuota)],
  ["ascenable", guarded(enableBoard)],
  ["ascdisable", guarded(disableBoard)],
  ["gpuenable", guarded(enableCard)],
  ["gpudisable", guarded(disableCard)],
  ["gpurestart", guarded(onBoard((_, card) => status("S", 18, `GPU ${card} attempting restart`)))],
  ["ascidentify", guarded(onBoard((_, board) => status("S", 113, `Identify command sent to ASC${board}`)))],
  ["ascset", guarded(onBoard((_, board) => status("W", 117, `ASC ${board} does not support ascset`)))],
  ["failover-only", guarded((_, parameter) => status("E", 127, `Deprecated config option '${parameter ?? ""}'`))],
  ["setconfig", guarded((_, parameter) => status("E", 83, `Unknown config '${parameter ?? ""}'`))],
  ["hotplug", guarded((_, parameter) => status("S", 100, `Hotplug check set to ${parameter ?? "0"}s`))],
  ["zero", guarded(zero)],
  ["save", guarded(save)],
  ["restart", guarded(restart)],
  ["quit", guarded(quit)],
]);
