import { always, type MiningProgram, named, when } from "../mining-program.ts";

const pool = [always("--url={scheme}{user}@{host}:{port}", "-p", "{password}"), when("worker", "--worker={worker}")];

export const miniZ: MiningProgram = {
  id: "MiniZ",
  name: "miniZ",
  api: "miniz",
  devices: ["nvidia", "amd"],
  executable: { linux: "miniZ", windows: "miniZ.exe", macos: null },
  command: {
    start: [always("--par={algorithm}")],
    pool,
    spare: pool,
    dual: null,
    api: [always("--telemetry=127.0.0.1:{apiPort}")],
    supervised: [always("--nocolor")],
    schemes: { plain: "", tls: "ssl://" },
  },
  algorithms: {
    ...named(`
      beamhash3=beam3 equihash-125-4=125,4 equihash-144-5=144,5 equihash-150-5=150,5 equihash-192-7=192,7
      equihash-210-9=210,9 equihash-96-5=96,5 etchash ethash ethashb3 fishhash karlsenhashv2 kawpow kheavyhash=kaspa
      meowpow meraki nxlhash octopus progpowz=ProgPowZ pyrinhash=pyrin ubqhash`),
    ...named("evrprogpow=ProgPow", "--pers=EVRMORE-PROGPOW"),
    ...named("firopow=ProgPow", "--pers=firo"),
    ...named("progpow-sero=ProgPow", "--pers=SERO"),
    ...named("progpow-veil=ProgPow", "--pers=VEIL"),
    ...named("vprogpow=vProgPow", "--pers=VeriBlock"),
  },
  dual: {},
  options: "single-dash",
  reserved: ["-a", "--logfile", "--log", "--templog", "--cuda-log", "--extra-log", "--read-config", "--write-config", "-c"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: null,
};
