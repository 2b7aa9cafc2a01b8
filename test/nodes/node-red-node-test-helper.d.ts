declare module "node-red-node-test-helper" {
  import type { EventEmitter } from "node:events";
  import type { Node, NodeAPI } from "node-red";

  interface Reply {
    readonly status: number;
    readonly body: unknown;
  }
  type Asking = Promise<Reply> & { send(body: object): Asking };

  interface Helper extends EventEmitter {
    init(runtime: string): void;
    settings(settings: object): object;
    startServer(): Promise<void>;
    stopServer(): Promise<void>;
    load(nodes: readonly ((RED: NodeAPI) => void)[], flow: readonly object[], credentials: object): Promise<void>;
    unload(): Promise<void>;
    getNode(id: string): Node;
    request(): { get(path: string): Asking; post(path: string): Asking };
  }
  const helper: Helper;
  export default helper;
}
