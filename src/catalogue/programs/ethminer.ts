import { always, byArguments, type MiningProgram } from "../mining-program.ts";

const pool = [always("-P", "{scheme}{loginUrl}:{passwordUrl}@{host}:{port}")];

/** A negative port is a read-only API: a write could run a script beside the program. */
export const ethMiner: MiningProgram = {
  id: "EthMiner",
  name: "ethminer",
  api: "ethminer",
  devices: ["nvidia", "amd"],
  executable: { linux: "ethminer", windows: "ethminer.exe", macos: null },
  command: {
    start: [],
    pool,
    spare: pool,
    dual: null,
    api: [always("--api-bind", "127.0.0.1:-{apiPort}", "--api-password", "{apiToken}")],
    supervised: [always("--HWMON", "2", "--nocolor")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+tls12://" },
  },
  algorithms: byArguments("ethash"),
  dual: {},
  options: "getopt",
  reserved: [],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: null,
};

export const kawpowMiner: MiningProgram = {
  ...ethMiner,
  id: "KawpowMiner",
  name: "kawpowminer",
  executable: { linux: "kawpowminer", windows: "kawpowminer.exe", macos: null },
  command: { ...ethMiner.command, supervised: [always("--nocolor")] },
  algorithms: byArguments("kawpow"),
};
