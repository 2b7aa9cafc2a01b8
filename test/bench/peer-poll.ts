import cgminer from "cgminer-api";
import { barePolling } from "./bare.ts";

/**
 * The npm package cgminer-api reading the same four reports. It knows no joined commands, so that is four connections.
 * It prints each reply; what it prints is dropped here, to its advantage.
 */
console.log = () => undefined;

const commands = [
  { name: "summary", reply: "SUMMARY" },
  { name: "pools", reply: "POOLS" },
  { name: "devs", reply: "DEVS" },
  { name: "stats", reply: "STATS" },
];

barePolling(async ({ host, port }) => {
  const client = new cgminer.client({ host, port });
  for (const command of commands) await client.request(command);
});
