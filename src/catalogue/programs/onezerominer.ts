import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

export const oneZeroMiner: MiningProgram = {
  id: "OneZeroMiner",
  name: "OneZeroMiner",
  api: "onezerominer",
  devices: ["nvidia", "amd"],
  executable: { linux: "onezerominer", windows: "onezerominer.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool: [always("-o", "{scheme}{host}:{port}", "-w", "{user}", "-p", "{password}"), when("worker", "--worker", "{worker}")],
    spare: null,
    dual: [always("--a2", "{algorithm2}", "--o2", "{scheme}{host}:{port}", "--w2", "{user}", "--p2", "{password}"), when("worker", "--worker2", "{worker}")],
    api: [always("--api-host", "127.0.0.1", "--api-port", "{apiPort}")],
    supervised: [],
    schemes: { plain: "", tls: "ssl://" },
  },
  algorithms: named("cryptix-ox8=cryptix_ox8 dynexsolve=dynex qhash xelishashv3"),
  dual: dual("xelishashv3", "qhash"),
  options: "getopt",
  reserved: ["--log-file", "--config"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "1.7.4",
    url: {
      "linux-x64": "https://github.com/OneZeroMiner/onezerominer/releases/download/v1.7.4/onezerominer-linux-1.7.4.tar.gz",
    },
    sums: null,
  },
};
