import { always, type MiningProgram, named } from "../mining-program.ts";

/** It has no API. Its data file is named by parameters (--verthash-data). */
export const verthashMiner: MiningProgram = {
  id: "VerthashMiner",
  name: "VerthashMiner",
  api: null,
  devices: ["nvidia", "amd"],
  executable: { linux: "VerthashMiner", windows: "VerthashMiner.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool: [always("-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}")],
    spare: null,
    dual: null,
    api: [],
    supervised: [],
    schemes: { plain: "stratum+tcp://", tls: "stratum+tcps://" },
  },
  algorithms: named("verthash=Verthash"),
  dual: {},
  options: "getopt",
  reserved: ["-c", "--conf", "-g", "--gen-conf", "--gen-verthash-data", "--log-file", "-l"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: null,
};
