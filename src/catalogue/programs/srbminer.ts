import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

const pool = [
  always("--pool", "{host}:{port}", "--wallet", "{user}", "--password", "{password}"),
  when("worker", "--worker", "{worker}"),
  when("tls", "--tls", "true"),
  when("noTls", "--tls", "false"),
];

/**
 * Its API listens on all addresses of the host, because it has no option for the address. Without a secret path it is
 * read-only.
 */
export const srbMiner: MiningProgram = {
  id: "SrbMinerMulti",
  name: "SRBMiner-MULTI",
  api: "srbminer",
  devices: ["cpu", "nvidia", "amd", "intel"],
  executable: { linux: "SRBMiner-MULTI", windows: "SRBMiner-MULTI.exe", macos: null },
  command: {
    start: [always("--algorithm", "{algorithm}")],
    pool,
    spare: pool,
    joined: "!",
    separators: ";!",
    dual: [always("--algorithm", "{algorithm2}"), ...pool],
    api: [always("--api-enable", "--api-port", "{apiPort}")],
    supervised: [always("--disable-worker-watchdog")],
    schemes: { plain: "", tls: "" },
  },
  algorithms: {
    ...named(
      `
      autolykos2 autolykos2-blocx=blocx_autolykos2 blake3-decred=blake3_decred blake3lbrt=blake3_lbrt btx cryptixhash
      cryptonight-gpu=cryptonight_gpu curvehash dynexsolve=dynex etchash ethash ethashb3 ethashr5 evrprogpow firopow
      fishhash fphash heavyhash hoohash karlsenhashv2 kawpow lyra2re2webchain=lyra2v2_webchain meowpow
      meraki=progpow_telestai oggpow pearlhash phihash progpow-epic=progpow_epic progpow-quai=progpow_quai
      progpow-sero=progpow_sero progpow-veil=progpow_veil progpowz=progpow_zano qhash sccpow sha256dt sha3x verthash
      walahash xhash`,
      "--disable-cpu",
    ),
    ...named(
      `
      cpupower evohash flex ghostrider interchained=yespowerinterchained mike minotaurx neuromorph panthera randomc64
      randomepic randomjuno randoml randomscash randomsnap randomtuske randomvirel randomx randomx-arq=randomarq
      randomx-yada=randomyada randomy rinhash tht verushash xelishashv2 xelisv2pepew=xelishashv2_pepew
      yespower-b2b=yespower2b yespoweradvc yespowerbitok yespowereqpay yespoweric yespowerltncg yespowermgpc yespowermwc
      yespowerr16 yespowersugar yespowerurx`,
      "--disable-gpu",
    ),
    ...named(`
      argon2d-dyn=argon2d_dynamic argon2d16000=argon2d_16000 argon2exfer=argon2id_exfer aurum
      cryptonight-turtle=cryptonight_turtle memehash sha256mem xelishashv3 yescrypt yescryptr16 yescryptr32 yescryptr8
      yespower yespowertide`),
  },
  dual: {
    ...dual("autolykos2", "blake3-decred=blake3_decred cryptixhash heavyhash hoohash qhash sha256dt walahash"),
    ...dual("autolykos2-blocx", "blake3-decred=blake3_decred cryptixhash heavyhash hoohash sha256dt walahash"),
    ...dual("dynexsolve", "sha256dt"),
    ...dual("etchash ethash", "blake3-decred=blake3_decred heavyhash sha256dt"),
    ...dual("ethashb3", "blake3-decred=blake3_decred sha256dt"),
    ...dual("fishhash", "blake3-decred=blake3_decred cryptixhash hoohash qhash sha256dt walahash"),
    ...dual("karlsenhashv2", "blake3-decred=blake3_decred hoohash"),
    ...dual("xhash", "blake3-decred=blake3_decred qhash"),
  },
  options: "getopt",
  reserved: ["--shutdown-temperature", "--gpu-manual-tuning", "--setup"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "3.4.6",
    url: {
      "linux-x64": "https://github.com/doktor83/SRBMiner-Multi/releases/download/3.4.6/SRBMiner-Multi-3-4-6-Linux.tar.gz",
      "windows-x64": "https://github.com/doktor83/SRBMiner-Multi/releases/download/3.4.6/SRBMiner-Multi-3-4-6-win64.zip",
    },
    sums: null,
  },
};
