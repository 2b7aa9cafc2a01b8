import { type Dialect, dialects } from "../cgminer/dialects.ts";
import { cgminer } from "../cgminer/index.ts";
import { objectIn } from "../json.ts";
import { noHead, type Reply, rpcReply } from "../reply.ts";
import type { Conversation, RigBody } from "../rig.ts";
import { type AntminerModel, antminerModels } from "./models.ts";
import { oldStats, stats } from "./reports.ts";
import { type AntminerOptions, type AntminerRig, isSilent, settled } from "./state.ts";
import { answerWeb } from "./web.ts";

/**
 * Bitmain's firmware: a read-only RPC, and a web interface of CGI pages with a digest login. A change of the
 * configuration restarts the mining program, which then does not answer for a while. `firmware`: of another maker, with the
 * same pages.
 */
export function antminer(
  body: RigBody,
  options: AntminerOptions,
  firmware: Partial<Pick<Dialect, "version" | "powers">> = {},
): Conversation {
  const kind: AntminerModel = antminerModels[options.model];
  const config = { mode: 0, fan: null };
  const rig: AntminerRig = { body, kind, options, config, blinks: false, silentUntil: 0 };
  const dialect = {
    ...dialects.bmminer,
    version: { ...dialects.bmminer.version, Miner: kind.miner, CompileTime: kind.compiled, Type: kind.type },
    ...firmware,
  };
  const bmminer = cgminer(body, { dialect, privileged: false }).rpc ?? (() => null);
  return {
    ...(options.speaks === "web" ? {} : { rpc: (request: string) => answerRpc(rig, request, bmminer) }),
    ...(options.speaks === "rpc" ? {} : { http: (request) => answerWeb(settled(rig), request) }),
  };
}

function answerRpc(rig: AntminerRig, request: string, bmminer: (request: string) => Reply | null): Reply | null {
  if (isSilent(settled(rig))) return { head: noHead, body: "", tail: "", times: 1, close: true };
  const wanted = objectIn(request);
  const { old } = rig.kind;
  if (wanted?.command !== "stats") return bmminer(request);
  if (old !== null) return rpcReply(oldStats(rig, old));
  return wanted.new_api === true ? rpcReply(JSON.stringify(stats(rig))) : bmminer(request);
}
