import { always, type MiningProgram, named } from "../mining-program.ts";

export const nbMiner: MiningProgram = {
  id: "NBMiner",
  name: "NBMiner",
  api: "nbminer",
  devices: ["nvidia", "amd"],
  executable: { linux: "nbminer", windows: "nbminer.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool: [always("-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}")],
    spare: [always("-o{n}", "{scheme}{host}:{port}", "-u{n}", "{login}", "-p{n}", "{password}")],
    dual: null,
    api: [always("--api", "127.0.0.1:{apiPort}")],
    supervised: [always("--no-watchdog", "--no-color")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: named(`
    autolykos2=ergo beamhash3=beamv3 cuckoocycle=cuckoo_ae etchash ethash kawpow octopus progpow-sero=progpow_sero
    tensority`),
  dual: {},
  options: "getopt",
  reserved: ["-c", "--config", "--log", "--generate-config", "--driver"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "42.3",
    url: {
      "linux-x64": "https://github.com/NebuTech/NBMiner/releases/download/v42.3/NBMiner_42.3_Linux.tgz",
    },
    sums: null,
  },
};
