import type { Logger } from "pino";
import { Semaphore } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Access } from "../users/access.ts";
import { checkedTarget, sendWebRequest, type WebTarget } from "../web-request.ts";
import type { WebTargets } from "../web-targets.ts";
import type { WebRequest } from "./effects.ts";

/** Concurrent requests of limited users, and the length of their queue. */
const atOnce = 32;
const mostWaiting = 1_000;

/** Sends the web requests of steps. */
export class WebHooks {
  readonly #targets: WebTargets;
  readonly #log: Logger;
  readonly #slots = new Semaphore(atOnce);

  constructor(targets: WebTargets, log: Logger) {
    this.#targets = targets;
    this.#log = log;
  }

  /**
   * Sends the request of a step. Resolves with the status. Throws `service.refused` for any but 2xx, and like
   * `checkedTarget` and `sendWebRequest`. For a creator with limited access it resolves as soon as the request is sent:
   * neither the answer nor its delay may reveal what is in the network.
   */
  async post(request: WebRequest, maker: Pick<Access, "all">, signal: AbortSignal): Promise<string> {
    const target = await checkedTarget(request.url, {
      refusal: (url, addresses) => this.#targets.resolvedRefusal(url, addresses, maker),
      signal,
    });
    if (maker.all) return answerTo(target, request, signal);
    if (this.#slots.waiting >= mostWaiting)
      throw new RigbridgeError("too.many", `${mostWaiting} web hooks of limited users wait to be sent already`);
    this.#slots.enter(() =>
      answerTo(target, request, signal).then(
        (result) => this.#log.info({ result }, "a web hook of a limited user was sent"),
        (error: unknown) => this.#log.warn({ err: error }, "a web hook of a limited user failed"),
      ),
    );
    return "Sent";
  }
}

async function answerTo(
  target: WebTarget,
  { method, headers, body }: WebRequest,
  signal: AbortSignal,
): Promise<string> {
  const type = /^\s*[[{]/.test(body ?? "") ? "application/json" : "text/plain; charset=utf-8";
  const { status } = await sendWebRequest(target, {
    method,
    signal,
    isAnswerRead: false,
    headers: { ...(body === null ? {} : { "content-type": type }), ...lowerCase(headers) },
    body: body ?? undefined,
  });
  const { host } = target.url;
  if (status >= 200 && status < 300) return `${host} answered ${status}`;
  throw new RigbridgeError("service.refused", `${host} answered ${status}`);
}

/** Lower case, so that a header of the step replaces one of ours. */
const lowerCase = (headers: WebRequest["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
