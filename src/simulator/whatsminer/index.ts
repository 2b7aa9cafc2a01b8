import { type HttpRequest, httpReply } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import type { Conversation, RigBody } from "../rig.ts";
import { whatsminerFrames } from "./frames.ts";
import { whatsminerRpc } from "./rpc.ts";
import { fresh, type WhatsminerOptions } from "./state.ts";

/**
 * A WhatsMiner (btminer): RPC in the dialect of its generation, which holds one connection at a time, frames from v3
 * on, and a web server that redirects to TLS. `compatible: false`: a v3 with its older API disabled.
 */
export function whatsminer(body: RigBody, options: WhatsminerOptions & { readonly compatible: boolean }): Conversation {
  const { compatible, ...own } = options;
  const rig = fresh(body, own);
  const rpc = compatible || own.generation !== "v3" ? { rpc: whatsminerRpc(rig), oneRpc: true as const } : {};
  const frames = own.generation === "v3" ? { frames: whatsminerFrames(rig) } : {};
  return { ...rpc, ...frames, http: toLuci };
}

const toLuci = ({ headers }: HttpRequest): Reply =>
  httpReply({
    status: 307,
    reason: "Temporary Redirect",
    headers: [`Location: https://${headers.get("host") ?? "miner"}/cgi-bin/luci`, "Content-Length: {length}"],
    body: "",
    close: true,
  });
