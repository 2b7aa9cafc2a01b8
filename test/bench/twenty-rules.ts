/** Twenty rules as owners write them: each look at a read tests most of them. */
export const twentyRules: readonly { readonly key: string; readonly when: object; readonly do: readonly object[] }[] = [
  { all: [{ reading: "temperature", above: 85, clear: 80 }, { state: "mining" }], for: "2m" },
  { all: [{ reading: "hashrate", below: "80%", of: "hashrateExpected" }, { state: ["mining", "idle"] }], for: "5m" },
  { all: [{ offline: true }], for: "5m", clearFor: "1m" },
  { all: [{ reading: "power", above: 3600 }] },
  {
    any: [
      { reading: "temperatureIn", above: 45 },
      { reading: "temperatureOut", above: 75 },
    ],
    for: "1m",
  },
  { all: [{ reading: "fanRpm", below: 1000 }, { state: "mining" }], for: "1m" },
  { all: [{ reading: "chips", below: "95%", of: "chipsExpected" }], for: "10m" },
  { all: [{ rate: "rejected", above: "5%", over: "10m" }] },
  { all: [{ pool: "dead" }], for: "2m" },
  { all: [{ device: ["sick", "dead"] }] },
  { all: [{ reason: ["hardware", "hot"] }] },
  { all: [{ reading: "uptime", below: 600 }] },
  { all: [{ event: "best_share" }] },
  { all: [{ reading: "boards", below: 3 }, { state: "mining" }], for: "10m" },
  { all: [{ reading: "efficiency", above: 4e-11 }], for: "1h" },
  {
    all: [
      { reading: "mode", equals: "eco" },
      { reading: "power", above: 3300 },
    ],
  },
  {
    any: [
      {
        all: [
          { reading: "temperature", above: 90 },
          { reading: "power", above: 3000 },
        ],
      },
      { state: "error" },
    ],
  },
  { all: [{ weekly: { from: "22:00", to: "06:00" } }, { reading: "power", above: 3400 }] },
  { all: [{ state: "stopped" }], for: "1h" },
  { all: [{ reading: "temperature", below: 5 }, { state: "idle" }], for: "10m" },
].map((when, index) => ({ key: `rule-${index + 1}`, when, do: [{ action: "restart" }] }));
