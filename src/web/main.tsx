import { render } from "preact";
import { App } from "./app.tsx";
import { loadLanguage } from "./language.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/shell.css";
import { applyTheme } from "./theme.ts";

applyTheme();
await loadLanguage();
const place = document.getElementById("app");
if (place !== null) {
  place.replaceChildren();
  render(<App />, place);
}
