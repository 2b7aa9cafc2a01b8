import * as bmminer from "../cgminer/bmminer-reports.ts";
import { dialects } from "../cgminer/dialects.ts";
import { shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import { JsonWriter } from "../cgminer/writer.ts";
import { objectIn } from "../json.ts";
import { type Reply, rpcReply } from "../reply.ts";
import type { VnishRig } from "./rig.ts";

const description = "cgminer 4.11.1";

/** The part of the stock RPC that VNish keeps, without writes; `version` only before 1.3. */
export function rpcAnswer(rig: VnishRig, text: string): Reply {
  const command = String(objectIn(text)?.command);
  const when = Math.floor(rig.model.at / 1000);
  const status = (letter: string, code: number, words: string) => [
    { STATUS: letter, When: when, Code: code, Msg: words, Description: description },
  ];
  const report = reports.get(command);
  if (report === undefined || (command === "version" && rig.isNew)) {
    return rpcReply(JSON.stringify({ STATUS: status("E", 14, "Invalid command"), id: 1 }));
  }
  return rpcReply(JSON.stringify({ STATUS: status("S", report.code, report.words), ...report.sections(rig), id: 1 }));
}

interface RpcReport {
  readonly code: number;
  readonly words: string;
  readonly sections: (rig: VnishRig) => object;
}

const typeOf = (rig: VnishRig): object => ({
  Miner: "uart_trans.1.3",
  CompileTime: "Sat Jun 24 11:17:59 UTC 2023",
  Type: `${rig.model.hardware.model} (Vnish ${rig.version})`,
});

const written = (write: (out: JsonWriter) => void): unknown => {
  const out = new JsonWriter();
  write(out);
  return JSON.parse(`[${out.end()}]`);
};

function statistics(rig: VnishRig): object {
  const { model } = rig;
  const { boards, chips, fans } = model.hardware;
  const chains = Array.from({ length: boards }, (_, board) => board).flatMap((board): [string, unknown][] => {
    const hot = Math.round(temperatureOfBoard(model, board));
    const share = shareOfBoard(model, board);
    return [
      [`chain_state${board + 1}`, model.hashing ? "mining" : "stopped"],
      [`chain_acn${board + 1}`, chips],
      [`chain_acs${board + 1}`, "o".repeat(chips)],
      [`chain_rate${board + 1}`, Number(((model.hashrate(5) * share) / 1e9).toFixed(2))],
      [`chain_vol${board + 1}`, Math.round(model.voltage * 1000)],
      [`chain_hw${board + 1}`, 0],
      [`chain_consumption${board + 1}`, Math.round(model.power / boards)],
      [`freq_avg${board + 1}`, (model.frequency * model.level) / 1e6],
      [`temp_pcb${board + 1}`, `${hot - 20}-${hot}`],
      [`temp_chip${board + 1}`, `${hot - 5}-${hot + 15}`],
    ];
  });
  return {
    ID: "BTM_SIM",
    Elapsed: Math.floor(model.elapsed),
    "GHS 5s": (model.hashrate(5) / 1e9).toFixed(2),
    "GHS av": model.averageHashrate / 1e9,
    total_rateideal: model.ratedHashrate / 1e9,
    state: rig.state,
    fan_num: fans,
    fan_pwm: Math.round(model.fan * 100),
    ...Object.fromEntries(Array.from({ length: fans }, (_, fan) => [`fan${fan + 1}`, model.fanRpm])),
    ...Object.fromEntries(chains),
    build_version: rig.version,
  };
}

const reports: ReadonlyMap<string, RpcReport> = new Map<string, RpcReport>([
  [
    "version",
    {
      code: 22,
      words: "CGMiner versions",
      sections: (rig) => ({ VERSION: [{ CGMiner: "4.11.1", API: "3.7", ...typeOf(rig) }] }),
    },
  ],
  [
    "summary",
    {
      code: 11,
      words: "Summary",
      sections: ({ model }) => ({ SUMMARY: written((out) => bmminer.summary(out, model, dialects.bmminer)) }),
    },
  ],
  [
    "pools",
    { code: 7, words: "Pool(s)", sections: ({ model }) => ({ POOLS: written((out) => bmminer.pools(out, model)) }) },
  ],
  ["stats", { code: 70, words: "CGMiner stats", sections: (rig) => ({ STATS: [typeOf(rig), statistics(rig)] }) }],
]);
