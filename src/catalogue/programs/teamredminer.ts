import { always, dual, type MiningProgram, named } from "../mining-program.ts";

const pool = [always("-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}")];

export const teamRedMiner: MiningProgram = {
  id: "TeamRedMiner",
  name: "TeamRedMiner",
  api: "cgminer",
  devices: ["amd"],
  executable: { linux: "teamredminer", windows: "teamredminer.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool,
    spare: pool,
    dual: [always("--{algorithm2}", "-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}", "--{algorithm2}_end")],
    api: [always("--api_listen=127.0.0.1:{apiPort}")],
    // Numbers GPUs by PCI bus.
    supervised: [always("--bus_reorder", "--watchdog_disabled")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: named(`
    abelian=abel argon2-chukwa=trtl_chukwa argon2-chukwav2=trtl_chukwa2 argon2d-nim=nimiq autolykos2 blake3-alephium=alph
    cryptonight-ccx=cn_conceal cryptonight-double=cnv8_dbl cryptonight-half=cnv8_half cryptonight-haven=cn_haven
    cryptonight-heavy=cn_heavy cryptonight-r=cnr cryptonight-rwz=cnv8_rwz cryptonight-tube=cn_saber
    cryptonight-turtle=cnv8_trtl cryptonight-upx2=cnv8_upx2 cryptonight-v8=cnv8 cuckarood29=cuckarood29_grin
    cuckatoo31=cuckatoo31_grin etchash ethash firopow fishhash karlsenhash=karlsen kawpow kheavyhash=kas lyra2rev3 lyra2z
    mtp phi2 pyrinhash=pyrin sha256ton=ton verthash x16r x16rt x16rv2 x16s`),
  dual: {
    ...dual("abelian autolykos2", "blake3-alephium=alph karlsenhash=karlsen kheavyhash=kas pyrinhash=pyrin"),
    ...dual("etchash ethash", "blake3-alephium=alph karlsenhash=karlsen kheavyhash=kas pyrinhash=pyrin sha256ton=ton"),
  },
  options: "getopt",
  reserved: ["--nimiq_proxy"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "0.10.21",
    url: {
      "linux-x64": "https://github.com/todxx/teamredminer/releases/download/v0.10.21/teamredminer-v0.10.21-linux.tgz",
      "windows-x64": "https://github.com/todxx/teamredminer/releases/download/v0.10.21/teamredminer-v0.10.21-win.zip",
    },
    sums: null,
  },
};
