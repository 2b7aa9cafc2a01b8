// First, because the styles of pages override these.
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/shell.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { startClock } from "./clock.ts";
import { loadLanguage, locale } from "./language.ts";
import { pageAt } from "./pages/index.ts";
import { base } from "./route.ts";
import { loadSession } from "./session.ts";
import { applyTheme, theme } from "./theme.ts";

// The page follows the system by default.
if (theme.value !== "auto") applyTheme();
startClock();
// In parallel: each is a round trip, and slow on a phone with poor reception. Callers handle the failure.
const asked = loadSession();
asked.catch(() => undefined);
const texts = loadLanguage();
setTimeout(() => {
  pageAt(location.pathname.slice(base.length))
    ?.load()
    .catch(() => undefined);
});
setTimeout(() => {
  // The first format on a page takes 20 to 60 ms, and all threads share its preparation, so another thread creates it.
  new Worker(new URL("./first-formats.ts", import.meta.url), { type: "module", name: locale });
});
const place = document.getElementById("app");
try {
  await texts;
  place?.replaceChildren();
  if (place !== null) render(<App asked={asked} />, place);
} catch (error) {
  // There are no texts to translate it with.
  place?.replaceChildren("The dashboard could not be loaded. Reload this page when the service answers.");
  throw error;
}
