import { always, type MiningProgram, named } from "../mining-program.ts";

const pool = [always("-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}")];

export const wildRig: MiningProgram = {
  id: "WildRigMulti",
  name: "WildRig Multi",
  api: "wildrig",
  devices: ["nvidia", "amd", "intel"],
  executable: { linux: "wildrig-multi", windows: "wildrig.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool,
    spare: pool,
    dual: null,
    api: [always("--api-port", "{apiPort}")],
    supervised: [always("--no-color")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+tcps://" },
  },
  algorithms: named(`
    anime bitcore bmw512 c11 clchash curvehash evohash evrprogpow firopow ghostrider hashx7 hex hmq1725 kawpow megabtx
    memehash memehashv2 meowpow meraki=progpow-telestai mike minotaur nexapow pearlhash phi progpow-ethercore
    progpow-quai progpow-sero progpowz qhash sha256csm sha256q sha256t sha512256d skein2 skunk=skunkhash skydoge
    timetravel tribus x11k x16r x16rt x16rv2 x16s x17 x18 x20r x21s x22i x25x x33`),
  dual: {},
  options: "getopt",
  reserved: ["-c", "--config", "-l", "-B", "--scratchpad-file"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "0.49.2",
    url: {
      "linux-x64": "https://github.com/andru-kun/wildrig-multi/releases/download/0.49.2/wildrig-multi-linux-0.49.2.tar.gz",
    },
    sums: null,
  },
};
