import { always, dual, type Group, type MiningProgram, named } from "../mining-program.ts";

/** With two algorithms, each value begins with the number of its algorithm. */
const poolOf = (prefix: string, ...when: Group["when"]): Group[] => [
  { args: ["-o", `${prefix}{scheme}{host}:{port}`, "-u", `${prefix}{user}`, "-p", `${prefix}{password}`], when },
  { args: ["-w", `${prefix}{worker}`], when: [...when, "worker"] },
];
const pool = [...poolOf("", "single"), ...poolOf("[1]", "dual")];

export const rigel: MiningProgram = {
  id: "RigelMiner",
  name: "Rigel",
  api: "rigel",
  devices: ["nvidia"],
  executable: { linux: "rigel", windows: "rigel.exe", macos: null },
  command: {
    start: [
      { args: ["-a", "{algorithm}"], when: ["single"] },
      { args: ["-a", "{algorithm}+{algorithm2}"], when: ["dual"] },
    ],
    pool,
    spare: pool,
    dual: poolOf("[2]"),
    api: [always("--api-bind", "127.0.0.1:{apiPort}")],
    supervised: [always("--no-tui", "--no-watchdog", "--no-colour")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: {
    ...named(`
      abelian autolykos2 blake3-alephium=alephium etchash ethash ethashb3 fishhash karlsenhashv2 kawpow nexapow octopus
      progpow-quai=quai progpowz sha256ton sha3x sha512256d xelishashv2 xelishashv3`),
    ...named("autolykos2-blocx=autolykos2", "--coin", "blocx"),
  },
  dual: {
    ...dual("abelian autolykos2 fishhash octopus", "blake3-alephium=alephium sha256ton sha3x sha512256d"),
    ...dual("etchash ethash", "blake3-alephium=alephium sha512256d"),
    ...dual("ethashb3", "blake3-alephium=alephium sha256ton sha512256d"),
    ...dual("karlsenhashv2", "sha256ton sha3x"),
  },
  options: "getopt",
  reserved: ["-l", "--log-file"],
  tuning: {
    powerLimit: { flag: "--pl", separator: ",", keep: "_" },
    coreClock: { flag: "--lock-cclock", separator: ",", keep: "_" },
    memoryClock: { flag: "--lock-mclock", separator: ",", keep: "_" },
    fan: { flag: "--fan-control", separator: ",", keep: "_" },
  },
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "1.23.2",
    url: {
      "linux-x64": "https://github.com/rigelminer/rigel/releases/download/1.23.2/rigel-1.23.2-linux.tar.gz",
      "windows-x64": "https://github.com/rigelminer/rigel/releases/download/1.23.2/rigel-1.23.2-win.zip",
    },
    sums: null,
  },
};
