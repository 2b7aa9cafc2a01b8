import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { root } from "./run.mjs";

/**
 * Indents the code in a folder with tabs. The compiler does it with four spaces, which are a tenth of the package. Texts over
 * several lines keep theirs.
 */
function indentWithTabs(folder) {
  for (const file of readdirSync(folder, { recursive: true }).map((each) => join(folder, each))) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const code = readFileSync(file, "utf8");
    const texts = [];
    if (code.includes("`"))
      new Visitor({ TemplateElement: ({ start, end }) => texts.push({ start, end }) }).visit(
        parseSync(file, code, { lang: file.endsWith(".d.ts") ? "dts" : "js" }).program,
      );
    const isText = (at) => texts.some(({ start, end }) => start < at && at <= end);
    const indented = code.replaceAll(/^(?: {4})+/gm, (spaces, at) =>
      isText(at) ? spaces : "\t".repeat(spaces.length / 4),
    );
    writeFileSync(file, indented);
  }
}

const [folder] = process.argv.slice(2);
indentWithTabs(join(root, folder));
