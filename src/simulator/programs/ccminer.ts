import { type Reply, rpcReply } from "../reply.ts";
import { type Conversation, logWrite } from "../rig.ts";
import type { Program, VirtualGpu } from "./program.ts";

/**
 * The text API of ccminer 2.3.1; `older` is CryptoDredge's subset of it, and on a processor it is cpuminer-opt's. An unknown
 * command closes the connection without an answer.
 */
export function ccminer(program: Program): Conversation {
  const commands = commandsOf(program);
  return {
    rpc: (request) => {
      program.model.advance();
      const [name = "", parameter = ""] = request.split("|");
      const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
      return command === undefined ? closed : rpcReply(command(parameter));
    },
  };
}

const closed: Reply = { head: () => "", body: "", tail: "", times: 1, close: true };

type Commands = Readonly<Record<string, (parameter: string) => string>>;

function commandsOf(program: Program): Commands {
  const { body, model } = program;
  const reads: Commands = { summary: () => summary(program), threads: () => threads(program) };
  if (program.options.older === true) return reads;
  const write =
    (name: string, act: (parameter: string) => string) =>
    (parameter: string): string => {
      logWrite(body.requests, parameter === "" ? name : `${name}|${parameter}`);
      return program.isReadOnly ? "" : act(parameter);
    };
  const quit = write("quit", () => {
    body.quit();
    return "bye|";
  });
  if (isProcessor(program)) return { ...reads, quit, help: () => "summary\nthreads\nseturl\nquit\n|" };
  const writes = program.isReadOnly ? "" : "seturl\nswitchpool\nquit\n";
  return {
    ...reads,
    quit,
    pool: (parameter) => pool(program, parameter),
    switchpool: write("switchpool", (parameter) => {
      const chosen = model.pools[Number.parseInt(parameter, 10) || 0];
      if (chosen === undefined) return "fail|";
      model.change(() => {
        for (const each of model.pools) each.priority = each === chosen ? 0 : 1 + model.pools.indexOf(each);
      });
      return "ok|";
    }),
    help: () => `summary\nthreads\npool\nhisto\nhwinfo\nmeminfo\nscanlog\n${writes}|`,
  };
}

const isProcessor = ({ model }: Program): boolean => model.hardware.model.includes("Processor");

const seconds = (ms: number): number => Math.floor(ms / 1000);

function summary(program: Program): string {
  const { model, algorithm, gpus, uptime } = program;
  const { accepted, rejected } = model.shares;
  const rate = model.hashrate();
  const perMinute = uptime === 0 ? 0 : (60 * accepted) / uptime;
  const difficulty = (model.activePool?.difficulty ?? 0).toFixed(6);
  if (isProcessor(program)) {
    const place = (model.activePool?.url ?? "").replace(/^.*:\/\//, "");
    return (
      `NAME=cpuminer-opt;VER=26.1;API=1.0;ALGO=${algorithm};CPUS=${model.hardware.chips};URL=${place};` +
      `HS=${rate.toFixed(2)};KHS=${(rate / 1e3).toFixed(2)};ACC=${accepted};REJ=${rejected};SOL=0;` +
      `ACCMN=${perMinute.toFixed(3)};DIFF=${difficulty};TEMP=${model.temperature.toFixed(1)};FAN=0;FREQ=3900000;` +
      `UPTIME=${uptime};TS=${seconds(model.at)}|`
    );
  }
  const [name, version] = program.options.older === true ? ["CryptoDredge", "0.26.0"] : ["ccminer", "2.3.1"];
  const pools = program.options.older === true ? "" : `POOLS=${model.pools.length};WAIT=0;`;
  return (
    `NAME=${name};VER=${version};API=1.9;ALGO=${algorithm};GPUS=${gpus.length};KHS=${(rate / 1e3).toFixed(2)};` +
    `SOLV=0;ACC=${accepted};REJ=${rejected};ACCMN=${perMinute.toFixed(3)};DIFF=${difficulty};NETKHS=0;${pools}` +
    `UPTIME=${uptime};TS=${seconds(model.at)}|`
  );
}

function threads(program: Program): string {
  const { model, gpus } = program;
  if (!isProcessor(program)) return gpus.map((gpu) => thread(gpu)).join("");
  const { chips } = model.hardware;
  const each = (model.hashrate() / chips / 1e3).toFixed(2);
  return Array.from({ length: chips }, (_, index) => `CPU=${index};kH/s=${each}|`).join("");
}

/** Power in mW, clocks in MHz. */
const thread = (gpu: VirtualGpu): string =>
  `GPU=${gpu.index};BUS=${gpu.bus};CARD=${gpu.name};TEMP=${gpu.temperature.toFixed(1)};` +
  `POWER=${Math.round(gpu.power * 1e3)};FAN=${gpu.fanPercent};RPM=${gpu.fanRpm};` +
  `FREQ=1725;MEMFREQ=7001;GPUF=${Math.round(gpu.clock / 1e6)};MEMF=${Math.round(gpu.memoryClock / 1e6)};` +
  `KHS=${(gpu.hashrate / 1e3).toFixed(2)};KHW=0.00000;PLIM=220000;` +
  `ACC=${gpu.accepted};REJ=${gpu.rejected};HWF=0;I=20.0;THR=1048576|`;

/** The pool in use, or the one with an index, which counts from the first again beyond the last. */
function pool({ model, algorithm, uptime }: Program, parameter: string): string {
  const index = Number.parseInt(parameter, 10) || 0;
  const chosen = parameter === "" ? model.activePool : model.pools[index % model.pools.length];
  if (chosen === undefined || chosen === null) return "";
  const { accepted, rejected } = model.sharesOf(chosen);
  const name = chosen.url.replace(/^.*:\/\//, "");
  return (
    `POOL=${name};ALGO=${algorithm};URL=${chosen.url};USER=${chosen.user};SOLV=0;ACC=${accepted};REJ=${rejected};` +
    `STALE=0;H=880000;JOB=1a2b;DIFF=${chosen.difficulty.toFixed(6)};BEST=0.000000;N2SZ=4;N2=0x00000000;PING=38;` +
    `DISCO=0;WAIT=0;UPTIME=${uptime};LAST=3|`
  );
}
