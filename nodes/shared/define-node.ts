import type { Node, NodeAPI, NodeDef, NodeMessage } from "node-red";
import { RigFaults } from "rigbridge/farm";
import { type Clock, clockFor } from "./clock.ts";
import { type ConfigKind, readConfig } from "./config.ts";
import type { FarmConnection, Member } from "./farm-connection.ts";
import { type Say, spoken } from "./faults.ts";
import { NodeStatus } from "./node-status.ts";
import { OfflineQueue, type OfflineQueueOptions } from "./offline-queue.ts";
import { connectionFor } from "./services.ts";
import { seldom } from "./throttled-log.ts";
import { fieldValue, type TypedField } from "./typed-value.ts";
import { wordsOf } from "./words.ts";

/** A kind of node over a service. */
export interface NodeKind<C extends { readonly service: string }> extends ConfigKind<C> {
  readonly type: string;
  /** Throws a Fault where the configuration is a mistake. */
  start(work: Work<C>): Running;
}

/** What a node does once it is deployed. */
export interface Running {
  /** Of the service, from now until the node closes. */
  readonly member?: Member;
  /** One message. What it throws reaches Catch, with its code; what it sends is sent as long as the node lives. */
  input?(msg: NodeMessage, send: Send): Promise<void>;
  close?(): void;
}

export type Send = (msg: NodeMessage | (NodeMessage | null)[]) => void;

/** What a node works with. */
export interface Work<C> {
  readonly RED: NodeAPI;
  readonly node: Node;
  readonly config: C;
  readonly connection: FarmConnection;
  readonly status: NodeStatus;
  readonly say: Say;
  /** Aborted when the node closes. */
  readonly signal: AbortSignal;
  /** What fails in its time is shown at the node, and ends nothing. */
  readonly clock: Clock;
  /** For what is done for one rig alone. */
  readonly faults: RigFaults;
  /** The same text once in a minute. */
  warn(text: string): void;
  /** What a typed field comes to for a message. */
  value(field: TypedField, msg: NodeMessage): Promise<unknown>;
  /** Where messages wait while the service is away; passed on and closed with the node. */
  queue(options: OfflineQueueOptions): OfflineQueue;
}

/** Registers a kind of node with Node-RED. */
export function defineNode<C extends { readonly service: string }>(RED: NodeAPI, kind: NodeKind<C>): void {
  RED.nodes.registerType(kind.type, function (this: Node, raw: NodeDef) {
    RED.nodes.createNode(this, raw);
    const say = wordsOf(RED);
    try {
      run(RED, this, kind, readConfig(kind, { ...raw }), say);
    } catch (error) {
      standStill(this, spoken(error, say));
    }
  });
}

/** A node whose configuration is a mistake says so to every message; the flow goes on. */
function standStill(node: Node, failure: Error): void {
  node.status({ fill: "red", shape: "dot", text: failure.message.slice(0, 80) });
  node.warn(failure.message);
  node.on("input", (_msg, _send, done) => done(failure));
}

function run<C extends { readonly service: string }>(
  RED: NodeAPI,
  node: Node,
  kind: NodeKind<C>,
  config: C,
  say: Say,
): void {
  const connection = connectionFor(RED, config.service);
  const closing = new AbortController();
  const { signal } = closing;
  const status = new NodeStatus({ show: (shown) => node.status(shown), say, now: Date.now });
  const report = seldom((text) => node.error(text), 60_000, Date.now);
  // There is no message whose Catch nodes could hear of it; thrown further, it would end Node-RED or keep other nodes
  // from what they are told.
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      const { message } = spoken(error, say);
      status.failed(message);
      report(message);
    }
  };
  const queues: OfflineQueue[] = [];
  const running = kind.start({
    ...{ RED, node, config, connection, status, say, signal },
    clock: clockFor(attempt),
    faults: new RigFaults({ error: ({ err }, text) => node.error(`${text}: ${String(err)}`) }),
    warn: seldom((text) => node.warn(text), 60_000, Date.now),
    value: (field, msg) => fieldValue(RED, node, field, msg),
    queue: (options) => {
      const queue = new OfflineQueue(options, connection, (waiting) => status.waiting(waiting));
      queues.push(queue);
      return queue;
    },
  });
  const { member } = running;
  const leave = connection.join({
    read: (farm) => attempt(() => member?.read?.(farm)),
    miner: (miner) => attempt(() => member?.miner?.(miner)),
    removed: (id) => attempt(() => member?.removed?.(id)),
    happened: (event) => attempt(() => member?.happened?.(event)),
    summary: (summary) => attempt(() => member?.summary?.(summary)),
    notification: (notification) => attempt(() => member?.notification?.(notification)),
    phase: (phase) => {
      status.phase(phase);
      attempt(() => member?.phase?.(phase));
      if (phase.kind === "connected") for (const queue of queues) queue.release();
    },
  });
  node.on("input", (msg, send, done) => {
    const guarded: Send = (out) => {
      if (!signal.aborted) send(out);
    };
    (running.input?.(msg, guarded) ?? Promise.resolve()).then(
      () => {
        if (!signal.aborted) done();
      },
      (error: unknown) => {
        if (signal.aborted) return;
        const failure = spoken(error, say);
        status.failed(failure.message);
        done(failure);
      },
    );
  });
  node.on("close", (done: () => void) => {
    closing.abort();
    leave();
    running.close?.();
    const dropped = queues.reduce((sum, queue) => sum + queue.close(), 0);
    if (dropped > 0) node.warn(say("status.dropped", { n: dropped }));
    done();
  });
}
