import { always, byArguments, type MiningProgram, named } from "../mining-program.ts";

const pool = [always("-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}")];

/** Commands that the API may answer: pools, devices, restart and quit, but nothing that writes files or sets clocks. */
const commands = (devices: string): string => `P:privileged:switchpool:addpool:removepool:enablepool:disablepool:poolpriority:${devices}:restart:quit:zero:*`;

const apiWith = (devices: string) => [always("--api-listen", "--api-port", "{apiPort}", "--api-groups", commands(devices), "--api-allow", "P:127.0.0.1")];

export const cgMiner: MiningProgram = {
  id: "CgMiner",
  name: "cgminer",
  api: "cgminer",
  devices: ["asic"],
  executable: { linux: "cgminer", windows: "cgminer.exe", macos: null },
  command: {
    start: [],
    pool,
    spare: pool,
    dual: null,
    api: apiWith("ascenable:ascdisable:pgaenable:pgadisable"),
    supervised: [always("--text-only")],
    schemes: { plain: "stratum+tcp://", tls: null },
  },
  algorithms: byArguments("sha256"),
  dual: {},
  options: "getopt",
  reserved: [
    "-c",
    "--config",
    "--default-config",
    // Pipes cgminer's output into a program that it starts.
    "-m",
    "--monitor",
    "--sharelog",
  ],
  tuning: {},
  quit: '{"command":"quit"}',
  badConfigurationExits: [],
  download: null,
};

export const bfgMiner: MiningProgram = {
  ...cgMiner,
  id: "BfgMiner",
  name: "bfgminer",
  executable: { linux: "bfgminer", windows: "bfgminer.exe", macos: null },
  command: { ...cgMiner.command, api: apiWith("devenable:devdisable:pgaenable:pgadisable") },
  algorithms: { ...byArguments("sha256"), ...byArguments("scrypt", "--scrypt") },
  reserved: [...cgMiner.reserved, "--chroot-dir", "--setuid", "-L"],
};

export const sgMiner: MiningProgram = {
  ...cgMiner,
  id: "SgMinerGm",
  name: "sgminer (gm)",
  devices: ["amd", "nvidia"],
  executable: { linux: "sgminer", windows: "sgminer.exe", macos: null },
  command: {
    ...cgMiner.command,
    start: [always("-k", "{algorithm}")],
    api: apiWith("gpuenable:gpudisable:gpurestart"),
  },
  algorithms: named(`
    bitcore blake blake2s blake3-decred=decred blakevanilla=vanilla cryptonight groestl=groestlcoin keccak=maxcoin lbry
    lyra2rev2 myriadgroestl=myriadcoin-groestl neoscrypt nist5 pascal sib=sibcoin-mod skein=skeincoin yescrypt`),
  reserved: [...cgMiner.reserved, "--kernel-path", "-K", "--event-runcmd"],
};
