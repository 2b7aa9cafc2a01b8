import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { root } from "./run.mjs";

/**
 * Removes the indentation of the code in a folder, and indents its declarations, which editors show, with tabs. The compiler does
 * both with four spaces, which are an eighth of the package. Lines keep their numbers, and texts over several lines their spaces.
 */
function indent(folder) {
  for (const file of readdirSync(folder, { recursive: true }).map((each) => join(folder, each))) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const isCode = file.endsWith(".js");
    const code = readFileSync(file, "utf8");
    const texts = [];
    if (code.includes("`"))
      new Visitor({ TemplateElement: ({ start, end }) => texts.push({ start, end }) }).visit(
        parseSync(file, code, { lang: isCode ? "js" : "dts" }).program,
      );
    const isText = (at) => texts.some(({ start, end }) => start < at && at <= end);
    const indented = code.replaceAll(/^(?: {4})+/gm, (spaces, at) =>
      isText(at) ? spaces : isCode ? "" : "\t".repeat(spaces.length / 4),
    );
    writeFileSync(file, indented);
  }
}

const [folder] = process.argv.slice(2);
indent(join(root, folder));
