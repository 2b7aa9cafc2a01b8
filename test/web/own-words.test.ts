import { afterAll, beforeAll } from "@jest/globals";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const attic = 1_000_000_001;
let dashboard: Dashboard;

beforeAll(async () => {
  const rig = { kind: "axeos", warm: true, host: ownHost() } as const;
  dashboard = await startDashboard({ rigs: [{ name: "Attic", rig }] });
});

afterAll(async () => {
  await dashboard.close();
  await closeContexts();
});

testInBrowser("a reason, an alarm and a refusal are in the reader's language", async () => {
  const address = dashboard.rigs[0]?.address ?? "";
  dashboard.rigs[0]?.powerOff();
  await until(async () => {
    await dashboard.readAll();
    return (await dashboard.service.getMiner({ id: attic }, { actor: "test" })).readings.reason !== null;
  }, "the rig to be away");
  const { page, close } = await dashboard.visit(`rigs/${attic}`, { locale: "de-DE", expected: /400|409/ });
  const refused = "Verbindung abgelehnt, dort lauscht nichts";
  await page.getByText(new RegExp(refused)).first().waitFor();
  await page.goto(`${dashboard.url}/alarms`);
  await page
    .getByText(new RegExp(`^Nicht erreichbar: .*${refused}$`))
    .first()
    .waitFor();
  await page.goto(`${dashboard.url}/add?by=address`);
  const field = page.getByRole("textbox", { name: "Adresse", exact: true });
  await field.fill(address);
  await page.getByRole("button", { name: "Dieses Rig hinzufügen" }).click();
  await page.getByText(`${address} ist schon die Adresse von Rig ${attic} (Attic)`).first().waitFor();
  await field.fill(`${address}/status`);
  await page.getByRole("button", { name: "Dieses Rig hinzufügen" }).click();
  await page.getByText("enthält einen Pfad").first().waitFor();
  await close();
});
