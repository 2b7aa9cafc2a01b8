// First, because the styles of pages override these.
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/shell.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { loadLanguage } from "./language.ts";
import { pageAt } from "./pages/index.ts";
import { base } from "./route.ts";
import { loadSession } from "./session.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
// Side by side: each is a round trip, and a phone in the cellar waits long for it. What fails is handled by who uses it.
const asked = loadSession();
asked.catch(() => undefined);
pageAt(location.pathname.slice(base.length))
  ?.load()
  .catch(() => undefined);
const place = document.getElementById("app");
try {
  await loadLanguage();
  place?.replaceChildren();
  if (place !== null) render(<App asked={asked} />, place);
} catch (error) {
  // There are no texts to translate it with.
  place?.replaceChildren("The dashboard could not be loaded. Reload this page when the service answers.");
  throw error;
}
