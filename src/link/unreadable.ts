import type { HttpSign } from "./driver.ts";

/** Devices that no driver reads yet, recognised by their page at / or by the realm of its login. */
const unreadable: readonly { readonly make: string; readonly page?: RegExp; readonly realm?: RegExp }[] = [
  { make: "Innosilicon", page: /\bDragonMint\b/i },
  { make: "VolcMiner", page: /\bVolcMiner\b|\bblackMiner Configuration\b/i, realm: /realm="?blackMiner/i },
];

/** The make of a device that no driver recognised; null when it is not known either. */
export function unreadableMake({ status, headers, body }: HttpSign): string | null {
  const login = status === 401 ? (headers["www-authenticate"] ?? "") : "";
  const found = unreadable.find(({ page, realm }) => realm?.test(login) || (status < 400 && page?.test(body)));
  return found?.make ?? null;
}
