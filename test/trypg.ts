import { startPostgres } from "./store/postgres.ts";
const p = await startPostgres();
const d = await p.database();
console.log(p.url(d));
process.on("SIGTERM", () => void p.stop().then(() => process.exit()));
setInterval(() => {}, 1e6);
