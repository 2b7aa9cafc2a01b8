/** A predefined rule. Texts like "$temperature" stand for its values, which `with` changes. */
export interface ReadyMadeRule {
  readonly key: string;
  readonly name: string;
  /** One sentence for the choice. */
  readonly description: string;
  /** The values with their defaults; null: required. */
  readonly values: Readonly<Record<string, string | number | null>>;
  /** In the format of the configuration file. */
  readonly rule: Readonly<Record<string, unknown>>;
}

/** A rig that should hash: neither stopped nor offline. */
const on = { state: ["mining", "idle", "starting"] };
/** Mining programs are restarted up to five times, with increasing waits. */
const again = { after: "10s", longest: "5m", times: "$times" };
const gaveUp = (trouble: string) => [
  {
    notify: "$channel",
    severity: "critical",
    text: `{{ miner.name }}: ${trouble}, and restarts did not help. Its last output:\n{{ miner.lastOutput }}`,
  },
];
const hashrateDropped = { reading: "hashrate", below: "$share", of: "median1h", clear: "$recovered" };

/** All are off until a configuration or a user applies one with `use`. */
export const readyMadeRules: readonly ReadyMadeRule[] = [
  {
    key: "restart-when-hashrate-drops",
    name: "Restart when the hash rate drops",
    description: "Restarts mining once if the hash rate stays below a share of the last hour's median.",
    values: { share: "60%", recovered: "80%", channel: "all" },
    rule: {
      when: { all: [on, hashrateDropped], for: "10m", clearFor: "5m" },
      limit: { repeat: "1h", perDay: 3 },
      guard: { share: "10%", within: "10m" },
      do: [
        { action: "restart", orReboot: true },
        {
          notify: "$channel",
          severity: "warning",
          text: "{{ miner.name }}: the hash rate has dropped to {{ reading.hashrate }}; mining was restarted",
        },
      ],
    },
  },
  {
    key: "reboot-when-hashrate-stays-low",
    name: "Reboot when the hash rate stays low",
    description: "Reboots a rig once if its hash rate stays low for 40 minutes, which a restart would have cured.",
    values: { share: "60%", recovered: "80%", channel: "all" },
    rule: {
      when: { all: [on, hashrateDropped], for: "40m", clearFor: "5m" },
      limit: { repeat: "6h", perDay: 2 },
      guard: { share: "10%", within: "10m" },
      do: [
        { action: "reboot" },
        {
          notify: "$channel",
          severity: "warning",
          text: "{{ miner.name }}: the hash rate stays at {{ reading.hashrate }}; the rig was rebooted",
        },
      ],
    },
  },
  {
    key: "restart-when-program-is-silent",
    name: "Watchdog: restart a silent program",
    description:
      "Restarts a mining program whose API does not answer; after some restarts it gives up and notifies you.",
    values: { silent: "2m", times: 5, channel: "all" },
    rule: {
      when: { all: [{ reason: ["program"] }], for: "$silent", clearFor: "10m" },
      again,
      do: [{ action: "restart" }],
      onGiveUp: gaveUp("its mining program does not answer"),
    },
  },
  {
    key: "restart-when-hashrate-is-low",
    name: "Watchdog: restart below the expected hash rate",
    description:
      "Restarts mining if, after a warm-up, the hash rate stays below a share of the expected one; after some restarts it gives up and notifies you.",
    values: { share: "80%", warmUp: 300, low: "5m", times: 5, channel: "all" },
    rule: {
      when: {
        all: [
          on,
          { reading: "hashrate", below: "$share", of: "hashrateExpected" },
          { reading: "uptime", above: "$warmUp" },
        ],
        for: "$low",
        clearFor: "15m",
      },
      again,
      do: [{ action: "restart" }],
      onGiveUp: gaveUp("its hash rate stays low"),
    },
  },
  {
    key: "restart-when-gpu-is-lost",
    name: "Watchdog: restart when a graphics card is lost",
    description:
      "Restarts mining if a graphics card no longer answers; after some restarts it gives up and notifies you.",
    values: { lost: "1m", times: 3, channel: "all" },
    rule: {
      when: { all: [{ device: "dead" }], for: "$lost", clearFor: "10m" },
      again,
      do: [{ action: "restart" }],
      onGiveUp: gaveUp("a graphics card does not answer"),
    },
  },
  {
    key: "reboot-when-gpu-is-lost",
    name: "Watchdog: reboot when a graphics card stays lost",
    description: "Reboots a host whose graphics card stays lost, if its agent allows that.",
    values: { lost: "15m", rebootsPerDay: 2, channel: "all" },
    rule: {
      when: { all: [{ device: "dead" }], for: "$lost", clearFor: "10m" },
      limit: { repeat: "1h", perDay: "$rebootsPerDay" },
      do: [
        { action: "reboot" },
        {
          notify: "$channel",
          severity: "warning",
          text: "{{ miner.name }}: a graphics card does not answer; the host was rebooted",
        },
      ],
    },
  },
  {
    key: "pause-when-too-hot",
    name: "Watchdog: pause when too hot",
    description: "Stops mining while a graphics card is too hot, and starts it again once it has cooled down.",
    values: { temperature: 85, cool: 65 },
    rule: {
      safety: true,
      when: {
        all: [{ reading: "temperature", above: "$temperature", clear: "$cool" }],
        for: "30s",
        clearFor: "1m",
      },
      do: [{ action: "stop" }],
      onClear: [{ action: "start" }],
    },
  },
  {
    key: "power-cycle-when-unreachable",
    name: "Power-cycle when unreachable",
    description: "Switches the plug of a rig off and on once if the rig cannot be reached for 15 minutes.",
    values: { channel: "all" },
    rule: {
      when: { all: [{ offline: true }], for: "15m", clearFor: "2m" },
      limit: { repeat: "6h", perDay: 2 },
      guard: { share: "10%", within: "15m" },
      do: [
        { plug: "cycle", wait: "15s" },
        { notify: "$channel", severity: "warning", text: "{{ miner.name }} could not be reached; its plug was cycled" },
      ],
    },
  },
  {
    key: "sleep-when-too-hot",
    name: "Sleep when too hot",
    description: "Stops a rig that stays too hot; you start it again.",
    values: { temperature: 85, cool: 70, channel: "all" },
    rule: {
      safety: true,
      when: {
        all: [on, { reading: "temperature", above: "$temperature", clear: "$cool" }],
        for: "1m",
        clearFor: "5m",
      },
      do: [
        { action: "stop" },
        {
          notify: "$channel",
          severity: "critical",
          text: "{{ miner.name }} was stopped at {{ reading.temperature }} °C",
        },
      ],
    },
  },
  {
    key: "back-to-the-wanted-pool",
    name: "Bring back to the wanted pool",
    description: "Switches a rig that mines at another pool back to the one that you name.",
    values: { pool: null, channel: "all" },
    rule: {
      when: { all: [{ pool: "wrong", wanted: "$pool" }], for: "5m", clearFor: "5m" },
      limit: { repeat: "1h", perDay: 4 },
      guard: { share: "50%", within: "10m" },
      do: [
        { pool: "$pool" },
        {
          notify: "$channel",
          severity: "warning",
          text: "{{ miner.name }} mined at another pool and was brought back",
        },
      ],
    },
  },
  {
    key: "tell-me-when-down",
    name: "Tell me once when a rig is down",
    description: "One message when a rig cannot be reached for 5 minutes, and one when it is back.",
    values: { channel: "all" },
    rule: {
      when: { all: [{ offline: true }], for: "5m", clearFor: "1m" },
      guard: { share: "30%", within: "5m" },
      do: [{ notify: "$channel", severity: "warning", text: "{{ miner.name }} cannot be reached" }],
      onClear: [{ notify: "$channel", severity: "info", text: "{{ miner.name }} is back" }],
    },
  },
  {
    key: "daily-summary",
    name: "Daily summary",
    description: "One message a day with the hash rate, the power and the number of rigs that are away.",
    values: { time: "08:00", channel: "all" },
    rule: {
      when: { all: [{ time: "$time" }] },
      do: [
        {
          notify: "$channel",
          severity: "info",
          text: "{{ rule.miners }} rigs, {{ rule.offline }} away: {{ reading.hashrate }}, {{ reading.power }} W",
        },
      ],
    },
  },
  {
    key: "new-best-share",
    name: "New best share",
    description: "One message whenever a rig finds a share that is better than all before it.",
    values: { channel: "all" },
    rule: {
      when: { all: [{ event: "best_share" }] },
      limit: { repeat: "1m" },
      do: [
        {
          notify: "$channel",
          severity: "info",
          text: "{{ miner.name }} has a new best share: {{ reading.bestShare }}",
        },
      ],
    },
  },
];
