import { always, byArguments, type MiningProgram, named, when } from "../mining-program.ts";

/** Its API is read-only (-cdm 1): a write could replace files beside the program and run them. */
export const phoenixMiner: MiningProgram = {
  id: "PhoenixMiner",
  name: "PhoenixMiner",
  api: "claymore",
  devices: ["nvidia", "amd"],
  executable: { linux: "PhoenixMiner", windows: "PhoenixMiner.exe", macos: null },
  command: {
    start: [],
    pool: [always("-pool", "{scheme}{host}:{port}", "-wal", "{user}", "-pass", "{password}"), when("worker", "-worker", "{worker}")],
    spare: null,
    dual: null,
    api: [always("-cdm", "1", "-cdmport", "127.0.0.1:{apiPort}", "-cdmpass", "{apiToken}")],
    supervised: [always("-wdog", "0")],
    schemes: { plain: "", tls: "ssl://" },
  },
  algorithms: {
    ...byArguments("ethash"),
    ...byArguments("etchash", "-coin", "etc"),
    ...byArguments("ubqhash", "-coin", "ubq"),
  },
  dual: {},
  options: "single-dash",
  reserved: ["-config", "-log", "-logfile", "-logdir", "-logsmaxsize", "-epoolfile", "-rmode", "-minRigSpeed", "-ttli"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: null,
};

/**
 * Its flags are from memory, because neither it nor its documentation is still published. A negative port: read-only.
 */
export const claymore: MiningProgram = {
  id: "ClaymoreEthereum",
  name: "Claymore's Dual Ethereum",
  api: "claymore",
  devices: ["nvidia", "amd"],
  executable: { linux: "ethdcrminer64", windows: "EthDcrMiner64.exe", macos: null },
  command: {
    start: [],
    pool: [always("-epool", "{scheme}{host}:{port}", "-ewal", "{user}", "-epsw", "{password}"), when("worker", "-eworker", "{worker}")],
    spare: null,
    dual: null,
    api: [always("-mport", "127.0.0.1:-{apiPort}", "-mpsw", "{apiToken}")],
    supervised: [always("-wd", "0")],
    schemes: { plain: "", tls: "ssl://" },
  },
  algorithms: byArguments("ethash"),
  dual: {},
  options: "single-dash",
  reserved: ["-dbg", "-logfile", "-logsmaxsize", "-r", "-minspeed", "-nofee"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: null,
};

const pool = [always("-o", "{scheme}{host}:{port}", "-u", "{user}", "-p", "{password}"), when("worker", "-w", "{worker}")];

export const ttMiner: MiningProgram = {
  id: "TTMiner",
  name: "TT-Miner",
  api: "claymore",
  devices: ["nvidia", "amd", "cpu"],
  executable: { linux: "TT-Miner", windows: "TT-Miner.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool,
    spare: null,
    dual: null,
    api: [always("--api-bind", "127.0.0.1:{apiPort}")],
    supervised: [],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: {
    ...named(`
      blake3-alephium=Blake3 etchash=ETCHASH ethash=ETHASH ethashb3=ETHASHB3 evrprogpow=EvrProgPow firopow=FiroPow
      fishhash=FishHash flex=Flex ghostrider=Ghostrider kawpow=KawPow mike=Mike sccpow=FiroPowSCC sha256dt=Sha256dt
      sha3d=Sha3d sha3solidity=SHA3Solidity sha512256d=Sha512256d spectrex=SpectreX ubqhash=UBQHASH vprogpow=vProgPow
      xelishashv2=Xelis`),
    ...byArguments("meowpow", "-c", "MEWC"),
    ...byArguments("progpow-epic", "-c", "EPIC"),
    ...byArguments("progpow-sero", "-c", "SERO"),
    ...byArguments("progpow-veil", "-c", "VEIL"),
    ...byArguments("progpowz", "-c", "ZANO"),
  },
  dual: {},
  options: "single-dash",
  reserved: ["-b", "--api-type", "-log", "-logpool", "--log", "--config", "-RH", "-rsh"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: null,
};
