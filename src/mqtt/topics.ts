/** The topics of the bridge, below a base. Ids in them consist of a-z, 0-9, _ and -; names never appear in a topic. */
export interface Topics {
  /** "online" or "offline"; retained, and the will. */
  readonly state: string;
  /** Version and settings; retained. */
  readonly info: string;
  /** Bridges that wait for the one that has these topics. */
  readonly waiting: string;
  readonly summary: string;
  readonly notification: string;
  readonly notifications: string;
  readonly request: (operation: string) => string;
  readonly response: (operation: string) => string;
  /** Topics for commands to the bridge itself. */
  readonly bridge: { readonly action: string; readonly logLevel: string; readonly response: string };
  readonly miner: (uid: string) => ThingTopics;
  readonly group: (id: number | "+") => ThingTopics;
  /** The state and availability of a facility device, which takes no commands. */
  readonly facility: (key: string) => Pick<ThingTopics, "state" | "availability">;
  /** The state of a place. */
  readonly place: (uid: string) => string;
  /** The curtailments under way, and commands for them; there is no availability and no event. */
  readonly curtailment: Pick<ThingTopics, "state" | "response" | "set" | "setProperty">;
  /** Topics for commands to all miners; the state of the farm is the summary. */
  readonly farm: ThingTopics;
  /** Filters of the command topics of miners, groups and the farm. */
  readonly commands: readonly string[];
  /** Topics of the commands for curtailments. */
  readonly curtailments: readonly string[];
  /** Filters of API requests and of commands for the bridge itself. */
  readonly requests: readonly string[];
}

export interface ThingTopics {
  readonly state: string;
  readonly availability: string;
  readonly event: string;
  readonly response: string;
  readonly action: string;
  readonly set: string;
  readonly setProperty: (property: string) => string;
}

export function topicsOf(base: string): Topics {
  const thing = (root: string): ThingTopics => ({
    state: `${root}/state`,
    availability: `${root}/availability`,
    event: `${root}/event`,
    response: `${root}/response`,
    action: `${root}/action`,
    set: `${root}/set`,
    setProperty: (property) => `${root}/${property}/set`,
  });
  const bridge = {
    action: `${base}/bridge/action`,
    logLevel: `${base}/bridge/log_level/set`,
    response: `${base}/bridge/response`,
  };
  const curtailment = thing(`${base}/curtailment`);
  const things = [`${base}/miner/+`, `${base}/group/+`, `${base}/farm`];
  return {
    state: `${base}/bridge/state`,
    info: `${base}/bridge/info`,
    waiting: `${base}/bridge/waiting`,
    summary: `${base}/summary`,
    notification: `${base}/notification`,
    notifications: `${base}/notifications`,
    request: (operation) => `${base}/bridge/request/${operation}`,
    response: (operation) => `${base}/bridge/response/${operation}`,
    bridge,
    miner: (uid) => thing(`${base}/miner/${uid}`),
    group: (id) => thing(`${base}/group/${id}`),
    facility: (key) => thing(`${base}/facility/${key}`),
    place: (uid) => `${base}/place/${uid}/state`,
    curtailment,
    farm: thing(`${base}/farm`),
    commands: things.flatMap((root) => [`${root}/set`, `${root}/action`, `${root}/+/set`]),
    curtailments: [curtailment.set, curtailment.setProperty("target")],
    requests: [`${base}/bridge/request/+`, bridge.action, bridge.logLevel],
  };
}

export type CommandTopic =
  | { readonly kind: "request"; readonly operation: string }
  /** For the bridge itself; `sets` is null for an action. */
  | { readonly kind: "bridge"; readonly sets: "log_level" | null }
  /** `sets` is null for the topic that begins and ends any. */
  | { readonly kind: "curtailment"; readonly sets: "target" | null }
  | {
      readonly kind: "set" | "action";
      readonly thing: "miner" | "group" | "farm";
      /** uid of the miner, or id of the group; empty for the farm. */
      readonly id: string;
      /** The property that is set; null for several in JSON, and for an action. */
      readonly property: string | null;
    };

export function commandTopic(base: string, topic: string): CommandTopic | null {
  if (!topic.startsWith(`${base}/`)) return null;
  // The farm has no id.
  const levels = topic
    .slice(base.length + 1)
    .replace(/^farm\//, "farm//")
    .split("/");
  const [first = "", second = "", third = "", fourth] = levels;
  const rest = levels.slice(1).join("/");
  if (first === "bridge" && rest === "action") return { kind: "bridge", sets: null };
  if (first === "bridge" && rest === "log_level/set") return { kind: "bridge", sets: "log_level" };
  if (first === "curtailment" && rest === "set") return { kind: "curtailment", sets: null };
  if (first === "curtailment" && rest === "target/set") return { kind: "curtailment", sets: "target" };
  if (first === "bridge")
    return second === "request" && levels.length === 3 ? { kind: "request", operation: third } : null;
  if (first !== "farm" && ((first !== "miner" && first !== "group") || second === "")) return null;
  if (levels.length === 3 && (third === "set" || third === "action"))
    return { kind: third, thing: first, id: second, property: null };
  return levels.length === 4 && fourth === "set" ? { kind: "set", thing: first, id: second, property: third } : null;
}
