import type { NodeAPI } from "node-red";
import { z } from "zod";
import { readConfig } from "../shared/config.ts";
import { askedAt, serve } from "../shared/endpoints.ts";
import { Fault } from "../shared/faults.ts";
import { wordsOf } from "../shared/words.ts";
import { editorLists, isListName } from "./editor-lists.ts";
import { readSecrets, type Secrets, serviceConfig } from "./settings.ts";
import { tried } from "./trial.ts";

const read = "rigbridge-service.read";
const write = "rigbridge-service.write";

/** What the editor shows for a secret that is kept, and sends back when nobody has typed another. */
const kept = "__PWRD__";

const Trial = z.object({
  id: z.string(),
  config: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.string()),
});

/** What the editor asks of services: those there are, whether one works, and what it has. */
export function serveEditor(RED: NodeAPI): void {
  const say = wordsOf(RED);
  serve(RED, "get", "/rigbridge/found", read, async () => {
    const { findServices } = await import("rigbridge/discovery");
    return findServices({ signal: AbortSignal.timeout(10_000), timeoutMs: 2_000 });
  });
  serve(RED, "post", "/rigbridge/test", write, async ({ body }) => {
    const { data } = Trial.safeParse(body);
    if (data === undefined) throw new Fault("input.invalid", "internal", { why: "POST {id, config, secrets}" });
    const settings = readConfig(serviceConfig, data.config);
    return tried(settings, secretsOf(RED, data.id, data.secrets), say);
  });
  serve(RED, "get", "/rigbridge/services/:id/:list", read, async ({ params: { id, list } }) => {
    if (typeof list !== "string" || !isListName(list)) throw new Fault("not.found", "no-list");
    return editorLists[list](await askedAt(RED, id));
  });
}

/** As typed, and as kept where nothing was. */
function secretsOf(RED: NodeAPI, id: string, typed: Readonly<Record<string, string>>): Secrets {
  const known: unknown = RED.nodes.getCredentials(id);
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== kept));
  return readSecrets({ ...z.record(z.string(), z.unknown()).safeParse(known).data, ...given });
}
