/** What is measured, what for, and what it should reach. */
export interface Figure {
  readonly name: string;
  readonly part: PartName;
  readonly meaning: string;
  readonly unit: string;
  readonly aim: number | null;
  readonly better: "more" | "less";
}

export const partNames = [
  "poll",
  "http",
  "fleet",
  "dead",
  "large",
  "list",
  "summary",
  "bodies",
  "memory",
  "start",
  "store",
  "events",
  "mqtt",
  "rules",
] as const;
export type PartName = (typeof partNames)[number];

/** The names and their order are those of the JSON, which others follow. */
export const figures: readonly Figure[] = [
  {
    name: "poll.ratio",
    part: "poll",
    meaning: "a read from socket to stored state, against a bare socket loop at an even pace",
    unit: "ratio",
    aim: 1,
    better: "more",
  },
  {
    name: "poll.ratio.batched",
    part: "poll",
    meaning: "the same against the bare loop in batches of 50 ms",
    unit: "ratio",
    aim: 0.5,
    better: "more",
  },
  {
    name: "poll.peer",
    part: "poll",
    meaning: "the same against the npm package cgminer-api",
    unit: "ratio",
    aim: 10,
    better: "more",
  },
  {
    name: "poll.http.ratio",
    part: "http",
    meaning: "a read of AxeOS or XMRig, against a bare HTTP loop at an even pace",
    unit: "ratio",
    aim: 1.2,
    better: "more",
  },
  {
    name: "poll.http.ratio.batched",
    part: "http",
    meaning: "the same against the bare loop in batches of 50 ms",
    unit: "ratio",
    aim: 0.6,
    better: "more",
  },
  {
    name: "fleet.5000at10.cpu",
    part: "fleet",
    meaning: "CPU for 5,000 rigs, each read every 10 s",
    unit: "cores",
    aim: 0.2,
    better: "less",
  },
  {
    name: "fleet.5000at10.multiple",
    part: "fleet",
    meaning: "that CPU as a multiple of the bare loop's at the same even pace",
    unit: "ratio",
    aim: 0.8,
    better: "less",
  },
  {
    name: "fleet.40000at10.firstReads",
    part: "large",
    meaning: "from the start until all of 40,000 rigs have been read",
    unit: "s",
    aim: 30,
    better: "less",
  },
  {
    name: "fleet.40000at10.steered",
    part: "large",
    meaning: "from the start until 400 of them, evenly spread, have confirmed a command",
    unit: "s",
    aim: 120,
    better: "less",
  },
  {
    name: "fleet.40000at10.lateness.p99",
    part: "large",
    meaning: "from a poll's due time to its state, 40,000 rigs at 10 s",
    unit: "s",
    aim: 1,
    better: "less",
  },
  {
    name: "fleet.100000at30.lateness.p99",
    part: "large",
    meaning: "the same of 100,000 rigs at 30 s",
    unit: "s",
    aim: 3,
    better: "less",
  },
  {
    name: "fleet.100000at30.memory",
    part: "large",
    meaning: "resident memory of the service with them",
    unit: "GB",
    aim: 2,
    better: "less",
  },
  {
    name: "fleet.deadShare30.duePolls",
    part: "dead",
    meaning: "live rigs' polls done when due while 30 % are silent",
    unit: "share",
    aim: 0.99,
    better: "more",
  },
  {
    name: "list.10000.ratio",
    part: "list",
    meaning: "GET /api/miners of 10,000, against a bare server sending those bytes",
    unit: "ratio",
    aim: 0.8,
    better: "more",
  },
  {
    name: "list.10000.changed",
    part: "list",
    meaning: "the same when all have been read anew since the last list",
    unit: "ratio",
    aim: 0.5,
    better: "more",
  },
  {
    name: "list.10000.peer",
    part: "list",
    meaning: "the same against a bare server that makes the JSON anew",
    unit: "ratio",
    aim: 5,
    better: "more",
  },
  {
    name: "miner.us",
    part: "list",
    meaning: "GET /api/miners/{id}, CPU",
    unit: "µs",
    aim: 100,
    better: "less",
  },
  {
    name: "summary.ratio",
    part: "summary",
    meaning: "GET /api/summary with a key, against bare Fastify",
    unit: "ratio",
    aim: 0.4,
    better: "more",
  },
  {
    name: "bodies.worst.ms",
    part: "bodies",
    meaning: "CPU of the dearest body of 1 MB that is refused",
    unit: "ms",
    aim: 50,
    better: "less",
  },
  {
    name: "bodies.others.p99.ms",
    part: "bodies",
    meaning: "a small request beside 6 clients that send such bodies",
    unit: "ms",
    aim: 400,
    better: "less",
  },
  {
    name: "memory.perMiner",
    part: "memory",
    meaning: "heap and external that a miner adds",
    unit: "bytes",
    aim: 9_000,
    better: "less",
  },
  {
    name: "start.seconds",
    part: "start",
    meaning: "from the start of the program to its first answers",
    unit: "s",
    aim: 0.7,
    better: "less",
  },
  { name: "store.samples", part: "store", meaning: "samples stored", unit: "rows/s", aim: 200_000, better: "more" },
  {
    name: "store.history.ms",
    part: "store",
    meaning: "a day of one miner among 5,000",
    unit: "ms",
    aim: 20,
    better: "less",
  },
  {
    name: "events.p99.ms",
    part: "events",
    meaning: "from a rig's socket to a client of the events, 2,000 changes a second",
    unit: "ms",
    aim: null,
    better: "less",
  },
  {
    name: "mqtt.p99.ms",
    part: "mqtt",
    meaning: "from a rig's socket to an MQTT subscriber, 2,000 changes a second",
    unit: "ms",
    aim: 40,
    better: "less",
  },
  {
    name: "mqtt.1000.p99.ms",
    part: "mqtt",
    meaning: "the same with 1,000 changes a second",
    unit: "ms",
    aim: 20,
    better: "less",
  },
  {
    name: "mqtt.workers.p99.ms",
    part: "mqtt",
    meaning: "2,000 changes a second, read by two worker threads",
    unit: "ms",
    aim: 25,
    better: "less",
  },
  {
    name: "mqtt.ratio",
    part: "mqtt",
    meaning: "publishing by the bridge, against a bare mqtt.js loop",
    unit: "ratio",
    aim: 0.6,
    better: "more",
  },
  {
    name: "rules.1000.cpu.ms",
    part: "rules",
    meaning: "20 rules over 1,000 changed miners, CPU",
    unit: "ms",
    aim: 5,
    better: "less",
  },
  {
    name: "rules.reads.ratio",
    part: "rules",
    meaning: "CPU of reading 1,000 rigs with 20 rules, against without",
    unit: "ratio",
    aim: 1.03,
    better: "less",
  },
  {
    name: "rules.10000.bytes",
    part: "rules",
    meaning: "heap that 20 rules take on 10,000 miners, at all of which all of them fire",
    unit: "bytes",
    aim: 60_000_000,
    better: "less",
  },
  {
    name: "rules.start.ms",
    part: "rules",
    meaning: "re-entering their 200,000 states at a start",
    unit: "ms",
    aim: 1_000,
    better: "less",
  },
];

/** As in the JSON; at full length nobody can read it. */
export const shown = (value: number): string =>
  value >= 1000
    ? Math.round(value).toLocaleString("en-US")
    : value
        .toPrecision(3)
        .replace(/(\.\d*?)0+$/, "$1")
        .replace(/\.$/, "");

export const reached = ({ aim, better }: Figure, value: number): boolean | null =>
  aim === null ? null : better === "more" ? value >= aim : value <= aim;
