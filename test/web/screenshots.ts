import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { closeBrowser } from "../chromium.ts";
import { startShowcase } from "./showcase.ts";

// Makes docs/dashboard.png: `npm run build`, then `node test/web/screenshots.ts`, and `pngquant` on it: the package contains it.

const dashboard = await startShowcase();
const { page, close } = await dashboard.visit("", { locale: "en-GB", height: 1100 });
await page.getByText("rigs mining", { exact: false }).waitFor();
await page.locator(".loading").first().waitFor({ state: "detached" });
await page.locator("main canvas").first().waitFor();
const png = await page.screenshot({ animations: "disabled" });
writeFileSync(fileURLToPath(new URL("../../docs/dashboard.png", import.meta.url)), png);
process.stdout.write(`docs/dashboard.png: ${Math.round(png.length / 1000)} kB\n`);
await close();
await closeBrowser();
await dashboard.close();
