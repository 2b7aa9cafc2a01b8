import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withMethods } from "./client-methods.ts";

/** `node test/docs/write-client.ts`: renews the methods in client/README.md. */
const page = join(import.meta.dirname, "../../client/README.md");
writeFileSync(page, withMethods(readFileSync(page, "utf8")));
