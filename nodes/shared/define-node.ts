import type { Node, NodeAPI, NodeDef, NodeMessage } from "node-red";
import type { RigbridgeError } from "rigbridge";
import { RigFaults } from "rigbridge/farm";
import { type Clock, clockFor } from "./clock.ts";
import { type ConfigKind, fieldValue, readConfig, type TypedField } from "./config.ts";
import type { FarmConnection, Member } from "./farm-connection.ts";
import { forNodeRed, type Translate, toRigbridgeError, translator, wordsOf } from "./faults.ts";
import { MessageQueue, type MessageQueueOptions } from "./message-queue.ts";
import { NodeStatus } from "./node-status.ts";
import { connectionFor } from "./services.ts";
import { throttledLog } from "./throttled-log.ts";

/** A kind of node that uses a service. */
export interface NodeKind<C extends { readonly service: string }> extends ConfigKind<C> {
  readonly type: string;
  /** Throws a Fault if the configuration is wrong. */
  start(work: Work<C>): Running;
}

/** What a deployed node does. */
export interface Running {
  /** Joins the service's connection until the node closes. */
  readonly member?: Member;
  /** Handles a message. Errors reach Catch nodes with their code; after the node closes nothing is sent. */
  input?(msg: NodeMessage, send: Send): Promise<void>;
  /** `isDeleted`: there is no next one after a deploy. Node-RED ends or starts the next one once it resolves. */
  close?(isDeleted: boolean): void | Promise<void>;
}

export type Send = (msg: NodeMessage | (NodeMessage | null)[]) => void;

/** What a node works with. */
export interface Work<C> {
  readonly RED: NodeAPI;
  readonly node: Node;
  readonly config: C;
  readonly connection: FarmConnection;
  readonly status: NodeStatus;
  readonly translate: Translate;
  /** Aborted when the node closes. */
  readonly signal: AbortSignal;
  /** Errors in its timers show in the node's status and stop nothing. */
  readonly clock: Clock;
  /** Isolates errors that concern one rig. */
  readonly faults: RigFaults;
  /** Evaluates a typed field for a message. */
  value(field: TypedField, msg: NodeMessage): Promise<unknown>;
  /** Closed with the node. */
  queue(options: MessageQueueOptions): MessageQueue;
}

/** Registers a kind of node with Node-RED. */
export function defineNode<C extends { readonly service: string }>(RED: NodeAPI, kind: NodeKind<C>): void {
  RED.nodes.registerType(kind.type, function (this: Node, raw: NodeDef) {
    RED.nodes.createNode(this, raw);
    const translate = translator(RED);
    try {
      run(RED, this, kind, readConfig(kind, { ...raw }), translate);
    } catch (error) {
      standStill(this, toRigbridgeError(error, translate));
    }
  });
}

/** A node with a wrong configuration answers every message with the error; the rest of the flow runs. */
function standStill(node: Node, failure: RigbridgeError): void {
  node.status({ fill: "red", shape: "dot", text: failure.message.slice(0, 80) });
  node.warn(failure.message);
  node.on("input", (_msg, _send, done) => done(forNodeRed(failure)));
}

function run<C extends { readonly service: string }>(
  RED: NodeAPI,
  node: Node,
  kind: NodeKind<C>,
  config: C,
  translate: Translate,
): void {
  const connection = connectionFor(RED, config.service);
  const closing = new AbortController();
  const { signal } = closing;
  const status = new NodeStatus({ show: (shown) => node.status(shown), translate, now: Date.now });
  const logError = throttledLog((text) => node.error(text), 60_000, Date.now);
  // There is no message whose Catch nodes could get the error. If it were thrown, it would end Node-RED or keep events
  // from the other nodes.
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      const { message } = toRigbridgeError(error, translate);
      status.failed(message);
      logError(message);
    }
  };
  const queues: MessageQueue[] = [];
  const running = kind.start({
    RED,
    node,
    config,
    connection,
    status,
    translate,
    signal,
    clock: clockFor(attempt),
    faults: new RigFaults({ error: ({ err }, text) => node.error(`${text}: ${wordsOf(err)}`) }),
    value: (field, msg) => fieldValue(RED, node, field, msg),
    queue: (options) => {
      const queue = new MessageQueue(options, connection, (waiting) => status.waiting(waiting));
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
    notificationsHandled: (what, ids) => attempt(() => member?.notificationsHandled?.(what, ids)),
    phase: (phase) => {
      const isConnected = phase.kind === "connected";
      if (!isConnected) status.phase(phase);
      attempt(() => member?.phase?.(phase));
      if (!isConnected) return;
      // After the node itself, so that a service that is back shows with its new state.
      status.phase(phase);
      for (const queue of queues) queue.release();
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
        const failure = toRigbridgeError(error, translate);
        status.failed(failure.message);
        done(forNodeRed(failure));
      },
    );
  });
  node.on("close", (isDeleted: boolean, done: () => void) => {
    closing.abort();
    leave();
    const closed = running.close?.(isDeleted);
    const dropped = queues.reduce((sum, queue) => sum + queue.close(), 0);
    if (dropped > 0) node.warn(translate("status.dropped", { n: dropped }));
    if (closed === undefined) done();
    else void closed.finally(done);
  });
}
