import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endedWhileWriting } from "./killed.ts";
import { say } from "./say.ts";

/** kill -9 at random moments while clients write over HTTP: what was acknowledged is there, and nothing else. */
const rounds = Number(process.argv[2] ?? 100);

const folder = mkdtempSync(join(tmpdir(), "rigbridge-kill-"));
try {
  const { acknowledged, refused, wrong } = await endedWhileWriting(
    folder,
    { rounds, most: 600, signal: "SIGKILL" },
    (round, ledger) => {
      if (round % 10 === 0) say(`${round} rounds, ${ledger.acknowledged} writes acknowledged`);
    },
  );
  say(`killed ${rounds} times; ${acknowledged} writes acknowledged, ${refused} refused as wrong`);
  say(`lost, half done, or given twice: ${wrong.length}; integrity_check ok each time unless named here`);
  for (const sentence of wrong) say(`  ${sentence}`);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
